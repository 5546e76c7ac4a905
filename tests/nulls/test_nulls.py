"""A server that does nothing passes almost nothing."""

import pytest

from reports.scores import ALLOWED, percent
from tests.live.sharing import run_suite
from tests.nulls import NULLS


@pytest.mark.parametrize("null", [null.__name__ for null in NULLS])
def test_doing_nothing_passes_almost_nothing(
    pool_address, tmp_path, monkeypatch, capsys, found, null
):
    # A property fails here at its first example; looking for a smaller one proves nothing more.
    monkeypatch.setenv("TOKENWIRE_EXAMPLES", "1")
    report = run_suite(
        pool_address, tmp_path, "conformance", "-n", "4", "--impl", f"tests.nulls:{null}"
    )
    counts, reported = report.footer["counts"], report.footer["reported"]
    (does,) = (one.__doc__ for one in NULLS if one.__name__ == null)
    found.null(null, does, report)
    with capsys.disabled():
        passed = counts.get("passed", 0)
        print(f"\n{null} passes {passed} of {reported} cases ({percent(passed / reported)})")
    assert counts.get("error", 0) == 0
    assert counts.get("passed", 0) < ALLOWED * reported
    assert report.footer["exit_code"] == 1
