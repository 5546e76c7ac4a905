"""Derender mode with a reasoning and a tool parser: the context from render decides, and nothing is
guessed.
"""

import json

import pytest

from conformance.generate import refused
from conformance.support import IM_END, PARSERS, WEATHER_TOOL, encode
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("scripted", *PARSERS), id="qwen3-hermes")], indirect=True
)

MESSAGES = [{"role": "user", "content": "weather in Paris?"}]
ARGUMENTS = {"city": "Paris", "days": 2}
CALL = f'<tool_call>\n{{"name": "get_weather", "arguments": {json.dumps(ARGUMENTS)}}}\n</tool_call>'
THOUGHT = "<think>It rains.</think>Sunny."


def ids_of(text):
    return [*encode(text), IM_END]


async def rendered(wire, **chat):
    return (await wire.render_chat(messages=MESSAGES, max_tokens=200, **chat)).expect(200).json


async def send(wire, engine, request, text, **changes):
    name = await engine.script([output(token_ids=ids_of(text), finish_reason="stop")])
    return await wire.generate({**request, "output_mode": "derender", **changes}, script=name)


async def both_ways(wire, engine, text, **chat):
    """The derender-mode choice, and what the derender route makes of the same tokens."""
    request = await rendered(wire, **chat)
    (inline,) = (await send(wire, engine, request, text)).expect(200).json["choices"]
    tokens = (await send(wire, engine, request, text, output_mode="tokens")).expect(200).json
    routed = await wire.derender_chat(
        generate_response={**tokens, "prompt_token_ids": request["token_ids"]},
        prompt_token_ids=request["token_ids"],
        chat_request={"model": "tiny", "messages": MESSAGES, **chat},
    )
    return inline, routed.expect(200).json["choices"][0], tokens


def parsed(message):
    calls = [
        (call["type"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or []
    ]
    return message["content"], message["reasoning"], calls


@requirement("generate.output-mode.derender.context-required")
@capability("output-mode.derender")
async def test_context_is_required_with_a_parser(wire, engine):
    """Without parse_context a server with a parser answers 400; with the one from render, 200."""
    request = await rendered(wire)
    assert isinstance(request["parse_context"], dict)
    refused(await send(wire, engine, {**request, "parse_context": None}, THOUGHT))
    (choice,) = (await send(wire, engine, request, THOUGHT)).expect(200).json["choices"]
    assert parsed(choice["message"]) == ("Sunny.", "It rains.", [])


@requirement("generate.output-mode.derender.unknown-context-refused")
@capability("output-mode.derender")
async def test_unknown_context_key_fails_closed(wire, engine):
    """A context key of a newer render server is refused in derender mode, and served in tokens
    mode.
    """
    request = await rendered(wire)
    newer = {**request, "parse_context": {**request["parse_context"], "later_field": True}}
    answer = await send(wire, engine, newer, THOUGHT)
    refused(answer)
    assert "later_field" in answer.json["error"]["message"]
    served = await send(wire, engine, newer, THOUGHT, output_mode="tokens")
    assert served.expect(200).json["choices"][0]["token_ids"] == ids_of(THOUGHT)


@requirement("generate.output-mode.derender.reasoning")
@capability("output-mode.derender")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (THOUGHT, ("Sunny.", "It rains.", [])),
        ("<think>naïve 日本</think>é", ("é", "naïve 日本", [])),
        ("<think></think>Sunny.", ("Sunny.", None, [])),
    ],
    ids=["split", "unicode", "empty"],
)
async def test_reasoning_is_split_from_content(wire, engine, text, expected):
    """Reasoning and content are told apart as the derender route does, and the ids are kept."""
    inline, routed, _ = await both_ways(wire, engine, text)
    got = parsed(inline["message"])
    assert parsed(routed["message"]) == got
    assert (got[0], got[1] or None, got[2]) == expected
    assert (inline["token_ids"], inline["finish_reason"]) == (ids_of(text), "stop")


