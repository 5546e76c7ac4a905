"""sampling_mask: the ids each token could have been, one list per generated token; null where not
asked for.
"""

import pytest

from conformance.generate import PROMPT, choices_of
from fixtures.case import Node, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

MASKS = [[40, 41, 42], [41], [7, 42, 262]]
STEPS = [
    output(token_ids=[40], sampling_mask=MASKS[:1]),
    output(token_ids=[41, 42], sampling_mask=MASKS[1:], finish_reason="length"),
]
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])


async def choices(wire, engine, stream, steps):
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 8},
        "script": await engine.script(steps),
    }
    if stream:
        return choices_of(await wire.generate_stream(**fields))
    return (await wire.generate(**fields)).expect(200).json["choices"]


@requirement("generate.sampling-mask.per-token")
@FULL_OR_STREAM
async def test_one_list_per_token(wire, engine, stream):
    """Each id has the mask the engine gave it, in a stream on the chunk that carries the id."""
    got = await choices(wire, engine, stream, STEPS)
    expected = [([40], MASKS[:1]), ([41, 42], MASKS[1:])] if stream else [([40, 41, 42], MASKS)]
    assert [(choice["token_ids"], choice["sampling_mask"]) for choice in got] == expected


@requirement("generate.sampling-mask.null-without")
@FULL_OR_STREAM
async def test_null_without(wire, engine, stream):
    """Without masks the key is there and null, on every chunk."""
    got = await choices(
        wire, engine, stream, [output(token_ids=[40]), output(token_ids=[41], finish_reason="stop")]
    )
    assert [choice["sampling_mask"] for choice in got] == [None] * (2 if stream else 1)
