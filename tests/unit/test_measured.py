"""What a case measures is kept for it alone: the largest of each kind, finite, bounded in number."""

import asyncio
import math
import threading

import pytest

from fixtures.drift import drift
from fixtures.measured import ABORT, DIFFERENCE, DRIFT, MOST, Measures, measured, timed
from fixtures.outcome import CaseRecord
from fixtures.plugin import case_line, pytest_runtest_call
from fixtures.stash import RECORD
from fixtures.tolerance import assert_same, compare
from reports.resolve import Judged
from tests.unit.test_tolerance import (
    COMPLETION,
    ENTRY,
    GENERATE,
    TEACHER,
    TOPS,
    candidate,
    changed,
    swapped,
)


def measures_of(act):
    measures = Measures()
    with measures.collecting():
        act()
    return [(one["name"], one["value"], one["limit"], one["unit"]) for one in measures.lines()]


def differences_of(actual, expected, **options):
    """What a comparison measured: (value, limit) of each."""
    found = measures_of(lambda: compare(actual, expected, **options))
    assert {(name, unit) for name, _, _, unit in found} <= {(DIFFERENCE, "nats")}
    return [(value, limit) for _, value, limit, _ in found]


# The collector


def test_the_largest_of_each_kind_is_kept():
    def act():
        measured(ABORT, 0.5, unit="seconds", limit=2.0)
        measured(ABORT, 0.75, unit="seconds", limit=2.0)
        measured(ABORT, 0.25, unit="seconds", limit=2.0)
        measured(ABORT, 0.1, unit="seconds", limit=5.0)
        measured(ABORT, 7, unit="tokens")

    assert measures_of(act) == [
        (ABORT, 0.75, 2.0, "seconds"),
        (ABORT, 0.1, 5.0, "seconds"),
        (ABORT, 7, None, "tokens"),
    ]


def test_kinds_are_bounded_and_values_finite():
    def act():
        for limit in range(MOST + 5):
            measured(ABORT, 1.0, unit="seconds", limit=limit)
        measured(ABORT, 2.0, unit="seconds", limit=0)
        for value in (math.nan, math.inf, -math.inf):
            measured(DRIFT, value, unit="nats")

    found = measures_of(act)
    assert len(found) == MOST
    assert found[0] == (ABORT, 2.0, 0, "seconds")


def test_outside_of_a_case_nothing_is_kept():
    measures = Measures()
    measured(ABORT, 1.0, unit="seconds")
    with pytest.raises(ZeroDivisionError), measures.collecting():
        raise ZeroDivisionError
    measured(ABORT, 1.0, unit="seconds")
    assert measures.lines() == []


def test_tasks_and_threads_of_a_case_measure_for_it():
    async def task(value):
        measured(DRIFT, value, unit="nats")

    async def both():
        await asyncio.gather(task(0.5), task(0.25))

    def act():
        asyncio.run(both())
        thread = threading.Thread(target=measured, args=(DRIFT, 0.75), kwargs={"unit": "nats"})
        thread.start()
        thread.join()

    assert measures_of(act) == [(DRIFT, 0.75, None, "nats")]


def test_time_is_measured_also_where_the_wait_was_in_vain():
    def act():
        with pytest.raises(TimeoutError), timed(ABORT, limit=2.0):
            raise TimeoutError

    ((name, seconds, limit, unit),) = measures_of(act)
    assert (name, limit, unit) == (ABORT, 2.0, "seconds")
    assert 0 <= seconds < 2


class Item:
    """What the plugin's hook asks of a case."""

    def __init__(self):
        self.stash = pytest.Stash()


def test_each_case_has_its_own_measures_and_its_line_tells_them():
    items = [Item(), Item(), Item()]
    for item, value in zip(items, (0.5, 0.25, None), strict=True):
        call = pytest_runtest_call(item)
        next(call)
        if value is not None:
            measured(ABORT, value, unit="seconds", limit=5.0)
        with pytest.raises(StopIteration):
            next(call)
    judged = Judged("t::a", "reference@0.33.0", ("generate.a",), "passed", "passed")
    lines = [case_line(item.stash.get(RECORD, CaseRecord()), judged) for item in items]
    told = {"name": ABORT, "limit": 5.0, "unit": "seconds"}
    assert [line.get("measured") for line in lines] == [
        [{**told, "value": 0.5}],
        [{**told, "value": 0.25}],
        None,
    ]


# What a comparison measures


