"""A run that is compared with another: only what got worse makes it fail, and nothing is left."""

import pytest

from reports import record
from tests.live.running import SUITE, PytestRun
from tests.unit.report_lines import case, header, write

OLD, NEW = "0.32.0", "0.33.0"
CASES = (*SUITE, "--vllm", NEW, "-n", "1", "-k", "test_passes or test_fails")


def old_report(path, statuses):
    """A report of the reference on the old release with the small suite's cases."""
    writer = record.Writer(path, header(targets=[f"reference@{OLD}"]))
    lines = [case(id, status, target=f"reference@{OLD}") for id, status in statuses.items()]
    for line in lines:
        writer.case(line)
    writer.finish(lines, planned=len(lines), exit_code=1, problems=[])
    return path


def test_what_fails_on_both_releases_is_no_step_back(tmp_path):
    run = PytestRun(tmp_path, *CASES, "--against", OLD)
    assert run.wait() == 0
    assert "1 still failing, 1 same: nothing got worse" in run.output.replace("\n", " ")
    sides = [record.read(tmp_path / release / "report.jsonl") for release in (OLD, NEW)]
    assert [side.header["targets"] for side in sides] == [
        [f"reference@{OLD}"],
        [f"reference@{NEW}"],
    ]
    assert all(line["shapes"] for side in sides for line in side.cases)
    assert run.nothing_left_within(10)


def test_what_a_report_has_as_passed_and_fails_now_is_told(tmp_path):
    first = PytestRun(tmp_path, *CASES, "--against", OLD)
    first.wait()
    ids = [line["id"] for line in record.read(tmp_path / NEW / "report.jsonl").cases]
    old = old_report(tmp_path / "old.jsonl", dict.fromkeys([*ids, "gone::case"], "passed"))
    second = tmp_path / "second"
    second.mkdir()
    run = PytestRun(second, *CASES, "--against", str(old))
    assert run.wait() == 1
    for words in ("newly failing:", "vanished: gone::case", "curl -sS", "it got worse"):
        assert words in run.output


WRONG = {
    "no-such-release": ("9.9.9", "neither a report"),
    "the-same-release": (NEW, "the release under judgement itself"),
    "no-such-report": ("nowhere.jsonl", "cannot be read"),
    "no-word": ("", "neither a report"),
}


@pytest.mark.parametrize(("old", "words"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_old_side_is_one_sentence(tmp_path, old, words):
    run = PytestRun(tmp_path, *CASES, "--against", old)
    assert run.wait() == 4
    assert words in run.output and "Traceback" not in run.output


def test_where_nothing_is_judged_the_other_side_is_not_begun(tmp_path):
    run = PytestRun(tmp_path, *CASES, "tests/live/suite/nowhere.py", "--against", OLD)
    assert run.wait() == 1
    assert f"{OLD}: nothing was judged, so nothing is compared." in run.output
    assert not (tmp_path / NEW).exists()
    assert run.nothing_left_within(10)


def test_a_report_of_several_targets_is_refused_before_anything_runs(tmp_path):
    old = write(tmp_path / "old.jsonl", case())
    run = PytestRun(tmp_path, *CASES, "--against", str(old))
    assert run.wait() == 4
    assert "only a report of one target" in run.output and "Traceback" not in run.output


def test_mixed_releases_are_not_compared(tmp_path):
    run = PytestRun(tmp_path, "-p", "fixtures.plugin", "conformance/upgrade", "--against", OLD)
    assert run.wait() == 4
    assert "--against compares one release with another" in run.output


def test_an_option_of_the_environment_is_not_the_sides(tmp_path):
    run = PytestRun(tmp_path, *CASES, variables={"PYTEST_ADDOPTS": f"--against {OLD}"})
    assert run.wait() == 0
    assert "nothing got worse" in run.output
