"""Abort on a real engine: a running generation stops early, and the node is free again."""

import uuid

import pytest

from conformance.generate import GREEDY, running, still_answers, stop_reason
from conformance.support import LONG_CONTEXT
from fixtures.case import Node, capability, requirement
from fixtures.stopped import cut_short, idle
from fixtures.waiting import RUNNING, until

# Alone, so that the counters are this case's own.
LONG = Node("real", *LONG_CONTEXT, exclusive=True)
pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(LONG, id="real-long-context")], indirect=True
)

ABORT = "/inference/v1/abort_requests"
GENERATE = "/inference/v1/generate"
PROMPT = [20] * 48


@requirement("generate.abort.stops-real-engine")
@capability("abort-route")
async def test_stream_is_cut_short(wire, node):
    """A stream aborted after its first chunks ends within a second or so, far from the context's
    end.
    """
    body = {"token_ids": PROMPT, "sampling_params": GREEDY}
    chunks = []
    async with wire.open_stream(GENERATE, body) as stream:
        async for chunk in stream.expect(200):
            chunks.append(chunk)
            if len(chunks) == 3:
                (await wire.post(ABORT, {"request_ids": [chunk["request_id"]]})).expect(200)
    tokens = [token for chunk in chunks for token in chunk["choices"][0]["token_ids"]]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None] * (
        len(chunks) - 1
    ) + ["abort"]
    cut_short(len(tokens), 3, (node.max_model_len - len(PROMPT)) / 2)
    await idle(wire, 2.0)
    await still_answers(wire)


@requirement("generate.abort.stops-real-engine")
@capability("abort-route")
async def test_full_answer_is_cut_short(wire, node):
    """A full request aborted while it runs is a 200 with the first tokens of the unaborted one."""
    name = f"case-{uuid.uuid4().hex}"
    call = wire.generate(token_ids=PROMPT, sampling_params=GREEDY, request_id=name)
    async with running(call) as answer:
        await until(wire, RUNNING, 1)
        (await wire.post(ABORT, {"request_ids": [f"generate-tokens-{name}"]})).expect(200)
        (choice,) = (await answer).expect(200).json["choices"]
    tokens = choice["token_ids"]
    assert (choice["finish_reason"], stop_reason(node, choice)) == ("abort", None)
    cut_short(len(tokens), 1, (node.max_model_len - len(PROMPT)) / 2)
    params = {**GREEDY, "max_tokens": len(tokens)}
    whole = await wire.generate(token_ids=PROMPT, sampling_params=params)
    assert whole.expect(200).json["choices"][0]["token_ids"] == tokens
