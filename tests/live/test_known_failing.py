"""The list of known failures is strict in both directions, on real stock nodes."""

import tomllib

import pytest
import tomli_w

from fixtures.outcome import SUITE
from tests.live.sharing import run_suite

CASE = (
    "conformance/override/test_derender_chat.py::test_an_explicit_value_wins_over_the_server_flag"
)
LISTED = tomllib.loads((SUITE / "known_failing.toml").read_text())["known_failing"]


def statuses(report) -> set[str]:
    return {case["status"] for case in report.cases}


@pytest.fixture(scope="module")
def stock(pool, tmp_path_factory):
    """Run the case on stock vLLM with a list of our own."""

    def run(entries: list[dict], value: str):
        folder = tmp_path_factory.mktemp("stock")
        listed = folder / "known_failing.toml"
        listed.write_text(tomli_w.dumps({"known_failing": entries}))
        return run_suite(
            pool.address, folder, CASE, "-k", value, "--impl", "stock", "--known-failing", listed
        )

    return run


def test_listed_faults_leave_the_exit_code_0(stock):
    report = stock(LISTED, "true")
    assert "known_failing" in statuses(report)
    assert report.footer["exit_code"] == 0


def test_an_entry_taken_off_makes_the_run_fail(stock):
    others = [
        entry for entry in LISTED if not entry["requirement"].startswith("override.derender-chat")
    ]
    report = stock(others, "true")
    assert "failed" in statuses(report)
    assert report.footer["exit_code"] == 1


def test_a_listed_case_that_passes_makes_the_run_fail(stock):
    passing = dict(
        LISTED[0], requirement="override.derender-chat.explicit-wins", target="stock@*", cases="*"
    )
    report = stock([passing], "false")
    messages = [case["message"] for case in report.cases if case["status"] == "failed"]
    assert any("listed as known failing" in message for message in messages)
    assert report.footer["exit_code"] == 1
