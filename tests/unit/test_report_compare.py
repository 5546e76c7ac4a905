"""Two hand-made reports with one difference of each kind: each is named, and the exit code is right."""

import datetime
import io

import pytest
from rich.console import Console

from reports.check import ReportProblem
from reports.compare import ACCEPTS, compare, print_comparison, sentence
from reports.known import KnownFailing
from reports.record import Report
from tests.unit.report_lines import EVIL, RULE, case, exchange, header

FOOTER = {"problems": [], "exit_code": 0, "counts": {}}
KNOWN = "known failing since 0.33.0: It goes on. (vllm-project/vllm#1)\nAssertionError"

# kind: (old status, new status), None where a side has no such case
STATUSES = [
    ("same", "passed", "passed"),
    ("same", "unsupported", "unsupported"),
    ("newly failing", "passed", "failed"),
    ("newly failing", "passed", "not_judged"),
    ("newly failing", "passed", "error"),
    ("newly failing", "unsupported", "failed"),
    ("newly unsupported", "passed", "unsupported"),
    ("newly unsupported", "failed", "unsupported"),
    ("newly unsupported", "known_failing", "unsupported"),
    ("vanished", "passed", None),
    ("vanished", "failed", None),
    ("vanished", "unsupported", None),
    ("still failing", "failed", "failed"),
    ("still failing", "known_failing", "failed"),
    ("still failing", "failed", "known_failing"),
    ("still failing", "error", "error"),
    ("newly failing", "error", "failed"),
    ("fixed", "failed", "passed"),
    ("fixed", "known_failing", "passed"),
    ("fixed", "error", "passed"),
    ("newly supported", "unsupported", "passed"),
    ("new", None, "passed"),
    ("new", None, "unsupported"),
    ("new and failing", None, "failed"),
]


def report(target, *cases, **footer):
    return Report(
        header(targets=[target], requirements={"generate.a": RULE}), cases, FOOTER | footer
    )


def lines(status, target):
    if status is None:
        return []
    return [case("t::a", status, exchange(), target=target, message="AssertionError: 2 != 3")]


def entry(**changes):
    fields = {
        "target": "stock@0.33.0",
        "requirement": "generate.a",
        "cases": "t::a",
        "reason": "we know",
        "reference": "vllm-project/vllm#2",
        "since": "0.33.0",
        "review_by": datetime.date(2027, 3, 1),
    }
    return KnownFailing(**fields | changes)


def compared(old, new, *entries, **footer):
    common = case("t::common", "passed")
    return compare(
        report("stock@0.32.0", *lines(old, "stock@0.32.0"), common),
        report("stock@0.33.0", *lines(new, "stock@0.33.0"), common, **footer),
        entries,
    )


def printed(comparison):
    text = io.StringIO()
    print_comparison(comparison, {"generate.a": RULE}, Console(file=text, width=120))
    return text.getvalue()


@pytest.mark.parametrize(("kind", "old", "new"), STATUSES)
def test_a_change_is_named_and_judged(kind, old, new):
    comparison = compared(old, new)
    assert [change.kind for change in comparison.changes if change.case["id"] == "t::a"] == [kind]
    assert comparison.exit_code == (kind in ACCEPTS or new == "error")


@pytest.mark.parametrize(("kind", "old", "new"), [row for row in STATUSES if row[0] in ACCEPTS])
def test_what_is_accepted_is_told_and_no_fault(kind, old, new):
    comparison = compared(old, new, entry(accepts=ACCEPTS[kind]))
    assert comparison.exit_code == (new == "error")
    assert "waived: we know (vllm-project/vllm#2)" in printed(comparison)


OTHERS = [
    {"accepts": "failing"},
    {"accepts": "vanished", "target": "stock@0.32.0"},
    {"accepts": "vanished", "target": "reference@0.33.0"},
    {"accepts": "vanished", "cases": "t::b"},
    {"accepts": "vanished", "requirement": "generate.b"},
]


@pytest.mark.parametrize("changes", OTHERS)
def test_an_entry_of_something_else_accepts_nothing(changes):
    assert compared("passed", None, entry(**changes)).exit_code == 1


def test_an_entry_that_accepts_what_did_not_happen_is_stale():
    comparison = compared("passed", "passed", entry(accepts="vanished"))
    assert comparison.exit_code == 1
    assert "but none of it is: mend" in comparison.problems[0]


