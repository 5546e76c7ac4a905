"""Text a model rarely says, forced: both routes make the same message of it.

Catches a split route that breaks split characters, or treats special tokens and white space
differently, where random text would hardly ever show it.
"""

import pytest

from conformance.parity.forced import streamed, whole
from conformance.parity.support import same_answer
from conformance.support import IM_END, IM_START, assembled, encode
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

# name: (forced ids, finish_reason)
FORCED = {
    "split-characters": (encode("é🦊日本"), "length"),
    "unfinished-character": ([*encode("a"), *encode("🦊")[:2]], "length"),
    "bytes-that-are-no-text": (
        [encode("é")[1], *encode("x"), encode("日")[0], *encode("y")], "length",
    ),
    "character-then-end-token": ([*encode("🦊"), IM_END], "stop"),
    "half-character-then-end-token": ([*encode("a"), *encode("🦊")[:2], IM_END], "stop"),
    "only-the-end-token": ([IM_END], "stop"),
    "end-token-in-the-middle": ([*encode("a"), IM_END, *encode("b")], "length"),
    "white-space": (encode("  \n\t a \n"), "length"),
    "thinking-tags-without-a-parser": (encode("<think>a</think>b"), "length"),
}  # fmt: skip


@requirement("parity.forced.same-message")
@capability("derender.chat")
@pytest.mark.parametrize("name", FORCED)
async def test_forced_text_is_the_same(wire, name):
    """The whole body of both routes."""
    split, coupled = await whole(wire, *FORCED[name])
    same_answer(split, coupled)


@requirement("parity.forced.same-stream")
@capability("derender.chat.stream")
@pytest.mark.parametrize("name", FORCED)
async def test_forced_stream_adds_up_to_the_same(wire, name):
    """Token by token: what the deltas of both streams add up to."""
    split, coupled = await streamed(wire, *FORCED[name])
    assert assembled(split) == assembled(coupled)


SPECIAL = [*encode("a"), IM_START, *encode("b")]


@requirement("parity.special-tokens.same-text")
@capability("derender.chat")
@pytest.mark.parametrize("fields", [{}, {"skip_special_tokens": True}], ids=["absent", "true"])
async def test_special_token_is_left_out_by_both(wire, fields):
    """A special token in mid-text shows on neither route."""
    split, coupled = await whole(wire, SPECIAL, "length", **fields)
    assert coupled["choices"][0]["message"]["content"] == "ab"
    same_answer(split, coupled)


@requirement("parity.forced.same-message")
@capability("derender.chat")
async def test_special_token_is_kept_by_both(wire):
    """skip_special_tokens=false shows it on both."""
    split, coupled = await whole(wire, SPECIAL, "length", skip_special_tokens=False)
    assert coupled["choices"][0]["message"]["content"] == "a<|im_start|>b"
    same_answer(split, coupled)