@pytest.mark.parametrize("answer", [GENERATE, COMPLETION, TEACHER])
def test_where_nothing_differs_the_difference_is_zero(answer):
    assert differences_of(answer, answer) == [(0.0, 1e-3)]


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        (GENERATE, (*ENTRY, "logprob")),
        (GENERATE, (*TOPS, 2, "logprob")),
        (GENERATE, ("prompt_logprobs", 1, "5", "logprob")),
        (COMPLETION, ("choices", 0, "logprobs", "token_logprobs", 1)),
        (COMPLETION, ("choices", 0, "logprobs", "top_logprobs", 1, "n")),
        (TEACHER, ("prompt_logprobs", 2)),
    ],
    ids=str,
)
@pytest.mark.parametrize("by", [2**-11, -(2**-11), 0.25])
def test_the_largest_difference_is_measured_within_the_tolerance_and_beyond(answer, path, by):
    old = answer
    for key in path:
        old = old[key]
    actual = changed(answer, path, old + by)
    assert bool(compare(actual, answer)) == (abs(by) > 1e-3)
    ((value, limit),) = differences_of(actual, answer)
    assert (value, limit) == (abs(by), 1e-3)


def test_a_failing_assertion_measures_too():
    def act():
        with pytest.raises(AssertionError):
            assert_same({"logprob": -0.75}, {"logprob": -0.5}, logprob_abs=0.125)

    assert measures_of(act) == [(DIFFERENCE, 0.25, 0.125, "nats")]


def test_several_comparisons_fold_into_the_largest_of_a_limit():
    def act():
        for number in (-0.5, -0.625, -0.5625):
            compare({"logprob": number}, {"logprob": -0.5}, logprob_abs=0.25)
        compare({"logprob": -0.5}, {"logprob": -0.5}, logprob_abs=0.5)

    assert measures_of(act) == [
        (DIFFERENCE, 0.125, 0.25, "nats"),
        (DIFFERENCE, 0.0, 0.5, "nats"),
    ]


def test_tied_candidates_that_traded_places_are_measured_each_with_itself():
    tied = changed(swapped(GENERATE, 0, 1, ranks=True), (*ENTRY, "rank"), 2)
    assert differences_of(tied, GENERATE) == [(0.0, 1e-3)]
    moved = changed(tied, (*TOPS, 0, "logprob"), -0.5004 - 2**-12)
    ((value, _),) = differences_of(moved, GENERATE)
    assert value == pytest.approx(2**-12)


def test_numbers_of_two_tokens_are_no_difference_of_one():
    other = changed(changed(GENERATE, (*TOPS, 2, "token_id"), 6), (*TOPS, 2, "logprob"), -9.0)
    assert compare(other, GENERATE)
    assert differences_of(other, GENERATE) == [(0.0, 1e-3)]
    completion = changed(COMPLETION, ("choices", 0, "logprobs", "tokens"), ["x"])
    assert differences_of(completion, COMPLETION) == []


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        ({"logprob": -9999.0}, {"logprob": -0.5}, {}),
        ({"logprob": math.nan}, {"logprob": -0.5}, {}),
        ({"logprob": -math.inf}, {"logprob": -0.5}, {}),
        ({"logprob": -0.5}, {"logprob": -0.5}, {"logprob_abs": 0.0}),
        ({"logprob": -1}, {"logprob": -0.5}, {}),
        ({"temperature": 0.5}, {"temperature": 0.25}, {}),
        ({}, {}, {}),
    ],
)
def test_what_is_no_comparison_within_a_tolerance_measures_nothing(actual, expected, options):
    assert differences_of(actual, expected, **options) == []


# Drift, of which nothing is asserted


def entry(token_id, logprob, *others):
    return {
        **candidate(token_id, logprob, 1),
        "top_logprobs": [candidate(token_id, logprob, 1), *others],
    }


QUIET = [entry(9, -0.5, candidate(7, -1.0, 2)), entry(8, -0.25), entry(5, -0.5)]


def test_drift_is_the_largest_move_of_a_number():
    loaded = [entry(9, -0.5, candidate(7, -1.125, 2)), entry(8, -0.3125), entry(5, -0.5)]
    assert measures_of(lambda: drift(loaded, QUIET)) == [(DRIFT, 0.125, None, "nats")]
    assert measures_of(lambda: drift(QUIET, QUIET)) == [(DRIFT, 0.0, None, "nats")]


def test_behind_another_token_numbers_have_another_context():
    loaded = [
        entry(7, -0.6875, candidate(9, -0.75, 2)),  # the same two candidates, the other one first
        entry(8, -7.0),
        entry(5, -0.5),
    ]
    assert drift(loaded, QUIET) == 0.3125
    assert drift(QUIET, loaded) == 0.3125


def test_candidates_of_one_side_and_placeholders_are_no_drift():
    loaded = [entry(9, -0.5, candidate(6, -3.0, 2), candidate(7, -9999.0, 3)), entry(1, -0.25)]
    assert drift(loaded, QUIET) == 0.0
    with pytest.raises(AssertionError, match="no number in common"):
        drift([entry(1, -0.5)], QUIET)
