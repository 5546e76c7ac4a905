"""Completions render tokenizes each prompt as it stands: one item per prompt, in order.

Catches a node that adds special tokens, re-tokenizes ids it was given, or merges, drops or
reorders prompts.
"""

import pytest

from conformance.support import encode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.completions"),
]

# "é" written as its two bytes' ids, then as text: encode(decode(ids)) would differ for an
# unmerged "hello", so a node that re-tokenizes is seen.
LETTERS = [token_id for letter in "hello" for token_id in encode(letter)]

# name: (prompt, the ids of each item)
PROMPTS = {
    "text": ("hello world", [encode("hello world")]),
    "unicode-text": ("日本 é 🦊", [encode("日本 é 🦊")]),
    "special-token-text": (
        "<|im_start|>user\nhi<|im_end|>",
        [encode("<|im_start|>user\nhi<|im_end|>")],
    ),
    "leading-space": (" hello", [encode(" hello")]),
    "ids": ([20, 21, 22], [[20, 21, 22]]),
    "unmerged-ids": (LETTERS, [LETTERS]),
    "one-text-in-a-list": (["hello"], [encode("hello")]),
    "three-texts": (["hello", "the fox", "é"], [encode("hello"), encode("the fox"), encode("é")]),
    "the-same-text-twice": (["hello", "hello"], [encode("hello"), encode("hello")]),
    "two-id-lists": ([[30, 31], [32]], [[30, 31], [32]]),
}


@requirement("render.completions.prompt-ids", "render.completions.one-item-per-prompt")
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_each_prompt_gives_one_item_with_its_ids(wire, prompt):
    """The list of id lists equals the prompts', whole and in order."""
    sent, expected = PROMPTS[prompt]
    rendered = (await wire.render_completions(prompt=sent, max_tokens=8)).expect(200)
    assert isinstance(rendered.json, list)
    assert [item["token_ids"] for item in rendered.json] == expected


@requirement("render.completions.one-item-per-prompt")
async def test_n_does_not_multiply_the_items(wire):
    """`n` is a sampling parameter of an item, not a count of items."""
    rendered = (await wire.render_completions(prompt=["hello", "fox"], n=3, max_tokens=8)).expect(
        200
    )
    assert [(item["token_ids"], item["sampling_params"]["n"]) for item in rendered.json] == [
        (encode("hello"), 3),
        (encode("fox"), 3),
    ]


@requirement("render.specials.none-added")
@pytest.mark.parametrize("add_special_tokens", [None, False, True])
async def test_text_gets_no_special_tokens(wire, add_special_tokens):
    """This model's tokenizer adds none of its own, whatever the request asks for."""
    fields = {} if add_special_tokens is None else {"add_special_tokens": add_special_tokens}
    rendered = (await wire.render_completions(prompt="hello world", max_tokens=8, **fields)).expect(
        200
    )
    assert rendered.json[0]["token_ids"] == encode("hello world")
