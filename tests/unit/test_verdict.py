"""Every rule by which an outcome becomes a status, and the statuses an exit code."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures import verdict
from fixtures.catalogue import Catalogue
from fixtures.verdict import (
    ERROR,
    FAILED,
    KNOWN_FAILING,
    NOT_JUDGED,
    PASSED,
    UNSUPPORTED,
    Judged,
    KnownFailing,
)
from reports.resolve import by_itself
from tests.unit.verdict_lines import ENTRY, TARGET, catalogue_of

OTHER = "stock@0.32.0"
# a control, what needs it, what needs that, and one that stands alone
CHAIN = catalogue_of(control=(), middle=("g.control",), end=("g.middle",), alone=())
LISTED = KnownFailing(**ENTRY)


def judged(name, status, *, case=None, target=TARGET, observed=None, message=""):
    if observed is None:
        observed = {KNOWN_FAILING: FAILED}.get(status, status)
    return Judged(case or f"t::{name}", target, (f"g.{name}",), status, observed, message)


def resolve(*cases, catalogue=CHAIN, entries=(), complete=False, planned=None):
    planned = [case.case for case in cases] if planned is None else planned
    return verdict.resolve(cases, catalogue, entries, planned=planned, complete=complete)


def statuses(*cases, **options):
    return [case.status for case in resolve(*cases, **options).cases]


# one case


@pytest.mark.parametrize(
    ("outcome", "unlisted", "listed"),
    [
        (PASSED, PASSED, FAILED),
        (FAILED, FAILED, KNOWN_FAILING),
        (ERROR, ERROR, ERROR),
        (UNSUPPORTED, UNSUPPORTED, UNSUPPORTED),
    ],
)
def test_outcome_and_list_decide_the_status(outcome, unlisted, listed):
    free = verdict.judge("t::a", TARGET, ["g.control"], outcome, "said", [])
    assert free == Judged("t::a", TARGET, ("g.control",), unlisted, outcome, "said")
    bound = verdict.judge("t::a", TARGET, ["g.control"], outcome, "said", [LISTED])
    assert (bound.status, bound.observed) == (listed, outcome)
    elsewhere = verdict.judge("t::a", "stock@0.32.0", ["g.control"], outcome, "said", [LISTED])
    assert elsewhere.status == unlisted


def test_listed_case_that_passes_says_so():
    message = verdict.judge("t::a", TARGET, ["g.control"], PASSED, "", [LISTED]).message
    assert message == (
        "listed as known failing since 0.24.0, but it passed: "
        "remove the entry of g.control for stock@0.33.0"
    )


def test_known_failure_gives_its_reason_before_its_message():
    message = verdict.judge("t::a", TARGET, ["g.control"], FAILED, "3 != 4", [LISTED]).message
    assert message == (
        "known failing since 0.24.0: it drops the field (vllm-project/vllm#1)\n3 != 4"
    )


def test_unknown_outcome_is_refused():
    with pytest.raises(ValueError, match="'skipped' is not an outcome"):
        verdict.judge("t::a", TARGET, ["g.control"], "skipped", "", [])


# one case: the release in which a rule began to hold


def since(release):
    """A catalogue whose rules began to hold in `release`."""
    return Catalogue({id: replace(rule, since=release) for id, rule in CHAIN.items()})


@pytest.mark.parametrize(
    ("target", "release", "status"),
    [
        ("stock@0.32.0", "0.33.0", KNOWN_FAILING),
        ("stock@0.9.0", "0.33.0", KNOWN_FAILING),
        ("stock@0.33.0", "0.33.0", FAILED),
        ("stock@0.33.0", "0.9.0", FAILED),
        ("stock@0.32.0", "none yet", FAILED),
        ("reference@0.32.0", "0.33.0", KNOWN_FAILING),
        ("reference@0.32.0", "none yet", FAILED),
        ("mine.serving:install@0.32.0", "0.33.0", FAILED),
        ("stock@0.31.0..0.32.0", "0.33.0", FAILED),
    ],
)
def test_failure_before_the_rule_began_to_hold_is_known(target, release, status):
    found = verdict.judge("t::a", target, ["g.control"], FAILED, "3 != 4", [], since(release))
    assert (found.status, found.observed) == (status, FAILED)
    if status == KNOWN_FAILING:
        assert found.message == f"stock vLLM holds this from {release} on (tokenwire)\n3 != 4"


def test_failure_before_what_the_rule_needs_began_to_hold_is_known():
    rules = Catalogue({**since("0.31.0"), "g.control": replace(CHAIN["g.control"], since="0.33.0")})
    needing, free = (
        verdict.judge("t::a", OTHER, [id], FAILED, "", [], rules) for id in ("g.end", "g.alone")
    )
    assert (needing.status, free.status) == (KNOWN_FAILING, FAILED)
    assert needing.message == (
        "stock vLLM holds g.control, which this needs, from 0.33.0 on (tokenwire)"
    )


def test_failure_before_another_rule_of_the_case_began_to_hold_names_that_rule():
    rules = Catalogue({**since("0.31.0"), "g.alone": replace(CHAIN["g.alone"], since="0.33.0")})
    found = verdict.judge("t::a", OTHER, ["g.control", "g.alone"], FAILED, "", [], rules)
    assert found.message.startswith("stock vLLM holds g.alone, which this judges too, from 0.33.0 ")


@pytest.mark.parametrize(
    ("release", "status", "late"), [("0.33.0", PASSED, []), ("0.32.0", NOT_JUDGED, [])]
)
def test_pass_before_what_the_rule_needs_began_to_hold_stands(release, status, late):
    rules = Catalogue({**since("0.33.0"), "g.control": replace(CHAIN["g.control"], since=release)})
    control = judged("control", KNOWN_FAILING, target=OTHER)
    end = judged("end", PASSED, target=OTHER)
    result = resolve(control, end, catalogue=rules, complete=True)
    assert [case.status for case in result.cases] == [KNOWN_FAILING, status]
    assert [problem for problem in result.problems if "too late" in problem] == late


@pytest.mark.parametrize("outcome", [PASSED, UNSUPPORTED, ERROR])
def test_other_outcomes_are_not_excused_by_since(outcome):
    found = verdict.judge("t::a", OTHER, ["g.control"], outcome, "", [], since("0.33.0"))
    assert found.status == outcome


def test_since_says_nothing_of_a_mix_of_releases():
    rules = since("0.33.0")
    mixed = Catalogue({"g.control": replace(rules["g.control"], chapter="upgrade")})
    assert verdict.judge("t::a", OTHER, ["g.control"], FAILED, "", [], mixed).status == FAILED


def test_an_entry_comes_before_since():
    entry = replace(LISTED, target=OTHER)
    for outcome, status in ((FAILED, KNOWN_FAILING), (PASSED, FAILED)):
        found = verdict.judge("t::a", OTHER, ["g.control"], outcome, "", [entry], since("0.33.0"))
        assert found.status == status and "known failing since 0.24.0" in found.message


def test_line_holds_observed_only_where_it_differs():
    assert judged("a", PASSED).line() == {
        "id": "t::a",
        "target": TARGET,
        "requirements": ["g.a"],
        "status": PASSED,
    }
    line = judged("a", KNOWN_FAILING, message="m").line()
    assert (line["observed"], line["message"]) == (FAILED, "m")


# all cases: controls


@pytest.mark.parametrize("status", [FAILED, ERROR])
@pytest.mark.parametrize("own", [PASSED, FAILED, KNOWN_FAILING, UNSUPPORTED, ERROR])
def test_broken_control_leaves_what_needs_it_unjudged(status, own):
    control, end = judged("control", status), judged("end", own, message="own")
    result = resolve(end, control, judged("alone", PASSED))
    first = result.cases[0]
    assert [case.status for case in result.cases] == [NOT_JUDGED, status, PASSED]
    assert first.observed == end.observed
    assert first.message == f"needs g.control, which is {status} in t::control\nown"
    assert result.exit_code == 1


@pytest.mark.parametrize("status", [PASSED, UNSUPPORTED])
@pytest.mark.parametrize("own", [PASSED, FAILED, KNOWN_FAILING, UNSUPPORTED, ERROR])
def test_control_that_holds_or_is_unsupported_changes_nothing(status, own):
    assert statuses(judged("control", status), judged("end", own)) == [status, own]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (PASSED, NOT_JUDGED),
        (FAILED, NOT_JUDGED),
        (KNOWN_FAILING, KNOWN_FAILING),
        (UNSUPPORTED, UNSUPPORTED),
        (ERROR, ERROR),
    ],
)
def test_control_that_only_fails_as_listed_excuses_no_listed_case(own, expected):
    control = judged("control", KNOWN_FAILING)
    assert statuses(control, judged("end", own)) == [KNOWN_FAILING, expected]
    held = judged("control", PASSED, case="t::another")
    assert statuses(control, held, judged("end", own)) == [KNOWN_FAILING, PASSED, own]


def test_one_failed_case_of_a_control_is_enough():
    held, broken = judged("control", PASSED), judged("control", FAILED, case="t::other")
    assert statuses(held, broken, judged("middle", PASSED)) == [PASSED, FAILED, NOT_JUDGED]


def test_control_that_passed_although_listed_still_holds():
    stale = judged("control", FAILED, observed=PASSED)
    assert statuses(stale, judged("end", PASSED)) == [FAILED, PASSED]


@pytest.mark.parametrize(("here", "there"), [(TARGET, OTHER), (OTHER, TARGET)])
def test_control_counts_on_its_own_target_only(here, there):
    broken = judged("control", FAILED, target=there)
    unjudged, free = (judged("end", PASSED, target=target) for target in (there, here))
    assert [case.status for case in resolve(broken, unjudged, free).cases] == [
        FAILED,
        NOT_JUDGED,
        PASSED,
    ]


def test_case_that_judges_its_own_control_is_not_excused_by_it():
    both = Judged("t::both", TARGET, ("g.control", "g.middle"), FAILED, FAILED)
    assert statuses(both, judged("end", PASSED)) == [FAILED, NOT_JUDGED]


def test_control_without_a_case_in_this_run_changes_nothing():
    assert statuses(judged("end", PASSED)) == [PASSED]


# all cases: the run


def test_good_run_leaves_exit_code_0():
    cases = [judged("control", PASSED), judged("alone", UNSUPPORTED), judged("end", KNOWN_FAILING)]
    assert resolve(*cases) == verdict.Verdict(tuple(cases), (), 0)


@pytest.mark.parametrize("status", verdict.STATUSES)
def test_only_good_statuses_leave_exit_code_0(status):
    assert verdict.exit_code([PASSED, status]) == (0 if status in verdict.GOOD else 1)
    assert verdict.exit_code([status], ["a problem"]) == 1


def test_zero_cases_is_a_problem():
    result = resolve()
    assert result.problems == ("not one case was reported: a run without a case proves nothing.",)
    assert result.exit_code == verdict.exit_code([]) == 1


def test_planned_and_reported_must_agree():
    case = judged("alone", PASSED)
    lost = ["t::e", "t::d", "t::c", "t::b", "t::alone"]
    for planned, cases, sentence in (
        (lost, [case], "planned but never reported: t::b, t::c, t::d and 1 more."),
        ([], [case], "reported but never planned: t::alone."),
        (["t::alone"], [case, case], "reported more than once: t::alone."),
    ):
        result = resolve(*cases, planned=planned)
        assert result.problems == (sentence,)
        assert result.exit_code == 1


def test_stale_entry_is_a_problem_of_a_complete_run():
    case = judged("control", KNOWN_FAILING)
    stale = replace(LISTED, cases="u::*")
    elsewhere = replace(stale, target="stock@0.32.0")
    sentence = (
        "known failing g.control on stock@0.33.0 matches no case on stock@0.33.0 (u::*): "
        "mend or remove the entry."
    )
    complete = resolve(case, entries=[LISTED, stale, elsewhere], complete=True)
    assert complete.problems == (sentence,)
    assert complete.exit_code == 1
    assert resolve(case, entries=[LISTED, stale, elsewhere]).problems == ()
    # What a stopped run did not come to is not stale.
    stopped = resolve(case, entries=[stale], complete=True, planned=["t::control", "t::lost"])
    assert stopped.problems == ("planned but never reported: t::lost.",)


def test_entry_for_two_targets_must_match_on_both():
    wide = replace(LISTED, target="stock@*")
    cases = [judged("control", KNOWN_FAILING), judged("alone", PASSED, target=OTHER)]
    (sentence,) = resolve(*cases, entries=[wide], complete=True).problems
    assert sentence.startswith("known failing g.control on stock@* matches no case on stock@0.32.0")


@pytest.mark.parametrize(
    ("statuses", "held"),
    [
        ([PASSED], True),
        ([PASSED, PASSED], True),
        ([PASSED, KNOWN_FAILING], False),
        ([PASSED, FAILED], False),
        ([PASSED, UNSUPPORTED], False),
        ([PASSED, ERROR], False),
        ([UNSUPPORTED], False),
    ],
)
def test_a_rule_that_holds_before_its_since_is_a_problem_of_a_complete_run(statuses, held):
    cases = [
        judged("alone", status, case=f"t::{number}", target=OTHER)
        for number, status in enumerate(statuses)
    ]
    sentence = "since of g.alone is too late: it holds on 0.32.0."
    late, met = since("0.33.0"), since("0.32.0")
    found = resolve(*cases, catalogue=late, complete=True).problems
    assert (sentence in found) is held
    assert sentence not in resolve(*cases, catalogue=late).problems
    assert sentence not in resolve(*cases, catalogue=met, complete=True).problems


def test_the_reference_may_hold_a_rule_before_its_since():
    ahead = judged("alone", PASSED, case="t::0", target="reference@0.32.0")
    assert resolve(ahead, catalogue=since("0.33.0"), complete=True).problems == ()


# properties

NAMES = [name.removeprefix("g.") for name in CHAIN]
OUTCOME = st.sampled_from(verdict.OUTCOMES)


@st.composite
def runs(draw):
    """(entries, judged cases): random outcomes of random cases on two targets, some listed."""
    entries = [
        replace(LISTED, requirement=f"g.{name}", cases=draw(st.sampled_from(["*", "t::1*"])))
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True))
    ]
    cases = []
    for number in range(draw(st.integers(1, 8))):
        target = draw(st.sampled_from([TARGET, OTHER]))
        ids = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
        cases.append(
            verdict.judge(
                f"t::{number}", target, [f"g.{id}" for id in ids], draw(OUTCOME), "", entries
            )
        )
    return entries, cases


@settings(deadline=None)
@given(runs())
def test_no_outcome_is_lost_and_no_bad_one_becomes_good(run):
    entries, cases = run
    result = resolve(*cases, entries=entries)
    assert [(c.case, c.target, c.observed) for c in result.cases] == [
        (c.case, c.target, c.observed) for c in cases
    ]
    for before, after in zip(cases, result.cases, strict=True):
        assert after.status in (before.status, NOT_JUDGED)
        assert Judged.from_line(after.line()) == after
    good = all(case.status in verdict.GOOD for case in result.cases)
    assert result.exit_code == (0 if good else 1)
    # nothing that failed without being listed, and nothing that broke, ends in exit code 0
    listed = [bool(verdict.matching(entries, c.target, c.case, c.requirements)) for c in cases]
    outcomes = {(c.observed, mark) for c, mark in zip(cases, listed, strict=True)}
    if outcomes & {(FAILED, False), (ERROR, False), (ERROR, True), (PASSED, True)}:
        assert result.exit_code == 1


@settings(deadline=None)
@given(runs(), st.randoms())
def test_order_of_cases_does_not_matter(run, random):
    entries, cases = run
    shuffled = random.sample(cases, len(cases))
    by_id = {case.case: case.status for case in resolve(*cases, entries=entries).cases}
    assert by_id == {case.case: case.status for case in resolve(*shuffled, entries=entries).cases}


@settings(deadline=None)
@given(runs())
def test_resolving_twice_changes_no_status(run):
    _, cases = run
    once = resolve(*cases).cases
    assert [c.status for c in resolve(*once).cases] == [c.status for c in once]


@settings(deadline=None)
@given(runs(), st.randoms())
def test_a_case_by_itself_is_what_it_was_before_its_run_was_resolved(run, random):
    entries, cases = run
    parts = [[], []]
    for case in cases:
        random.choice(parts).append(case)
    resolved = [case for part in parts for case in resolve(*part, entries=entries).cases]
    alone = [by_itself(case) for case in resolved]
    assert alone == [case for part in parts for case in part]
