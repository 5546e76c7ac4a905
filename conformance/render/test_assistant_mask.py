"""assistant_tokens_mask, in the releases that have it: which ids the assistant's own text is.

Catches a mask that is sent unasked, is as long as something else than the ids, or marks the wrong
ones. It came with 0.25.1 and went with 0.31.0 (CASES 65).
"""

import pytest

from conformance.support import encode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize(
        "node", [Node("none", "--trust-request-chat-template", role="render")], indirect=True
    ),
    *capabilities("render.chat", "assistant-mask"),
]

CONVERSATION = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "the quick fox"},
    {"role": "user", "content": "x"},
    {"role": "assistant", "content": "world"},
]
PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TAGGED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
)
ASKED = {"return_assistant_tokens_mask": True}


async def body(wire, template, **fields) -> dict:
    """The conversation, rendered with a template of the request."""
    fields = {"add_generation_prompt": False, "chat_template": template, **fields}
    return (await wire.render_chat(messages=CONVERSATION, **fields)).expect(200).json


@requirement("render.assistant-mask.marks-the-assistant")
async def test_it_marks_exactly_the_assistants_text(wire):
    """1 for each id of what stands in generation tags, 0 for every other; as long as the ids."""
    answer = await body(wire, TAGGED, **ASKED)
    mask = answer["assistant_tokens_mask"]
    assert len(mask) == len(answer["token_ids"])
    marked = [token for token, one in zip(answer["token_ids"], mask, strict=True) if one == 1]
    assert set(mask) == {0, 1}
    assert marked == encode("the quick fox<|im_end|>") + encode("world<|im_end|>")


@requirement("render.assistant-mask.only-on-request")
@pytest.mark.parametrize(
    "asked", [{}, {"return_assistant_tokens_mask": False}], ids=["absent", "false"]
)
async def test_it_is_null_unless_asked_for(wire, asked):
    """The key is there and null, although the template has generation tags."""
    answer = await body(wire, TAGGED, **asked)
    assert answer["assistant_tokens_mask"] is None


@requirement("render.assistant-mask.needs-tags")
async def test_it_is_null_without_generation_tags(wire):
    """A template that marks nothing: null, not a mask of zeros."""
    answer = await body(wire, PLAIN, **ASKED)
    assert answer["assistant_tokens_mask"] is None


@requirement("render.assistant-mask.reads-trimmed-tags")
async def test_tags_may_trim_white_space(wire):
    """`{%- generation -%}` is the same tag: the mask is that of the untrimmed one."""
    trimmed = TAGGED.replace("{% generation %}", "{%- generation -%}")
    trimmed = trimmed.replace("{% endgeneration %}", "{%- endgeneration -%}")
    expected = await body(wire, TAGGED, **ASKED)
    answer = await body(wire, trimmed, **ASKED)
    assert answer["assistant_tokens_mask"] == expected["assistant_tokens_mask"]


@requirement("render.assistant-mask.cut-with-the-ids")
async def test_truncation_cuts_ids_and_mask_to_the_same_tail(wire):
    """truncate_prompt_tokens keeps the last ids and the marks of these very ids."""
    whole = await body(wire, TAGGED, **ASKED)
    cut = await body(wire, TAGGED, **ASKED, truncate_prompt_tokens=6)
    assert cut["token_ids"] == whole["token_ids"][-6:]
    assert cut["assistant_tokens_mask"] == whole["assistant_tokens_mask"][-6:]
