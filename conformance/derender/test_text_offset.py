"""text_offset of a completion says where each token's text begins.

Catches a node that counts bytes, restarts the offset with each chunk, or counts tokens without
text.
"""

import pytest

from conformance.support import chunks, derender_each, encode, logprob_entry, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

# name: (text, the offset of each of its tokens in characters)
OFFSETS = {
    "ascii": ("abc", [0, 1, 2]),
    "two-bytes": ("aéb", [0, 1, 1, 2]),
    "four-bytes": ("🦊é", [0, 0, 0, 0, 1, 1]),
    "three-bytes": ("日x", [0, 0, 0, 1]),
}


def scored(node, token_ids) -> list[dict]:
    """One logprob entry for each id."""
    return [logprob_entry(node, token_id, [(token_id, -0.5)]) for token_id in token_ids]


@requirement("derender.completions.text-offset")
@capability("derender.completions")
@pytest.mark.parametrize("name", OFFSETS)
async def test_offsets_are_in_characters(wire, node, name):
    """The first offset is 0 and each token moves it by its own text."""
    text, offsets = OFFSETS[name]
    token_ids = encode(text)
    body = response({"token_ids": token_ids, "logprobs": {"content": scored(node, token_ids)}})
    answer = (await wire.derender_completions(generate_responses=[body])).expect(200).json
    assert answer["choices"][0]["logprobs"]["text_offset"] == offsets


@requirement("derender.completions.text-offset")
@capability("integer-logprobs", "derender.completions.stream")
@pytest.mark.parametrize("name", OFFSETS)
async def test_offsets_go_on_over_the_chunks(wire, node, name):
    """Streamed token by token they are absolute, not per chunk."""
    text, offsets = OFFSETS[name]
    token_ids = encode(text)
    stream = chunks([[token_id] for token_id in token_ids])
    for part, entry in zip(stream, scored(node, token_ids), strict=True):
        part["choices"][0]["logprobs"] = {"content": [entry]}
    answers = await derender_each(wire.derender_completions, stream)
    parts = [answer.json["chunk"]["choices"][0]["logprobs"]["text_offset"] for answer in answers]
    assert parts == [[offset] for offset in offsets]
