"""Tokens become exactly their text, whole and streamed, on both routes.

Catches a node that decodes token by token (and splits characters), trims white space, or shows a
replacement character that a later token would have completed.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.derender import derender_call
from conformance.support import (
    REPLACEMENT,
    chunks,
    decode,
    derender_each,
    encode,
    joined_text,
    partitions,
    response,
)
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

TEXTS = {
    "ascii": "hello world",
    "white-space": "  a\n\n\tb  ",
    "accents": "é",
    "accents-and-ascii": "naïve café!",
    "cjk": "日本語",
    "emoji": "🦊",
    "joined-emoji": "a👩‍🚀b",
    "combining": "e\u0301a\u0300",
    "right-to-left": "שלום",
    "quotes": '{"a": "b"}\\n',
    "thinking-tags": "<think>a</think>b<tool_call>c</tool_call>",
}
ROUTES = ["chat", "completions"]


async def whole(wire, route: str, token_ids: list[int]) -> str:
    """The text one full derender gives."""
    if route == "chat":
        answer = await wire.derender_chat(generate_response=response(token_ids))
        return answer.expect(200).json["choices"][0]["message"]["content"]
    answer = await wire.derender_completions(generate_responses=[response(token_ids)])
    return answer.expect(200).json["choices"][0]["text"]


async def streamed(wire, route: str, pieces: list[list[int]]) -> list:
    """The answers to one derender a chunk."""
    call = derender_call(wire, route)
    return await derender_each(call, chunks(pieces))


@requirement("derender.text.equals-decode")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", TEXTS)
async def test_full_text_is_the_text(wire, route, name):
    """Ids of a text derender to that text."""
    assert await whole(wire, route, encode(TEXTS[name])) == TEXTS[name]


@requirement("derender.stream.equals-full")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", TEXTS)
async def test_text_streamed_token_by_token_is_the_text(wire, route, name):
    """One token a chunk: no chunk shows U+FFFD, and all of them join to the text."""
    answers = await streamed(wire, route, [[token_id] for token_id in encode(TEXTS[name])])
    assert joined_text(answers) == TEXTS[name]
    assert not [answer for answer in answers if REPLACEMENT in joined_text([answer])]


@requirement("derender.stream.chunking-independent")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@given(data=st.data())
async def test_text_does_not_depend_on_the_chunking(wire, route, data):
    """Any partition of any ids joins to the text of the full derender of the same ids."""
    letters = st.text(st.sampled_from("ab é日🦊\u0301\n"), max_size=6).map(encode)
    ids = st.lists(st.integers(3, 262), max_size=6)
    parts = data.draw(st.lists(letters | ids, min_size=1, max_size=3))
    token_ids = [token_id for part in parts for token_id in part] or encode("a")
    cuts = data.draw(st.sets(st.integers(1, 40), max_size=12))
    pieces = partitions(token_ids, cuts)
    assert joined_text(await streamed(wire, route, pieces)) == await whole(wire, route, token_ids)


@requirement("derender.text.no-broken-character")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kept", [1, 2, 3])
async def test_unfinished_character_at_the_end_is_left_out(wire, route, kept):
    """An output that ends inside a character ends before it; the complete one is whole."""
    prefix, fox = encode("hello"), encode("🦊")
    assert len(fox) == 4
    assert await whole(wire, route, prefix + fox) == "hello🦊"
    assert await whole(wire, route, prefix + fox[:kept]) == "hello"


@requirement("derender.text.no-broken-character")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_bytes_that_are_no_text_stay_marked(wire, route):
    """A lone continuation byte before a letter is a replacement character, as a decoder has it."""
    token_ids = [encode("é")[1], *encode("x")]
    assert await whole(wire, route, token_ids) == decode(token_ids) == REPLACEMENT + "x"


@requirement("derender.text.prompt-seed-adds-nothing")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_prompt_ids_do_not_show_in_the_text(wire, route):
    """prompt_token_ids only seed the decoder: the prompt's own text stays out of the answer."""
    prompt, token_ids = encode("<|im_start|>user\nprompt text"), encode(" hello é")
    if route == "chat":
        answer = await wire.derender_chat(
            generate_response=response(token_ids), prompt_token_ids=prompt
        )
        text = answer.expect(200).json["choices"][0]["message"]["content"]
    else:
        answer = await wire.derender_completions(
            generate_responses=[response(token_ids)], prompt_token_ids=[prompt]
        )
        text = answer.expect(200).json["choices"][0]["text"]
    assert text == " hello é"
