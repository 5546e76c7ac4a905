"""With a reasoning parser render says whether reasoning has ended before the first token.

Catches a node that always says null, ignores the prompt, or forgets that hidden reasoning counts
as ended; without a parser both fields must stay null.
"""

import pytest

from conformance.support import PARSERS, since
from fixtures.case import Node, capabilities, capability, requirement

pytestmark = [
    pytest.mark.parametrize(
        "node", [pytest.param(Node("real", *PARSERS), id="real-parsers")], indirect=True
    ),
    *capabilities("render.chat"),
]

USER = {"role": "user", "content": "hello"}


def opened(text: str) -> dict:
    """A request whose prompt ends in the assistant's `text`."""
    return {
        "messages": [USER, {"role": "assistant", "content": text}],
        "add_generation_prompt": False,
        "continue_final_message": True,
    }


# name: (request, reasoning_ended)
PROMPTS = {
    "not-begun": ({"messages": [USER]}, False),
    "begun": (opened("<think>a"), False),
    "ended": (opened("<think>a</think>b"), True),
    "hidden": ({"messages": [USER], "include_reasoning": False}, True),
}


@requirement("render.reasoning.ended-from-the-prompt")
@capability("reasoning-ended")
@pytest.mark.parametrize("name", PROMPTS)
async def test_reasoning_ended_follows_the_prompt(wire, name):
    """True once the prompt closed its reasoning, or the caller hides it; false before."""
    request, ended = PROMPTS[name]
    body = (await wire.render_chat(request)).expect(200).json
    assert body["reasoning_ended"] is ended


@requirement("render.reasoning.ended-from-the-prompt")
@capability("reasoning-ended")
async def test_template_arguments_go_to_the_engines_parser(wire, node):
    """The arguments that the prompt was rendered with are handed on."""
    kwargs = {"enable_thinking": False}
    body = (await wire.render_chat(messages=[USER], chat_template_kwargs=kwargs)).expect(200).json
    handed = body["reasoning_parser_kwargs"]["chat_template_kwargs"]
    assert handed["enable_thinking"] is False
    if since(node, "0.33.0"):
        assert body["parse_context"]["chat_template_kwargs"] == handed


@requirement("render.reasoning.ended-from-the-prompt")
async def test_special_tokens_are_kept_for_the_parser(wire):
    """The parser must see its markers, so render turns skip_special_tokens off."""
    body = (await wire.render_chat(messages=[USER])).expect(200).json
    assert body["sampling_params"]["skip_special_tokens"] is False
