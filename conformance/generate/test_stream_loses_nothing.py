"""What a full answer gives beside its choices reaches a stream's client too, or the stream
is refused.
"""

import pytest

from conformance.generate import PROMPT, refused, still_answers
from fixtures.case import Node, requirement
from fixtures.nodes.script import output

pytestmark = [
    pytest.mark.parametrize("node", [Node("scripted")], indirect=True),
    requirement("generate.stream.loses-nothing"),
]


async def both(wire, engine, key, last, **params):
    """What the full answer has under `key`, and what the chunks of a stream have."""
    steps = [output([40]), {**output([41], finish_reason="length"), **last}]
    sent = {"token_ids": PROMPT, "sampling_params": {"max_tokens": 2, **params}}
    full = await wire.generate(sent, script=await engine.script(steps))
    stream = await wire.generate_stream(sent, script=await engine.script(steps))
    assert full.expect(200).json[key]
    if stream.status == 400:
        refused(stream)
        await still_answers(wire)
        return full.json[key], [full.json[key]]
    return full.json[key], [chunk[key] for chunk in stream.expect(200).chunks if chunk.get(key)]


async def test_prompt_logprobs(wire, engine):
    """Prompt logprobs that were asked for are on exactly one chunk, or the stream is refused."""
    full, streamed = await both(wire, engine, "prompt_logprobs", {}, prompt_logprobs=1)
    assert len(full) == len(PROMPT) and streamed == [full]


async def test_kv_transfer_params(wire, engine):
    """The engine's transfer parameters are on exactly one chunk, or the stream is refused."""
    last = {"kv_transfer_params": {"remote_engine_id": "engine-7"}}
    full, streamed = await both(wire, engine, "kv_transfer_params", last)
    assert full == last["kv_transfer_params"] and streamed == [full]
