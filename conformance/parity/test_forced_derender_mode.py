"""Tool calls, forced: derender mode makes the message and finish reason of the coupled route.

Catches a generate node that parses by another tool choice than the rendered one, lets a second
call through where one was asked for, or says another finish reason.
"""

import json

import pytest

from conformance.support import IM_END, PARSERS, WEATHER_TOOL, encode
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("scripted", *PARSERS), id="scripted-parsers")], indirect=True
)

TOOLS = {"tools": [WEATHER_TOOL], "max_tokens": 100}
ARGUMENTS = '{"city": "日é", "days": 3}'
CALL = f'<tool_call>\n{{"name": "get_weather", "arguments": {ARGUMENTS}}}\n</tool_call>'
LIST = f'[{{"name": "get_weather", "parameters": {ARGUMENTS}}}]'
NAMED = {"type": "function", "function": {"name": "get_weather"}}
USER = {"role": "user", "content": "weather in 日é?"}
CALLED = {
    "role": "assistant",
    "tool_calls": [
        {
            "id": "call-1",
            "type": "function",
            "function": {"name": "get_weather", "arguments": ARGUMENTS},
        }
    ],
}
HISTORY = [USER, CALLED, {"role": "tool", "tool_call_id": "call-1", "content": "rain"}, USER]
# name: (forced text, request fields, how many calls the coupled route sees)
FORCED = {
    "auto": (f"<think>a</think>{CALL}", {"tool_choice": "auto"}, 1),
    "required": (f"<think>a</think>{CALL}", {"tool_choice": "required"}, 1),
    "required-as-list": (f"<think>a</think>{LIST}", {"tool_choice": "required"}, None),
    "named": (f"<think>a</think>{CALL}", {"tool_choice": NAMED}, 1),
    "named-arguments-alone": (f"<think>a</think>{ARGUMENTS}", {"tool_choice": NAMED}, None),
    "two-calls": (f"<think>a</think>{CALL}\n{CALL}", {"tool_choice": "auto"}, 2),
    "two-calls-one-allowed": (
        f"<think>a</think>{CALL}\n{CALL}", {"tool_choice": "auto", "parallel_tool_calls": False}, 1,
    ),
    "after-earlier-calls": (
        f"<think>a</think>{CALL}", {"tool_choice": "auto", "messages": HISTORY}, 1,
    ),
}  # fmt: skip


def read(choice: dict) -> tuple:
    """(finish_reason, content, reasoning, calls) of a choice, the calls without their own ids."""
    message = choice["message"]
    calls = [
        (call["type"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or []
    ]
    return choice["finish_reason"], message["content"], message["reasoning"], calls


@requirement("parity.derender-mode.same-tool-calls")
@capability("output-mode.derender")
@pytest.mark.parametrize("name", FORCED)
async def test_derender_mode_parses_as_the_coupled_route(wire, name):
    """The same ids, forced on both routes, become the same message."""
    text, fields, count = FORCED[name]
    ids = [*encode(text), IM_END]
    request = {"messages": [USER], **TOOLS, **fields}
    script = await wire.engine.script([output(ids, finish_reason="stop")])
    (coupled,) = (await wire.chat(request, script=script)).expect(200).json["choices"]
    rendered = (await wire.render_chat(request)).expect(200).json
    script = await wire.engine.script([output(ids, finish_reason="stop")])
    inline = await wire.generate({**rendered, "output_mode": "derender"}, script=script)
    (choice,) = inline.expect(200).json["choices"]
    assert read(choice) == read(coupled)
    assert count is None or len(read(coupled)[3]) == count
    assert choice["token_ids"] == ids
