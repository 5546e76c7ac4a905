"""A stream state that cannot be right is refused, never turned into wrong text or a server error.

Catches a node that trusts its client: offsets outside the window, oversized windows, lengths that
do not add up, or a state that lost what a newer node needs.
"""

import pytest

from conformance.derender import derender_call
from conformance.support import chunk, derender_each, encode
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

ROUTES = ["chat", "completions"]
# name: what is done to a sound state
BROKEN = {
    "negative-prefix-offset": {"prefix_offset": -1},
    "negative-read-offset": {"read_offset": -1},
    "window-of-1025-tokens": {"prev_tokens": ["a"] * 1025},
    "window-of-numbers": {"prev_tokens": [1]},
    "chunk-lengths-that-do-not-sum": {"output_token_ids": [20, 21], "output_chunk_lens": [1]},
    "zero-chunk-length": {"output_token_ids": [20], "output_chunk_lens": [1, 0]},
    "five-context-ids": {"logprob_context_token_ids": [20] * 5},
    "text-in-place-of-a-state": "state",
}


async def sound_state(wire, route: str) -> dict:
    """The state after the first half of a split character."""
    answers = await derender_each(derender_call(wire, route), [chunk(encode("é")[:1])])
    return answers[0].json["stream_state"]


@requirement("derender.stream.state-refused")
@capability("integer-logprobs", "derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", BROKEN)
async def test_broken_state_is_refused(wire, route, name):
    """400 for the broken state; 200 for the sound one it was made from."""
    state = await sound_state(wire, route)
    broken = {**state, **BROKEN[name]} if isinstance(BROKEN[name], dict) else BROKEN[name]
    part = chunk(encode("é")[1:])
    (await derender_call(wire, route)(stream=True, generate_chunk=part, stream_state=state)).expect(
        200
    )
    (
        await derender_call(wire, route)(stream=True, generate_chunk=part, stream_state=broken)
    ).expect(400)


@requirement("derender.stream.state-refused")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
async def test_window_up_to_the_bound_is_taken(wire, route):
    """The bound of 1,024 tokens itself is a sound state."""
    state = await sound_state(wire, route)
    wide = {**state, "prev_tokens": ["a"] * 1024, "prefix_offset": 1023, "read_offset": 1024}
    answer = await derender_call(wire, route)(
        stream=True, generate_chunk=chunk(encode("b")), stream_state=wide
    )
    answer.expect(200)


@requirement("derender.stream.state-offsets-checked")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "offsets",
    [
        {"prefix_offset": 9, "read_offset": 9},
        {"read_offset": 9},
        {"prefix_offset": 1, "read_offset": 0},
    ],
    ids=["both-beyond", "read-beyond", "read-before-prefix"],
)
async def test_offsets_outside_the_window_are_refused(wire, route, offsets):
    """Offsets that point past the carried tokens would lose text: 400, not 200 with a hole."""
    state = await sound_state(wire, route)
    part = chunk(encode("é")[1:])
    (await derender_call(wire, route)(stream=True, generate_chunk=part, stream_state=state)).expect(
        200
    )
    broken = {**state, **offsets}
    (
        await derender_call(wire, route)(stream=True, generate_chunk=part, stream_state=broken)
    ).expect(400)
