"""Reasoning and tool calls, taken apart by another release's derender node with parsers.

Catches markup that leaks into text, a tool call that is called "stop", and streams that only newer
nodes parse.
"""

import json

import pytest

from conformance.support import IM_END, WEATHER_TOOL, assembled, encode
from conformance.upgrade.support import (
    CHAT,
    PARSING,
    PARSING_DERENDER,
    derendered_stream,
    of_chat,
    rendered_chat,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.nodes.script import output
from fixtures.wire import OMIT

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
TOOLS = {**CHAT, "tools": [WEATHER_TOOL], "tool_choice": "auto"}
# name: (request, what the model says, what the message holds)
OUTPUTS = {
    "reasoning": (
        CHAT, "<think>plan</think>answer", {"reasoning": "plan", "content": "answer", "calls": []},
    ),
    "tools": (
        TOOLS,
        f"<think>plan</think>{CALL}",
        {"reasoning": "plan", "content": "", "calls": [["get_weather", {"city": "Oslo"}]]},
    ),
}  # fmt: skip


def read(message: dict) -> dict:
    """Reasoning, content and calls of a message, full or assembled."""
    calls = [call.get("function", call) for call in message.get("tool_calls") or []]
    return {
        "reasoning": message.get("reasoning"),
        "content": message.get("content") or "",
        "calls": [[call["name"], json.loads(call["arguments"])] for call in calls],
    }


async def generated(mix, request: dict, text: str) -> tuple[dict, dict | list[dict]]:
    """The rendered request and the generate node's answer, which says `text`."""
    steps = [output([each]) for each in encode(text)] + [output([IM_END], finish_reason="stop")]
    script = await mix.generate.engine.script(steps)
    rendered = await rendered_chat(mix, request)
    return rendered, answered(await mix.generate.generate(rendered, script=script))


@requirement("upgrade.derender.parsed")
@pytest.mark.parametrize("name", OUTPUTS)
@cells(generate=PARSING, derender=PARSING_DERENDER)
async def test_parsed(mix, name):
    """Reasoning, content and calls, each in its place."""
    request, text, message = OUTPUTS[name]
    with mix.judged() as seen:
        rendered, response = await generated(mix, request, text)
        body = of_chat(request, rendered, generate_response=response)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(read(choice["message"]), message)


@requirement("upgrade.derender.parsed")
@cells(generate=PARSING, derender=PARSING_DERENDER)
async def test_parsed_finish_reason(mix):
    """A whole tool call ends with tool_calls, by which clients know that they must act."""
    request, text, _ = OUTPUTS["tools"]
    with mix.judged() as seen:
        rendered, response = await generated(mix, request, text)
        body = of_chat(request, rendered, generate_response=response)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["finish_reason"], "tool_calls")


@requirement("upgrade.derender.parsed")
@cells(generate=PARSING, derender=PARSING_DERENDER)
async def test_parsed_without_request(mix):
    """Without the chat request nobody can parse: a refusal, never text with markup in it."""
    request, text, message = OUTPUTS["reasoning"]
    with mix.judged() as seen:
        rendered, response = await generated(mix, request, text)
        body = of_chat(request, rendered, generate_response=response)
        answer = answered(await mix.derender.derender_chat({**body, "chat_request": OMIT}))
        seen.answer(read(answer["choices"][0]["message"]), message)


@requirement("upgrade.derender.parsed")
@pytest.mark.parametrize("name", OUTPUTS)
@cells(generate=PARSING, derender=PARSING_DERENDER)
async def test_parsed_stream(mix, name):
    """The deltas add up to the same message."""
    request, text, message = OUTPUTS[name]
    with mix.judged() as seen:
        rendered, chunks = await generated(mix, {**request, "stream": True}, text)
        body = of_chat(request, rendered)
        found, _ = await derendered_stream(mix.derender.derender_chat, chunks, body)
        seen.answer(read(assembled(found)), message)
