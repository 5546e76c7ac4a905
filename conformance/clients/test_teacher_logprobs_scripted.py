"""The trainer's client against a scripted engine: what it asks for, and what it must not accept."""

import asyncio

import httpx
import pytest

from fixtures.case import Node, requirement
from fixtures.nodes.script import output
from impl.teacher_logprobs import (
    MissingTokenError,
    TeacherLogprobsError,
    UnusableLogprobError,
    teacher_logprobs,
)

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

PROMPT, COMPLETION = [20, 71, 9], [40, 30]
ROWS = [
    [[71, -1.5, 4], [50, -0.25, 1]],
    [[9, -0.5, 1]],
    [[40, -2.5, 9], [51, -0.75, 1]],
    [[30, -4.0, 2], [52, -1.0, 1]],
]


async def score(wire, script):
    """The client's list for a script's answer, or the error it raised instead."""

    def call():
        with httpx.Client(headers={"X-Engine-Script": script}) as client:
            return teacher_logprobs(
                wire.node.url + "/v1", PROMPT, COMPLETION, model="tiny", client=client
            )

    try:
        return await asyncio.to_thread(call)
    except TeacherLogprobsError as error:
        return error


async def scripted(engine, rows):
    """A script that answers with these prompt logprobs, from the second token on, and one token."""
    return await engine.script(
        [output(token_ids=[60], prompt_logprobs=rows, finish_reason="length")]
    )


@requirement("clients.teacher-logprobs.one-call")
async def test_a_list_costs_one_scoring_call(wire, engine, node):
    """The engine sees prompt and completion once, and is asked for one token sampled plainly."""
    script = await scripted(engine, ROWS)
    assert await score(wire, script) == [0.0, -1.5, -0.5, -2.5, -4.0]
    (call,) = [call for call in await engine.calls(script) if call["event"] == "generate"]
    params = call["sampling_params"]
    asked = {
        name: params[name] for name in ("max_tokens", "temperature", "top_p", "prompt_logprobs")
    }
    assert asked == {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "prompt_logprobs": 1}
    assert call["prompt_token_ids"] == [*PROMPT, *COMPLETION]


@requirement("clients.teacher-logprobs.no-made-up-value")
@pytest.mark.parametrize("value", ["-inf", "nan"])
async def test_a_value_that_is_no_number_is_an_error(wire, engine, node, value):
    """-inf arrives as -9999.0; NaN as that, or as the server's refusal. Neither becomes a float,
    and the same rows with a number become the list.
    """
    assert await score(wire, await scripted(engine, ROWS)) == [0.0, -1.5, -0.5, -2.5, -4.0]
    problem = await score(wire, await scripted(engine, [ROWS[0], [[9, value, 1]], *ROWS[2:]]))
    if value == "-inf":
        assert isinstance(problem, UnusableLogprobError)
        assert problem.position == 2
    assert isinstance(problem, TeacherLogprobsError)


@requirement("clients.teacher-logprobs.no-made-up-value")
async def test_a_missing_own_token_is_an_error(wire, engine, node):
    """Entries shifted by one hold other tokens' values; the first of them is named."""
    missing = await score(wire, await scripted(engine, [*ROWS[1:], ROWS[0]]))
    assert isinstance(missing, MissingTokenError)
    assert (missing.position, missing.token_id) == (1, 71)
