"""token_offsets: where each id stands in the source text, only on request.

Catches a node that always or never sends offsets, counts bytes instead of characters, mixes up
the offsets of several prompts, or forgets them when it truncates.
"""

import pytest

from conformance.support import decode, encode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

ASCII = "hello world the fox {}"


@requirement("render.token-offsets.per-id")
async def test_ascii_offsets_cut_the_text_into_its_tokens(wire):
    """One half-open character range per id, whose slice of the text is the id's own text."""
    answer = await wire.render_completions(prompt=ASCII, return_token_offsets=True)
    item = answer.expect(200).json[0]
    slices = [ASCII[start:end] for start, end in item["token_offsets"]]
    assert slices == [decode([token_id]) for token_id in encode(ASCII)]


@requirement("render.token-offsets.per-id")
async def test_bytes_of_one_character_share_its_range(wire):
    """Offsets count characters: each byte token of "é" stands for the whole character."""
    answer = await wire.render_completions(prompt="aé🦊b", return_token_offsets=True)
    item = answer.expect(200).json[0]
    ranges = [tuple(pair) for pair in item["token_offsets"]]
    fox = len(encode("🦊"))
    assert ranges == [(0, 1), (1, 2), (1, 2), *[(2, 3)] * fox, (3, 4)]


@requirement("render.token-offsets.per-id")
async def test_each_prompt_has_its_own_offsets(wire):
    """Offsets start anew with every prompt of a batch."""
    prompts = ["the fox", "hello"]
    answer = await wire.render_completions(prompt=prompts, return_token_offsets=True)
    found = [item["token_offsets"] for item in answer.expect(200).json]
    alone = [
        (await wire.render_completions(prompt=prompt, return_token_offsets=True)).json[0]
        for prompt in prompts
    ]
    assert found == [item["token_offsets"] for item in alone]
    assert [[pairs[0][0], pairs[-1][1]] for pairs in found] == [[0, 7], [0, 5]]


@requirement("render.token-offsets.per-id")
async def test_chat_offsets_cover_the_template_text(wire):
    """Chat: the ranges tile the rendered text, special tokens included."""
    messages = [{"role": "user", "content": "hello world"}]
    answer = await wire.render_chat(messages=messages, return_token_offsets=True)
    body = answer.expect(200).json
    text = "<|im_start|>user\nhello world<|im_end|>\n<|im_start|>assistant\n"
    slices = [text[start:end] for start, end in body["token_offsets"]]
    assert slices == [
        decode([token_id], skip_special_tokens=False) for token_id in body["token_ids"]
    ]


@requirement("render.truncation.keeps-the-tail")
@pytest.mark.parametrize("kept", [1, 3])
async def test_truncation_keeps_the_last_ids_with_their_offsets(wire, kept):
    """truncate_prompt_tokens cuts ids and offsets to the same tail of the whole prompt's."""
    whole = await wire.render_completions(prompt=ASCII, return_token_offsets=True)
    cut = await wire.render_completions(
        prompt=ASCII, return_token_offsets=True, truncate_prompt_tokens=kept
    )
    names = ("token_ids", "token_offsets")
    whole, cut = whole.expect(200).json[0], cut.expect(200).json[0]
    assert [cut[name] for name in names] == [whole[name][-kept:] for name in names]


@requirement("render.token-offsets.only-on-request")
@pytest.mark.parametrize(
    "flag",
    [{}, {"return_token_offsets": False}, {"return_token_offsets": None}],
    ids=["absent", "false", "null"],
)
async def test_offsets_are_null_unless_asked_for(wire, flag):
    """The key is there and null on both routes."""
    chat = await wire.render_chat(messages=[{"role": "user", "content": "hello"}], **flag)
    completions = await wire.render_completions(prompt=["hello", "fox"], **flag)
    bodies = [chat.expect(200).json, *completions.expect(200).json]
    assert [body["token_offsets"] for body in bodies] == [None, None, None]


@requirement("render.token-offsets.only-on-request")
async def test_prompt_given_as_ids_has_no_offsets(wire):
    """There is no text to point into, so the field stays null."""
    answer = await wire.render_completions(prompt=[20, 21], return_token_offsets=True)
    assert answer.expect(200).json[0]["token_offsets"] is None
