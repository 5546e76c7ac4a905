"""A client that goes away: its request is aborted in the engine, full or streamed, with all its
choices.
"""

import pytest

from conformance.generate import PROMPT, running, still_answers
from fixtures.case import Node, requirement
from fixtures.nodes.script import output, step
from fixtures.stopped import let_go

GENERATE = "/inference/v1/generate"
pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)
EACH_N = pytest.mark.parametrize("n", [1, 3])


def scripted(n):
    return [
        step(*(output(index=index, token_ids=[40 + index]) for index in range(n))),
        {"hang": True},
    ]


async def is_aborted(engine, name, n):
    """The engine was told to drop every choice, and the request's generator is closed."""
    end = await let_go(engine, name)
    assert end["how"] in ("CancelledError", "GeneratorExit")
    aborted = [
        index
        for call in await engine.calls(name)
        if call["event"] == "abort"
        for index in call["indexes"]
    ]
    assert sorted(aborted) == list(range(n))


@requirement("generate.disconnect.stream-aborts-engine")
@EACH_N
async def test_leaving_a_stream_aborts(wire, engine, n):
    """Closing the connection after the first chunks aborts every choice of the request, and only
    those.
    """
    name = await engine.script(scripted(n))
    params = {"max_tokens": 64, "n": n, "temperature": 1.0, "ignore_eos": True}
    async with wire.open_stream(
        GENERATE, token_ids=PROMPT, sampling_params=params, script=name
    ) as stream:
        got = [(await anext(stream))["choices"][0]["token_ids"] for _ in range(n)]
    assert got == [[40 + index] for index in range(n)]
    await is_aborted(engine, name, n)
    await still_answers(wire)


@requirement("generate.disconnect.full-aborts-engine")
@EACH_N
async def test_leaving_a_full_request_aborts(wire, engine, n):
    """Closing the connection before the answer aborts every choice of the request."""
    name = await engine.script(scripted(n))
    params = {"max_tokens": 64, "n": n, "temperature": 1.0, "ignore_eos": True}
    sent = {"token_ids": PROMPT, "sampling_params": params}
    async with running(wire.generate(sent, script=name)):
        await engine.wait_for(name, "hanging")
    await is_aborted(engine, name, n)
    await still_answers(wire)


@requirement("generate.disconnect.stays-until-client-leaves")
async def test_a_patient_client_is_not_aborted(wire, engine):
    """A slow engine is waited for: nothing is aborted while the client is there."""
    name = await engine.script(
        [output(token_ids=[40]), {"sleep": 1.5}, output(token_ids=[41], finish_reason="stop")]
    )
    answer = await wire.generate(token_ids=PROMPT, sampling_params={"max_tokens": 64}, script=name)
    assert answer.expect(200).json["choices"][0]["token_ids"] == [40, 41]
    assert [call["event"] for call in await engine.calls(name)].count("abort") == 0
