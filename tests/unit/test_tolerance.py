"""The comparison must see every difference that matters, and none that bf16 makes by itself."""

import copy
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.tolerance import ABSENT, Difference, assert_same, compare


def candidate(token_id: int, logprob: float, rank: int) -> dict[str, Any]:
    return {"token_id": token_id, "logprob": logprob, "rank": rank}


# One answer of each form in which log probabilities travel; 9 and 7 are tied within 1e-3.
GENERATE = {
    "request_id": "generate-tokens-a",
    "created": 1,
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": None},
    "prompt_logprobs": [
        None,
        {
            "5": {"logprob": -2.5, "rank": 3, "decoded_token": "x"},
            "9": {"logprob": -0.5, "rank": 1, "decoded_token": "y"},
            "7": {"logprob": -0.5004, "rank": 2, "decoded_token": "z"},
        },
    ],
    "choices": [
        {
            "index": 0,
            "finish_reason": "length",
            "token_ids": [9],
            "routed_experts": None,
            "logprobs": {
                "content": [
                    {
                        **candidate(9, -0.5, 1),
                        "top_logprobs": [
                            candidate(9, -0.5, 1),
                            candidate(7, -0.5004, 2),
                            candidate(5, -2.5, 3),
                        ],
                    }
                ]
            },
        }
    ],
}
CHAT = {
    "id": "chatcmpl-a",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "né", "tool_calls": []},
            "finish_reason": "stop",
            "logprobs": {
                "content": [
                    {
                        "token": "n",
                        "logprob": -0.5,
                        "bytes": [110],
                        "top_logprobs": [
                            {"token": "n", "logprob": -0.5, "bytes": [110]},
                            {"token": "é", "logprob": -0.5004, "bytes": [195, 169]},
                            {"token": "x", "logprob": -9999.0, "bytes": [120]},
                        ],
                    }
                ]
            },
        }
    ],
}
COMPLETION = {
    "id": "cmpl-a",
    "choices": [
        {
            "text": "n",
            "logprobs": {
                "text_offset": [0],
                "tokens": ["n"],
                "token_logprobs": [None, -0.5],
                "top_logprobs": [None, {"n": -0.5, "é": -0.5004}],
            },
        }
    ],
}
TEACHER = {"prompt_logprobs": [None, -0.5, -2.5]}
ANSWERS = [GENERATE, CHAT, COMPLETION, TEACHER]

Path = tuple[Any, ...]

EXAMPLES = settings(max_examples=100, deadline=None, derandomize=True, database=None)


def leaves(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, dict) and value:
        return [leaf for key in value for leaf in leaves(value[key], (*path, key))]
    if isinstance(value, list) and value:
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path]