@pytest.mark.parametrize(("old", "new"), [("unsupported", "unsupported"), (None, "unsupported")])
def test_an_entry_of_what_is_so_on_both_sides_is_not_stale(old, new):
    """A baseline that was made anew knows the loss already."""
    comparison = compared(old, new, entry(accepts="unsupported"))
    assert (comparison.problems, comparison.exit_code) == ((), 0)


def test_an_entry_of_cases_that_no_side_has_says_nothing():
    comparison = compared("passed", "passed", entry(accepts="vanished", cases="u::*"))
    assert (comparison.problems, comparison.exit_code) == ((), 0)


def test_an_old_run_that_broke_proves_nothing():
    old = report("a@1", case("t::a"), problems=["the node host ended."], exit_code=1)
    comparison = compare(old, report("a@2", case("t::a")), ())
    assert comparison.problems == ("a@1, the old side: the node host ended.",)
    assert comparison.exit_code == 1


def test_a_new_run_that_failed_and_does_not_say_why_is_no_good_result():
    new = report("a@2", case("t::a"), exit_code=3)
    comparison = compare(report("a@1", case("t::a")), new, ())
    assert comparison.problems == ("the run of a@2 ended with 3, and does not say why.",)


def test_a_listed_failure_is_waived_by_its_entry():
    listed = case("t::a", "known_failing", target="stock@0.33.0", message=KNOWN)
    comparison = compare(report("a@1", case("t::a")), report("a@2", listed), ())
    assert (comparison.changes[0].kind, comparison.exit_code) == ("newly failing", 0)
    assert "It goes on." in printed(comparison)


def test_a_listed_failure_is_waived_though_it_says_no_word():
    listed = case("t::a", "known_failing", target="stock@0.33.0")
    comparison = compare(report("a@1", case("t::a")), report("a@2", listed), ())
    assert (comparison.changes[0].waived, comparison.exit_code) == ("known failing", 0)


def test_a_broken_new_run_is_no_good_result():
    comparison = compared("passed", "passed", problems=["lost: t::z."])
    assert comparison.exit_code == 1
    assert "lost: t::z." in printed(comparison)


def test_what_is_worse_is_printed_with_rule_message_and_curl():
    text = printed(compared("passed", "failed"))
    for word in ("newly failing: t::a", "A node MUST answer.", "2 != 3", "curl -d '{}'"):
        assert word in text
    assert text.rstrip().endswith("it got worse")


# What is told of a rule's first case: (old status, new status, what moved, whose words)
EVIDENCE = [
    ("failed", "passed", "fixed", "stock@0.32.0: AssertionError: 2 != 3"),
    ("unsupported", "passed", "newly supported", "stock@0.32.0: AssertionError: 2 != 3"),
    ("passed", "failed", "newly failing", "stock@0.33.0: AssertionError: 2 != 3"),
]


@pytest.mark.parametrize(("old", "new", "kind", "words"), EVIDENCE)
def test_what_moved_has_a_case_as_evidence(old, new, kind, words):
    told = printed(compared(old, new)).partition(f"\n{kind}\n")[2].splitlines()
    assert told[:3] == ["  generate.a (1)", "    t::a", f"    {words}"]


def test_evidence_of_a_listed_failure_is_what_it_did():
    listed = case("t::a", "known_failing", target="stock@0.33.0", message=KNOWN)
    text = printed(compare(report("a@1", case("t::a")), report("a@2", listed), ()))
    assert "\n    stock@0.33.0: AssertionError\n" in text


def test_what_did_not_move_has_none():
    assert "t::a" not in printed(compared("failed", "failed"))


def test_the_last_sentence_counts_every_kind():
    assert sentence(compared("failed", "passed")) == (
        "tokenwire: stock@0.33.0 against stock@0.32.0: 1 fixed, 1 same: nothing got worse"
    )


def test_reports_that_cannot_be_compared_are_refused():
    several = Report(header(targets=["stock@1", "stock@2"]), [case()], FOOTER)
    with pytest.raises(ReportProblem, match="only a report of one target"):
        compare(several, report("stock@2", case()), ())
    with pytest.raises(ReportProblem, match="has no case to compare"):
        compare(report("stock@1"), report("stock@2", case()), ())


def test_nothing_that_is_printed_steers_a_terminal():
    sides = [
        report(
            f"\x1b]0;@{n}", case(f"t::a[{EVIL}]", status, target=f"\x1b]0;@{n}"), problems=[EVIL]
        )
        for n, status in enumerate(("passed", "failed"))
    ]
    assert all(line.isprintable() for line in printed(compare(*sides, ())).split("\n"))
