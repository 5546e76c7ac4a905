"""Usage counts the prompt tokens the caller names and the ids that came in.

Catches a node that copies the generate node's usage, counts characters or choices, forgets a
choice, or sums prompts wrongly.
"""

import pytest

from conformance.support import response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

WRONG = {"prompt_tokens": 70, "completion_tokens": 80, "total_tokens": 150}
NAMES = ("prompt_tokens", "completion_tokens", "total_tokens")


def counts(answer) -> tuple:
    """The three counts of an answer's usage."""
    return tuple(answer.expect(200).json["usage"][name] for name in NAMES)


@requirement("derender.usage.counted")
@capability("derender.chat")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (0, 2, 2)),
        ({"prompt_tokens": None}, (0, 2, 2)),
        ({"prompt_tokens": 5}, (5, 2, 7)),
        ({"prompt_tokens": 0}, (0, 2, 2)),
    ],
    ids=["absent", "null", "five", "zero"],
)
async def test_chat_usage_counts_prompt_and_ids(wire, fields, expected):
    """Prompt tokens as named, none when not; the generate node's own usage does not matter."""
    for body in (response([30, 31]), response([30, 31], usage=WRONG)):
        assert counts(await wire.derender_chat(generate_response=body, **fields)) == expected


@requirement("derender.usage.counted")
@capability("derender.chat")
async def test_chat_usage_counts_every_choice(wire):
    """Two choices of three and one ids: four completion tokens."""
    answer = await wire.derender_chat(
        generate_response=response([30, 31, 32], [33]), prompt_tokens=5
    )
    assert counts(answer) == (5, 4, 9)


@requirement("derender.usage.counted")
@capability("derender.chat")
async def test_ids_without_text_are_counted(wire):
    """An end token and the halves of a character are tokens, whatever their text."""
    body = response({"token_ids": [30, 134, 2], "finish_reason": "stop"})
    assert counts(await wire.derender_chat(generate_response=body, prompt_tokens=1)) == (1, 3, 4)


@requirement("derender.usage.summed")
@capability("derender.completions")
@pytest.mark.parametrize(
    ("fields", "prompt"),
    [({}, 0), ({"prompt_tokens": [5, 7]}, 12), ({"prompt_tokens": [0, 7]}, 7)],
    ids=["absent", "both", "one-zero"],
)
async def test_completions_usage_is_summed_over_responses(wire, fields, prompt):
    """Prompt counts and ids of all responses, summed once."""
    bodies = [response([30, 31], [32]), response([33, 34, 35])]
    answer = await wire.derender_completions(generate_responses=bodies, **fields)
    assert counts(answer) == (prompt, 6, prompt + 6)


@requirement("derender.usage.refused")
@capability("derender.completions")
@pytest.mark.parametrize("wrong", [[5], [5, 7, 9], []], ids=["too-few", "too-many", "none"])
async def test_prompt_counts_of_another_length_are_refused(wire, wrong):
    """One count per response: 400 otherwise, 200 for the right length."""
    bodies = [response([30]), response([31])]
    (await wire.derender_completions(generate_responses=bodies, prompt_tokens=[5, 7])).expect(200)
    (await wire.derender_completions(generate_responses=bodies, prompt_tokens=wrong)).expect(400)


async def counted(wire, route: str, count):
    """The answer to one output with that prompt count."""
    if route == "chat":
        return await wire.derender_chat(generate_response=response([30]), prompt_tokens=count)
    return await wire.derender_completions(
        generate_responses=[response([30])], prompt_tokens=[count]
    )


@requirement("derender.usage.refused")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ["chat", "completions"])
@pytest.mark.parametrize("wrong", [1.5, "five"], ids=["fraction", "text"])
async def test_count_that_is_no_integer_is_refused(wire, route, wrong):
    """400 for what counts nothing; 200 for the same body with a count."""
    (await counted(wire, route, 1)).expect(200)
    (await counted(wire, route, wrong)).expect(400)


@requirement("derender.usage.negative-refused")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ["chat", "completions"])
@pytest.mark.parametrize("wrong", [-1, -5], ids=["minus-one", "minus-five"])
async def test_negative_prompt_count_is_refused(wire, route, wrong):
    """400: usage must never be negative, nor a total smaller than its parts."""
    (await counted(wire, route, 0)).expect(200)
    (await counted(wire, route, wrong)).expect(400)
