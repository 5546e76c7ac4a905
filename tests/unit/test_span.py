"""One report of several runs: what ended is in it, and what did not is said."""

import pytest

from fixtures.span import Combined
from reports import record
from reports.record import Writer
from tests.unit.report_lines import case, header

OLD, NEW, NEVER = "stock@0.31.0", "stock@0.32.0", "stock@0.33.0"
TARGETS = [OLD, NEW, NEVER]


def sub_report(path, target, *cases, **footer):
    """The report of a run on one release."""
    writer = Writer(path, header(targets=[target]))
    for line in cases:
        writer.case(line | {"target": target})
    resolved = [line | {"target": target} for line in cases]
    ended = {"planned": len(cases), "exit_code": 0, "problems": []} | footer
    writer.finish(resolved, **ended)
    return path


@pytest.fixture
def combined(tmp_path):
    return Combined(Writer(tmp_path / "report.jsonl", header(targets=TARGETS)))


def test_good_runs_make_a_good_report(tmp_path, combined):
    for target in TARGETS:
        file = sub_report(tmp_path / target, target, case("t::a"), case("t::b", "unsupported"))
        combined.add(target, file, 0)
    assert combined.finish(TARGETS, stopped=False) == 0
    report = record.read(combined.file)
    assert [(line["id"], line["target"]) for line in report.cases] == [
        (id, target) for target in TARGETS for id in ("t::a", "t::b")
    ]
    footer = {key: report.footer[key] for key in ("planned", "reported", "counts", "problems")}
    assert footer == {
        "planned": 6,
        "reported": 6,
        "counts": {"passed": 3, "unsupported": 3},
        "problems": [],
    }


def test_final_statuses_and_messages_are_kept(tmp_path, combined):
    known = case("t::a", "known_failing", observed="failed", message="known failing since 0.24.0")
    combined.add(OLD, sub_report(tmp_path / "old", OLD, known), 0)
    combined.finish([OLD], stopped=False)
    (line,) = record.read(combined.file).cases
    assert line == known | {"target": OLD, "kind": "case"}


def test_one_bad_run_makes_a_bad_report_and_names_its_target(tmp_path, combined):
    combined.add(OLD, sub_report(tmp_path / "old", OLD, case()), 0)
    problems = {"exit_code": 1, "problems": ["planned but never reported: t::z."], "planned": 2}
    combined.add(NEW, sub_report(tmp_path / "new", NEW, case("t::a", "failed"), **problems), 1)
    combined.add(NEVER, sub_report(tmp_path / "never", NEVER, case()), 0)
    assert combined.finish(TARGETS, stopped=False) == 1
    footer = record.read(combined.file).footer
    assert footer["problems"] == [f"{NEW}: planned but never reported: t::z."]
    assert (footer["planned"], footer["reported"]) == (4, 3)


def test_a_killed_run_and_those_after_it_are_problems(tmp_path, combined):
    combined.add(OLD, sub_report(tmp_path / "old", OLD, case()), 0)
    Writer(tmp_path / "new", header(targets=[NEW])).close()
    combined.add(NEW, tmp_path / "new", -9)
    assert combined.finish(TARGETS, stopped=False) == 1
    killed, missing = record.read(combined.file).footer["problems"]
    assert killed.startswith(f"{NEW}: its run ended with signal 9 and left no whole report: ")
    assert missing == f"{NEVER}: not judged, because the run ended before."


def test_a_stopped_run_says_so(tmp_path, combined):
    combined.add(OLD, sub_report(tmp_path / "old", OLD, case()), 0)
    assert combined.finish(TARGETS, stopped=True) == pytest.ExitCode.INTERRUPTED
    footer = record.read(combined.file).footer
    assert footer["problems"] == [
        "the run was stopped.",
        f"{NEW}: not judged, because the run ended before.",
        f"{NEVER}: not judged, because the run ended before.",
    ]


def test_a_run_that_broke_after_its_report_is_a_problem(tmp_path, combined):
    combined.add(OLD, sub_report(tmp_path / "old", OLD, case()), -11)
    assert combined.finish([OLD], stopped=False) == 1
    (problem,) = record.read(combined.file).footer["problems"]
    assert problem == f"{OLD}: its run ended with signal 11 after its report."