def get(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def changed(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with `new` at `path`; ABSENT takes the key or item away."""
    value = copy.deepcopy(value)
    if new is ABSENT:
        del get(value, path[:-1])[path[-1]]
    else:
        get(value, path[:-1])[path[-1]] = new
    return value


def is_logprob(path: Path) -> bool:
    return path[-1] not in ("rank", "token_id") and (
        path[-1] == "logprob" or {"token_logprobs", "top_logprobs", "prompt_logprobs"} & {*path}
    )


LEAVES = [(answer, path) for answer in ANSWERS for path in leaves(answer)]
JUDGED = [(a, path) for a, path in LEAVES if path[-1] not in ("id", "created", "request_id")]
LOGPROBS = [(a, path) for a, path in JUDGED if is_logprob(path) and type(get(a, path)) is float]

ENTRY = ("choices", 0, "logprobs", "content", 0)
TOPS = (*ENTRY, "top_logprobs")


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("logprob_abs", [0.0, 1e-3])
def test_an_answer_is_the_same_as_itself(answer, logprob_abs):
    assert compare(copy.deepcopy(answer), answer, logprob_abs=logprob_abs) == []


def test_a_difference_says_where_what_and_why():
    actual = changed(GENERATE, ("choices", 0, "token_ids", 0), 8)
    (difference,) = compare(actual, GENERATE)
    assert difference == Difference("choices[0].token_ids[0]", 9, 8, "equal")
    assert str(difference) == "choices[0].token_ids[0]: expected 9, got 8 (equal)"
    with pytest.raises(AssertionError, match=r"1 difference\(s\):\n  choices\[0\]\.token_ids"):
        assert_same(actual, GENERATE)


@pytest.mark.parametrize(
    ("actual", "expected", "rule"),
    [
        ({"a": None}, {}, "absent"),
        ({}, {"a": None}, "present"),
        (None, {}, "same type"),
        (True, 1, "same type"),
        (1.0, 1, "same type"),
        ("1", 1, "same type"),
        ([1], [1, 2], "same length"),
        ([2, 1], [1, 2], "equal"),
        (0.1 + 0.2, 0.3, "equal"),
        (-0.0, 0.0, "equal"),
        (math.nan, math.nan, "equal"),
        ({"logprob": math.nan}, {"logprob": math.nan}, "log probability within 0.001"),
        ({"logprob": -9999.0}, {"logprob": -9998.9999}, "log probability within 0.001"),
        ({"logprob": -math.inf}, {"logprob": -1e300}, "log probability within 0.001"),
        ({"logprob": -1}, {"logprob": -1.0}, "same type"),
        ({"temperature": 0.5004}, {"temperature": 0.5}, "equal"),
    ],
)
def test_each_rule_can_fail(actual, expected, rule):
    assert [difference.rule for difference in compare(actual, expected)][:1] == [rule]


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("choices", 0, "token_ids", 0), 7),
        (("choices", 0, "token_ids"), [9, 9]),
        (("choices", 0, "index"), 1),
        (("choices", 0, "finish_reason"), "stop"),
        (("choices", 0, "routed_experts"), ABSENT),
        (("usage", "completion_tokens"), 2),
        ((*ENTRY, "token_id"), 7),
        ((*ENTRY, "rank"), 2),
        ((*ENTRY, "logprob"), -0.5011),
        ((*TOPS, 2), ABSENT),
        ((*TOPS, 2, "token_id"), 6),
        ((*TOPS, 2, "rank"), 4),
        ((*TOPS, 2), candidate(9, -0.5, 1)),
        (("prompt_logprobs", 1, "5"), ABSENT),
        (("prompt_logprobs", 1, "5", "rank"), 4),
        (("prompt_logprobs", 0), {}),
    ],
    ids=str,
)
def test_a_lie_in_a_generate_answer_is_found(path, new):
    assert compare(changed(GENERATE, path, new), GENERATE)


def test_a_wrong_byte_is_found():
    assert compare(changed(CHAT, (*TOPS, 1, "bytes", 1), 168), CHAT)


@pytest.mark.parametrize("logprob_abs", [0.0, 1e-3])
@pytest.mark.parametrize(
    "new", [None, True, False, 0, 1, 2, 3, 12, 1.0, -0.75, "", "other", [], {}, ABSENT], ids=repr
)
def test_any_changed_leaf_is_found(new, logprob_abs):
    for answer, path in JUDGED:
        old = get(answer, path)
        same = type(old) is type(new) and old == new
        found = compare(changed(answer, path, new), answer, logprob_abs=logprob_abs)
        assert bool(found) is not same, path


@EXAMPLES
@given(leaf=st.sampled_from(LOGPROBS), by=st.floats(1.0001e-3, 50), sign=st.sampled_from([-1, 1]))
def test_any_log_probability_beyond_the_tolerance_is_found(leaf, by, sign):
    answer, path = leaf
    actual = changed(answer, path, get(answer, path) + sign * by)
    where = "log probability within 0.001"
    assert [difference.rule for difference in compare(actual, answer)] == [where]


@EXAMPLES
@given(data=st.data())
def test_any_drift_within_the_tolerance_is_none(data):
    for answer in ANSWERS:
        actual = answer
        for path in (path for a, path in LOGPROBS if a is answer):
            old = get(answer, path)
            drift = data.draw(st.floats(-0.999e-3, 0.999e-3)) if old != -9999.0 else 0.0
            actual = changed(actual, path, old + drift)
        assert compare(actual, answer) == []


@EXAMPLES
@given(leaf=st.sampled_from(LOGPROBS), up=st.booleans())
def test_one_ulp_of_float32_passes_in_bf16_and_fails_in_float32(leaf, up):
    answer, path = leaf
    old = np.float32(get(answer, path))
    if old == -9999.0:
        return
    new = float(np.nextafter(old, np.float32(math.inf if up else -math.inf)))
    actual = changed(answer, path, new)
    assert compare(actual, answer) == []
    assert len(compare(actual, answer, logprob_abs=0.0)) == 1


@EXAMPLES
@given(st.floats(0.001, 0.124), st.booleans())
def test_a_bf16_step_of_a_likely_token_passes(size, up):
    """Below 1/8 a step of bf16's eight bits is at most 2**-11; from 1/4 on it exceeds 1e-3."""
    bits = np.float32(-size).view(np.uint32) & np.uint32(0xFFFF0000)
    step = bits + np.uint32(0x10000) if up else bits - np.uint32(0x10000)
    old, new = (float(np.uint32(value).view(np.float32)) for value in (bits, step))
    assert old != new
    assert compare({"logprob": new}, {"logprob": old}) == []
    assert compare({"logprob": new}, {"logprob": old}, logprob_abs=0.0)


# Ties


def swapped(answer: Any, first: int, second: int, *, ranks: bool) -> Any:
    """The answer with two candidates swapped; `ranks`: with the ranks of their new places."""
    tops = copy.deepcopy(get(answer, TOPS))
    tops[first], tops[second] = tops[second], tops[first]
    if ranks:
        tops[first]["rank"], tops[second]["rank"] = tops[second]["rank"], tops[first]["rank"]
    return changed(answer, TOPS, tops)


def test_tied_candidates_may_swap_places():
    tied = changed(swapped(GENERATE, 0, 1, ranks=True), (*ENTRY, "rank"), 2)
    assert compare(tied, GENERATE) == []
    assert compare(swapped(CHAT, 0, 1, ranks=False), CHAT) == []


def test_tied_candidates_may_swap_ranks_where_order_says_nothing():
    actual = changed(GENERATE, ("prompt_logprobs", 1, "9", "rank"), 2)
    assert compare(actual, GENERATE)
    assert compare(changed(actual, ("prompt_logprobs", 1, "7", "rank"), 1), GENERATE) == []


def test_a_swap_is_found_bit_exactly():
    assert compare(swapped(CHAT, 0, 1, ranks=False), CHAT, logprob_abs=0.0)


@pytest.mark.parametrize(("first", "second"), [(0, 2), (1, 2)])
@pytest.mark.parametrize("ranks", [False, True])
def test_candidates_that_are_not_tied_may_not_swap(first, second, ranks):
    assert compare(swapped(GENERATE, first, second, ranks=ranks), GENERATE)


def test_a_swap_hides_no_other_difference():
    swap = changed(swapped(GENERATE, 0, 1, ranks=True), (*ENTRY, "rank"), 2)
    for path, new in [
        ((*TOPS, 0, "logprob"), -0.6),
        ((*TOPS, 0, "token_id"), 6),
        ((*TOPS, 0, "rank"), 5),
        ((*TOPS, 2), ABSENT),
        ((*ENTRY, "rank"), 3),
        ((*ENTRY, "token_id"), 7),
        (("choices", 0, "token_ids", 0), 7),
    ]:
        assert compare(changed(swap, path, new), GENERATE), path


def test_a_values_swap_without_their_tokens_is_found():
    """Ids in order, log probabilities of the first and last exchanged."""
    tops = copy.deepcopy(get(GENERATE, TOPS))
    tops[0]["logprob"], tops[2]["logprob"] = tops[2]["logprob"], tops[0]["logprob"]
    assert compare(changed(GENERATE, TOPS, tops), GENERATE)


def test_two_candidates_alike_are_compared_in_place():
    alike = [{"token": "�", "logprob": -0.5, "bytes": None}] * 2
    assert compare({"top_logprobs": alike}, {"top_logprobs": alike}) == []
    other = [alike[0], {**alike[1], "logprob": -0.6}]
    assert compare({"top_logprobs": other}, {"top_logprobs": alike})


# What is ignored


def test_only_the_named_keys_are_ignored():
    actual = changed(changed(GENERATE, ("request_id",), "b"), ("created",), ABSENT)
    assert compare(actual, GENERATE) == []
    assert [d.path for d in compare(actual, GENERATE, ignore=("created",))] == ["request_id"]
    assert compare({"a": {"x": 1}}, {"a": {"x": 2}}, ignore={"x"}) == []
