"""Impossible numbers become -9999.0, so that every answer is strict JSON.

Catches a node that sends NaN, Infinity or null in place of a number, fails the request, or clamps
a number that was merely small.
"""

import math

import pytest

from conformance.support import ABSENT
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import float32, output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

NAN, INFINITY = math.nan, math.inf
# name: (what the engine said, its rank, logprob and rank on the wire)
VALUES = {
    "minus-infinity": (-INFINITY, 1, -9999.0, 1),
    "nan": (NAN, 1, -9999.0, 1),
    "nan-of-no-rank": (NAN, 0, -9999.0, None),
    "below-the-marker": (-12345.0, 7, -9999.0, 7),
    "the-marker": (-9999.0, 7, -9999.0, 7),
    "just-above-the-marker": (-9998.5, 7, -9998.5, 7),
    "small": (-1e-30, 1, float32(-1e-30), 1),
    "zero": (0.0, 1, 0.0, 1),
    "minus-zero": (-0.0, 1, -0.0, 1),
}


async def scored(wire, engine, logprob: float, rank: int, k: int) -> dict:
    """A generate answer whose one sampled token has that number; its alternative is ordinary."""
    row = [[30, logprob, rank], [31, -0.5, 1 if rank != 1 else 2]]
    script = await engine.script([output(token_ids=[30], logprobs=[row], finish_reason="length")])
    return {
        "body": {"token_ids": [20], "sampling_params": {"logprobs": k, "max_tokens": 1}},
        "script": script,
    }


@requirement("logprobs.values.clamped")
@capability("integer-logprobs")
@pytest.mark.parametrize("name", VALUES)
async def test_sampled_number_is_clamped(wire, engine, name):
    """Entry and its own alternative, full and streamed, parsed as strict JSON."""
    sent, rank, logprob, wire_rank = VALUES[name]
    expected = {"token_id": 30, "logprob": logprob, "rank": wire_rank}
    for call in (wire.generate, wire.generate_stream):
        answer = (await call(**await scored(wire, engine, sent, rank, 1))).expect(200)
        body = answer.chunks[0] if answer.is_event_stream else answer.json
        (entry,) = body["choices"][0]["logprobs"]["content"]
        assert {own: entry.get(own, ABSENT) for own in expected} == expected
        assert entry["top_logprobs"][0] == expected
        assert math.copysign(1, entry["logprob"]) == math.copysign(1, logprob)


@requirement("logprobs.values.clamped")
@capability("integer-logprobs")
@pytest.mark.parametrize(
    "name", ["minus-infinity", "nan", "below-the-marker", "just-above-the-marker"]
)
async def test_alternative_is_clamped(wire, engine, name):
    """An alternative's number, with the sampled token's own unharmed."""
    sent, _, logprob, _ = VALUES[name]
    row = [[30, -0.25, 1], [31, sent, 2]]
    script = await engine.script([output(token_ids=[30], logprobs=[row], finish_reason="length")])
    sampling = {"logprobs": 2, "max_tokens": 1}
    answer = await wire.generate(token_ids=[20], sampling_params=sampling, script=script)
    (entry,) = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    found = [(top["token_id"], top["logprob"]) for top in entry["top_logprobs"]]
    assert (entry["logprob"], found) == (-0.25, [(30, -0.25), (31, logprob)])


@requirement("logprobs.values.clamped")
@capability("integer-logprobs")
async def test_clamped_numbers_go_through_derender(wire, engine):
    """-9999.0 reaches the chat shape as -9999.0, not as null."""
    generated = (await wire.generate(**await scored(wire, engine, -INFINITY, 1, 1))).expect(200)
    answer = (await wire.derender_chat(generate_response=generated.json)).expect(200).json
    (entry,) = answer["choices"][0]["logprobs"]["content"]
    assert (entry["logprob"], entry["top_logprobs"][0]["logprob"]) == (-9999.0, -9999.0)
