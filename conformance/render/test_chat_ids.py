"""Chat render gives the ids of the chat template's text, no more and no less.

Catches a node that adds a BOS, drops a turn or the system message, mangles text outside ASCII,
or leaves out (or doubles) the assistant's opening.
"""

import pytest

from conformance.support import IM_START, encode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat"),
]

USER = {"role": "user", "content": "hello world"}
OPEN = "<|im_start|>assistant\n"
HELLO = "<|im_start|>user\nhello world<|im_end|>\n"

# conversation: (request, the text its ids must stand for)
CONVERSATIONS = {
    "one-turn": ({"messages": [USER]}, HELLO + OPEN),
    "system": (
        {"messages": [{"role": "system", "content": "Be brief."}, USER]},
        "<|im_start|>system\nBe brief.<|im_end|>\n" + HELLO + OPEN,
    ),
    "three-turns": (
        {"messages": [USER, {"role": "assistant", "content": "the fox"}, USER]},
        HELLO + "<|im_start|>assistant\nthe fox<|im_end|>\n" + HELLO + OPEN,
    ),
    "accents": (
        {"messages": [{"role": "user", "content": "café naïve"}]},
        "<|im_start|>user\ncafé naïve<|im_end|>\n" + OPEN,
    ),
    "cjk-and-emoji": (
        {"messages": [{"role": "user", "content": "日本語 🦊👩‍🚀"}]},
        "<|im_start|>user\n日本語 🦊👩‍🚀<|im_end|>\n" + OPEN,
    ),
    "white-space": (
        {"messages": [{"role": "user", "content": "  a\n\n\tb  c "}]},
        "<|im_start|>user\n  a\n\n\tb  c <|im_end|>\n" + OPEN,
    ),
    "text-part": (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello world"}]}]},
        HELLO + OPEN,
    ),
    "no-generation-prompt": ({"messages": [USER], "add_generation_prompt": False}, HELLO),
    "quotes-and-braces": (
        {"messages": [{"role": "user", "content": '{{ x }} {% y %} "z" <b>&amp;'}]},
        '<|im_start|>user\n{{ x }} {% y %} "z" <b>&amp;<|im_end|>\n' + OPEN,
    ),
}


@requirement("render.chat.template-ids")
@pytest.mark.parametrize("conversation", CONVERSATIONS)
async def test_token_ids_are_those_of_the_template_text(wire, conversation):
    """The ids are the template's text tokenized once, compared as a whole list."""
    request, text = CONVERSATIONS[conversation]
    rendered = (await wire.render_chat(request)).expect(200)
    assert rendered.json["token_ids"] == encode(text)


@requirement("render.specials.none-added")
@pytest.mark.parametrize("add_special_tokens", [None, False, True])
async def test_specials_of_the_template_are_not_doubled(wire, add_special_tokens):
    """A template that writes its own opening token gets no second one from the tokenizer."""
    request = {"messages": [USER]}
    if add_special_tokens is not None:
        request["add_special_tokens"] = add_special_tokens
    token_ids = (await wire.render_chat(request)).expect(200).json["token_ids"]
    assert token_ids == encode(HELLO + OPEN)
    assert (token_ids[0], token_ids.count(IM_START)) == (IM_START, 2)
