"""Whatever valid conversation or prompt comes in, its ids are those of its text, on both routes."""

import pytest
from hypothesis import assume, given

from conformance.support import PARSERS, encode
from fixtures.case import Node, capability, requirement
from fixtures.models import tokenizer
from fixtures.strategies import completion_prompts, messages, tool_fields

VOCABULARY = tokenizer().get_vocab_size()
RENDERERS = pytest.mark.parametrize(
    "node", [Node("real"), Node("none", role="render")], indirect=True
)
ROOM = 400  # of the context's 512 tokens; the template's own words take the rest
OPEN = "<|im_start|>assistant\n"


def template_text(conversation: list[dict]) -> str:
    """What the tiny model's template makes of turns without tools."""
    turns = [f"<|im_start|>{turn['role']}\n{turn['content']}<|im_end|>\n" for turn in conversation]
    return "".join(turns) + OPEN


@requirement("render.chat.template-ids")
@capability("render.chat")
@RENDERERS
@given(conversation=messages())
async def test_any_conversation_has_the_ids_of_its_text(wire, conversation):
    """Any turns of any text: the template's text, tokenized once."""
    rendered = (await wire.render_chat(messages=conversation)).expect(200)
    assert rendered.json["token_ids"] == encode(template_text(conversation))


@requirement("render.ids.equal-coupled", "render.tools.reach-the-template")
@capability("render.chat", "coupled.chat")
@pytest.mark.parametrize("node", [Node("real", *PARSERS)], indirect=True)
@given(conversation=messages(max_turns=2), fields=tool_fields())
async def test_any_tools_give_the_coupled_prompt(wire, conversation, fields):
    """Any tools and any tool choice that the context has room for: the ids that the coupled route
    runs.
    """
    assume(len(encode(f"{conversation}{fields}")) < ROOM)
    request = {"messages": conversation, **fields, "max_tokens": 1}
    rendered = (await wire.render_chat(request)).expect(200).json
    coupled = (await wire.chat(request, return_token_ids=True)).expect(200).json
    assert rendered["token_ids"] == coupled["prompt_token_ids"]


@requirement("render.completions.prompt-ids", "render.completions.one-item-per-prompt")
@capability("render.completions")
@RENDERERS
@given(prompt=completion_prompts(VOCABULARY))
async def test_any_prompt_has_its_own_ids(wire, prompt):
    """Text, texts, ids or lists of ids: one item each, text tokenized and ids as they are."""
    several = isinstance(prompt, list) and not isinstance(prompt[0], int)
    expected = [
        encode(one) if isinstance(one, str) else one for one in (prompt if several else [prompt])
    ]
    rendered = (await wire.render_completions(prompt=prompt, max_tokens=8)).expect(200)
    assert [item["token_ids"] for item in rendered.json] == expected
