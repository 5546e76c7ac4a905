"""Cases that end in each of the ways a case can end; none of them is part of the conformance suite."""

import asyncio
import os
import signal

import pytest

from fixtures.case import Node, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("scripted")], indirect=True),
    requirement("generate.full.answers"),
]


async def test_passes(wire):
    answer = await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    assert len(answer.expect().json["choices"][0]["token_ids"]) == 2


async def test_fails(wire):
    answer = await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    assert len(answer.expect().json["choices"][0]["token_ids"]) == 3


async def test_trips_over_the_answer(wire):
    answer = await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    assert answer.json["no such key"] == 1


async def test_skips(wire):
    pytest.skip("a case must not")


async def test_breaks_in_the_harness(wire):
    await wire.generate(token_ids=[20], sampling_params={"max_tokens": {1, 2}})


async def test_node_dies(wire, node):
    os.kill(node.pid, signal.SIGKILL)
    await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})


async def test_node_is_replaced_after_a_death(wire):
    answer = await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    assert answer.expect().status == 200


async def test_worker_dies(wire):
    os.kill(os.getpid(), signal.SIGKILL)


async def test_hangs(wire):
    await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    await asyncio.sleep(600)


async def test_a_lone_surrogate_travels(wire):
    assert "\ud800" == "", "\ud800"
