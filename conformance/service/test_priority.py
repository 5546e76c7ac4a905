"""priority: without a word ignored by first come, first served; with the policy, the lower first.

Catches a server that refuses a priority it was documented to refuse and never did, lets it change
an answer, or schedules by the wrong end.
"""

import asyncio

import pytest

from conformance.generate import running
from conformance.support import LONG_CONTEXT, split_chat, without
from fixtures.case import Node, requirement
from fixtures.waiting import RUNNING, WAITING, until

IN_ORDER = pytest.mark.parametrize("node", [Node("real")], indirect=True)
# One sequence at a time, so that who waits is served by priority; a context so long that the first
# still runs when the others wait.
BY_PRIORITY = pytest.mark.parametrize(
    "node",
    [
        pytest.param(
            Node(
                "real",
                *("--scheduling-policy", "priority", "--max-num-seqs", "1"),
                *LONG_CONTEXT,
                exclusive=True,
            ),
            id="real-scheduling-policy-priority-max-num-seqs-1-exclusive",
        )
    ],
    indirect=True,
)
PROMPT = [20, 21, 22, 23]
PARAMS = {"max_tokens": 8, "temperature": 0.0, "ignore_eos": True}
CHAT = {"messages": [{"role": "user", "content": "hello"}], **PARAMS}


@IN_ORDER
@requirement("service.priority.ignored-in-order")
@pytest.mark.parametrize("priority", [5, -5])
async def test_generate_answers_as_without(wire, priority):
    """200 and the whole answer of priority 0 on a first-come, first-served server."""
    plain = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)
    asked = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS, priority=priority)
    varies = ("request_id", "created")
    assert without(asked.expect(200).json, *varies) == without(plain.expect(200).json, *varies)


@IN_ORDER
@requirement("service.priority.ignored-in-order")
@pytest.mark.parametrize("priority", [5, -5])
async def test_the_split_route_answers_as_without(wire, priority):
    """Render, generate and derender of a chat with a priority give the answer without one."""
    await wire.needs("render.chat", "derender.chat")
    plain = await split_chat(wire, CHAT)
    asked = await split_chat(wire, {**CHAT, "priority": priority})
    assert asked.rendered["priority"] == priority
    assert asked.answer["choices"] == plain.answer["choices"]


@BY_PRIORITY
@requirement("service.priority.lower-first")
async def test_the_lower_priority_is_served_first(wire):
    """Of three that wait behind a fourth, whose client then leaves, all end in the order of priority."""
    ended = []

    async def one(priority: int) -> None:
        params = {**PARAMS, "max_tokens": 100}  # so long that a busy client sees them apart
        answer = await wire.generate(token_ids=PROMPT, sampling_params=params, priority=priority)
        answer.expect(200)
        ended.append(priority)

    first = {"sampling_params": {**PARAMS, "max_tokens": 8000}, "priority": -9}
    async with asyncio.TaskGroup() as tasks, running(wire.generate(token_ids=PROMPT, **first)):
        await until(wire, RUNNING, 1)
        for priority in (5, 1, -3):
            tasks.create_task(one(priority))
        await until(wire, WAITING, 3)
    assert ended == [-3, 1, 5]
