"""Tool definitions reach the chat template, whatever the tool choice.

Catches a render node that drops `tools`, or renders them only for some tool choices, so that its
ids differ from the coupled prompt's.
"""

import pytest

from conformance.support import PARSERS, WEATHER_TOOL, decode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize(
        "node", [pytest.param(Node("real", *PARSERS), id="real-parsers")], indirect=True
    ),
    *capabilities("render.chat"),
]

USER = {"role": "user", "content": "hello world"}
OTHER_TOOL = {
    "type": "function",
    "function": {"name": "add", "parameters": {"type": "object", "properties": {}}},
}
NAMED = {"type": "function", "function": {"name": "get_weather"}}


@requirement("render.tools.reach-the-template")
@pytest.mark.parametrize("tools", [[WEATHER_TOOL], [WEATHER_TOOL, OTHER_TOOL]], ids=["one", "two"])
@pytest.mark.parametrize(
    "tool_choice", ["auto", "none", "required", NAMED], ids=["auto", "none", "required", "named"]
)
async def test_tools_are_in_the_rendered_prompt(wire, tool_choice, tools):
    """The ids equal the coupled prompt's, and a tool's name can be read in them."""
    request = {"messages": [USER], "tools": tools, "tool_choice": tool_choice}
    rendered = (await wire.render_chat(request)).expect(200).json["token_ids"]
    coupled = await wire.chat(request, max_tokens=1, return_token_ids=True)
    assert rendered == coupled.expect(200).json["prompt_token_ids"]
    text = decode(rendered, skip_special_tokens=False)
    assert [tool["function"]["name"] in text for tool in tools] == [True] * len(tools)


@requirement("render.tools.reach-the-template")
async def test_a_prompt_without_tools_names_none(wire):
    """The control: the same conversation without tools has other ids."""
    bare = (await wire.render_chat(messages=[USER])).expect(200).json["token_ids"]
    tooled = (await wire.render_chat(messages=[USER], tools=[WEATHER_TOOL])).expect(200).json
    assert "get_weather" not in decode(bare, skip_special_tokens=False)
    assert len(tooled["token_ids"]) > len(bare)
