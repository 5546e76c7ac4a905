"""With parsers configured, markup becomes reasoning and tool calls, never text.

Catches a node that leaks `<think>` or `<tool_call>` into content, calls a finished tool call
"stop", or falls back to plain text when it lacks the request.
"""

import json

import pytest

from conformance.support import IM_END, PARSERS, WEATHER_TOOL, chunk, encode, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node",
    [
        pytest.param(Node("real", *PARSERS), id="real-parsers"),
        pytest.param(Node("none", *PARSERS, role="render"), id="render-parsers"),
    ],
    indirect=True,
)

REQUEST = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [WEATHER_TOOL],
    "tool_choice": "auto",
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "日é", "days": 3}}\n</tool_call>'
ARGUMENTS = {"city": "日é", "days": 3}
# name: (output, (reasoning, content, arguments of the calls, finish_reason))
OUTPUTS = {
    "reasoning-and-content": ("<think>plan é</think>answer", ("plan é", "answer", [], "stop")),
    "reasoning-content-and-call": (
        f"<think>plan</think>answer{CALL}", ("plan", "answer", [ARGUMENTS], "tool_calls"),
    ),
    "reasoning-and-call": (f"<think>plan</think>{CALL}", ("plan", None, [ARGUMENTS], "tool_calls")),
    "two-calls": (
        f"<think>a</think>{CALL}\n{CALL.replace('3', '5')}",
        ("a", None, [ARGUMENTS, {**ARGUMENTS, "days": 5}], "tool_calls"),
    ),
    "unclosed-reasoning": ("<think>plan é", ("plan é", None, [], "stop")),
    "reasoning-outside-ascii": ("<think>日本🦊</think>é🦊", ("日本🦊", "é🦊", [], "stop")),
}  # fmt: skip


def output(text: str, finish_reason: str = "stop") -> dict:
    """A generate response that said `text` and its end token."""
    return response({"token_ids": [*encode(text), IM_END], "finish_reason": finish_reason})


def read(choice: dict) -> tuple:
    """(reasoning, content, arguments of the calls, finish_reason) of a choice."""
    message = choice["message"]
    calls = message.get("tool_calls") or []
    assert [call["function"]["name"] for call in calls] == ["get_weather"] * len(calls)
    assert len({call["id"] for call in calls}) == len(calls)
    arguments = [json.loads(call["function"]["arguments"]) for call in calls]
    return message["reasoning"], message["content"], arguments, choice["finish_reason"]


@requirement("derender.parser.splits-the-output")
@capability("derender.chat")
@pytest.mark.parametrize("name", OUTPUTS)
async def test_output_is_split_into_its_parts(wire, name):
    """Reasoning, content and calls, none with markup in it."""
    text, expected = OUTPUTS[name]
    answer = await wire.derender_chat(generate_response=output(text), chat_request=REQUEST)
    (choice,) = answer.expect(200).json["choices"]
    # null and "" are one answer for a message without content (the parsers differ)
    reasoning, content, calls, finish = read(choice)
    assert (reasoning, content or None, calls, finish) == expected


@requirement("derender.parser.finish-reason")
@capability("derender.chat")
@pytest.mark.parametrize(("sent", "expected"), [("stop", "tool_calls"), ("length", "length")])
async def test_finish_reason_of_a_tool_call(wire, sent, expected):
    """`stop` becomes `tool_calls`; `length` stays, for the call may be cut."""
    text = OUTPUTS["reasoning-and-call"][0]
    body = response({"token_ids": encode(text), "finish_reason": sent})
    answer = await wire.derender_chat(generate_response=body, chat_request=REQUEST)
    assert read(answer.expect(200).json["choices"][0])[2:] == ([ARGUMENTS], expected)


@requirement("derender.parser.finish-reason")
@capability("derender.chat")
async def test_call_without_tools_in_the_request_is_text(wire):
    """Nobody asked for tools: the markup is content, finish_reason stays."""
    request = {"model": "tiny", "messages": REQUEST["messages"]}
    answer = await wire.derender_chat(
        generate_response=output(f"<think>a</think>b{CALL}"), chat_request=request
    )
    found = read(answer.expect(200).json["choices"][0])
    assert found == ("a", "b" + CALL, [], "stop")


@requirement("derender.parser.hidden-reasoning")
@capability("derender.chat")
async def test_hidden_reasoning_does_not_show(wire):
    """include_reasoning=false: no reasoning, no per-token data that would give it away."""
    tokens = {"return_token_ids": True}
    body = output("<think>plan</think>answer")
    shown = await wire.derender_chat(generate_response=body, chat_request={**REQUEST, **tokens})
    hidden = await wire.derender_chat(
        generate_response=body, chat_request={**REQUEST, **tokens, "include_reasoning": False}
    )
    shown, hidden = (answer.expect(200).json["choices"][0] for answer in (shown, hidden))
    assert (read(shown)[:2], shown["token_ids"]) == (
        ("plan", "answer"),
        body["choices"][0]["token_ids"],
    )
    assert (read(hidden)[:2], hidden["token_ids"]) == ((None, "answer"), None)


@requirement("derender.parser.request-required")
@capability("derender.chat")
async def test_missing_chat_request_is_refused(wire):
    """400, never plain text with markup; 200 with the request."""
    body = output("<think>plan</think>answer")
    (await wire.derender_chat(generate_response=body, chat_request=REQUEST)).expect(200)
    for fields in ({}, {"chat_request": None}):
        answer = (await wire.derender_chat(generate_response=body, **fields)).expect(400)
        assert "chat_request" in answer.json["error"]["message"]


@requirement("derender.parser.request-required")
@capability("derender.chat.stream")
async def test_missing_request_or_prompt_is_refused_streaming(wire):
    """A stream needs the request and the prompt's ids, to know whether reasoning was open."""
    whole = {
        "stream": True,
        "generate_chunk": chunk(encode("<think>plan")),
        "chat_request": REQUEST,
        "prompt_token_ids": encode("<|im_start|>assistant\n"),
    }
    (await wire.derender_chat(whole)).expect(200)
    for name in ("chat_request", "prompt_token_ids"):
        answer = (await wire.derender_chat({**whole, name: None})).expect(400)
        assert name in answer.json["error"]["message"]