@requirement("generate.output-mode.derender.tool-calls")
@capability("output-mode.derender")
@pytest.mark.parametrize(
    "before", ["", "<think>It rains.</think>"], ids=["call-only", "after-reasoning"]
)
async def test_tool_call_is_parsed(wire, engine, before):
    """A tool call has its name and arguments, with the schema's types, and finish_reason is
    tool_calls.
    """
    inline, routed, _ = await both_ways(
        wire, engine, before + CALL, tools=[WEATHER_TOOL], tool_choice="auto"
    )
    content, reasoning, calls = parsed(inline["message"])
    assert calls == [("function", "get_weather", ARGUMENTS)]
    assert not content and (reasoning or None) == ("It rains." if before else None)
    assert parsed(routed["message"]) == (content, reasoning, calls)
    assert inline["finish_reason"] == routed["finish_reason"] == "tool_calls"
    assert inline["message"]["tool_calls"][0]["id"]


@requirement("generate.output-mode.derender.tool-calls")
@capability("output-mode.derender")
async def test_tool_choice_none_leaves_the_text(wire, engine):
    """With tool_choice none the markup of a call is content: inline and derender route agree."""
    inline, routed, _ = await both_ways(
        wire, engine, f"{THOUGHT}{CALL}", tools=[WEATHER_TOOL], tool_choice="none"
    )
    assert parsed(inline["message"]) == parsed(routed["message"])
    assert parsed(inline["message"]) == (f"Sunny.{CALL}", "It rains.", [])
    assert inline["finish_reason"] == "stop"


@requirement("generate.output-mode.derender.tool-choice-known")
@capability("output-mode.derender")
async def test_named_tool_must_be_among_the_tools(wire, engine):
    """A tool_choice that names a tool that is not in the context is a 400; one that is, is
    served.
    """
    request = await rendered(wire, tools=[WEATHER_TOOL], tool_choice="auto")
    context = request["parse_context"]

    def named(name):
        choice = {"type": "function", "function": {"name": name}}
        return {**request, "parse_context": {**context, "tool_choice": choice}}

    refused(await send(wire, engine, named("get_time"), CALL))
    (await send(wire, engine, named("get_weather"), json.dumps(ARGUMENTS))).expect(200)


@requirement("generate.output-mode.derender.hidden-reasoning")
@capability("output-mode.derender")
async def test_hidden_reasoning_does_not_leak(wire, engine):
    """With include_reasoning=false the reasoning is nowhere: not in the message, the ids or the
    logprobs.
    """
    request = await rendered(wire, include_reasoning=False, logprobs=True, top_logprobs=1)
    (choice,) = (await send(wire, engine, request, THOUGHT)).expect(200).json["choices"]
    assert parsed(choice["message"]) == ("Sunny.", None, [])
    assert (choice["token_ids"], choice["logprobs"], choice["sampling_mask"]) == (None, None, None)
    shown = await rendered(wire, include_reasoning=True, logprobs=True, top_logprobs=1)
    (choice,) = (await send(wire, engine, shown, THOUGHT)).expect(200).json["choices"]
    assert parsed(choice["message"]) == ("Sunny.", "It rains.", [])
    assert choice["token_ids"] == ids_of(THOUGHT)
    assert len(choice["logprobs"]["content"]) == len(ids_of(THOUGHT))


@requirement("generate.output-mode.derender.hidden-reasoning")
@capability("output-mode.derender")
async def test_usage_counts_hidden_ids(wire, engine):
    """Hidden ids still count in usage: they were generated."""
    request = await rendered(wire, include_reasoning=False)
    usage = (await send(wire, engine, request, THOUGHT)).expect(200).json["usage"]
    assert usage["completion_tokens"] == len(ids_of(THOUGHT))
    assert usage["prompt_tokens"] == len(request["token_ids"])
