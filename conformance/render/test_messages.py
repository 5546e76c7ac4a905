"""Render of an Anthropic messages request: what chat render makes of the same conversation.

Catches a route that loses the system text, a turn, a tool or a sampling parameter on the way to
chat, or refuses in other words than the caller's.
"""

import pytest

from conformance.support import PARSERS, WEATHER_TOOL, without
from fixtures.case import Node, capabilities, own_id, requirement
from fixtures.wire import OMIT

pytestmark = [
    pytest.mark.parametrize("node", [Node("none", *PARSERS, role="render")], indirect=True),
    *capabilities("render.messages", "render.chat"),
]

MESSAGES = "/v1/messages/render"
USER = {"role": "user", "content": "hello world"}
TURNS = [USER, {"role": "assistant", "content": "the fox"}, {"role": "user", "content": "日本 🦊"}]
SYSTEM = {"role": "system", "content": "Be brief."}
FUNCTION = WEATHER_TOOL["function"]
TOOL = {
    "name": FUNCTION["name"],
    "description": FUNCTION["description"],
    "input_schema": FUNCTION["parameters"],
}
CALL = {"type": "tool_use", "id": "call-1", "name": "get_weather", "input": {"city": "Paris"}}
RESULT = {"type": "tool_result", "tool_use_id": "call-1", "content": "sunny"}
CHAT_CALL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
}

# name: (what the messages request says, what chat says for the same)
CONVERSATIONS = {
    "one-turn": ({"messages": [USER]}, {"messages": [USER]}),
    "three-turns": ({"messages": TURNS}, {"messages": TURNS}),
    "system": ({"system": "Be brief.", "messages": [USER]}, {"messages": [SYSTEM, USER]}),
    "system-blocks": (
        {"system": [{"type": "text", "text": "Be brief."}], "messages": [USER]},
        {"messages": [SYSTEM, USER]},
    ),
    "text-block": (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello world"}]}]},
        {"messages": [USER]},
    ),
    "tools": (
        {"messages": [USER], "tools": [TOOL]},
        {"messages": [USER], "tools": [WEATHER_TOOL], "tool_choice": "auto"},
    ),
    "tool-result": (
        {
            "messages": [
                USER,
                {"role": "assistant", "content": [CALL]},
                {"role": "user", "content": [RESULT]},
            ],
            "tools": [TOOL],
        },
        {
            "messages": [
                USER,
                {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
                {"role": "tool", "tool_call_id": "call-1", "content": "sunny"},
            ],
            "tools": [WEATHER_TOOL],
        },
    ),
}
SAMPLING = {"temperature": 0.5, "top_p": 0.75, "top_k": 3}
# name: (what is wrong, the field that the error names)
BAD = {
    "no-max-tokens": ({"max_tokens": OMIT}, "max_tokens"),
    "zero-max-tokens": ({"max_tokens": 0}, "max_tokens"),
    "no-messages": ({"messages": OMIT}, "messages"),
    "text-messages": ({"messages": "hello"}, "messages"),
    "unknown-role": ({"messages": [{"role": "tool", "content": "x"}]}, "role"),
}


async def rendered(wire, body, **fields) -> dict:
    """One messages request, rendered."""
    return (await wire.post(MESSAGES, {"max_tokens": 8, **body}, **fields)).expect(200).json


@requirement("render.messages.as-chat")
@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_ids_are_those_of_the_chat(wire, name):
    """The ids equal chat render's of the same conversation, compared as a whole list."""
    messages, chat = CONVERSATIONS[name]
    expected = (await wire.render_chat(chat, max_tokens=8)).expect(200).json["token_ids"]
    assert (await rendered(wire, messages))["token_ids"] == expected


@requirement("render.messages.as-chat")
async def test_the_body_is_the_chats(wire):
    """Whole body but for the random id and the parse context: sampling, stop, salt and reasoning."""
    shared = {"messages": [USER], "max_tokens": 8, **SAMPLING}
    shared["cache_salt"] = own_id("salt")
    messages = await rendered(wire, shared, stop_sequences=["x", "yz"])
    chat = (await wire.render_chat(shared, stop=["x", "yz"])).expect(200).json
    varies = ("request_id", "parse_context")
    assert without(messages, *varies) == without(chat, *varies)
    assert messages["sampling_params"]["stop"] == ["x", "yz"]


@requirement("render.messages.as-chat")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_stream_is_carried_in_a_json_answer(wire, stream):
    """The flag is the caller's; a streamed answer brings its usage, as /v1/messages sends it."""
    body = await rendered(wire, {"messages": [USER]}, stream=stream)
    assert body["stream"] is stream
    assert bool((body["stream_options"] or {}).get("include_usage")) is stream


@requirement("render.max-tokens.explicit-kept")
@pytest.mark.parametrize("max_tokens", [1, 15, 16, 17])
async def test_max_tokens_is_carried(wire, max_tokens):
    """The limit that every messages request has is in the rendered one, whatever its value."""
    body = await rendered(wire, {"messages": [USER]}, max_tokens=max_tokens)
    assert body["sampling_params"].get("max_tokens") == max_tokens


@requirement("render.messages.refused")
async def test_unknown_model_is_not_found(wire):
    """404 with the error object of the other render routes."""
    answer = await wire.post(MESSAGES, model="no-such-model", messages=[USER], max_tokens=8)
    error = answer.expect(404).json["error"]
    assert (error["type"], error["param"], error["code"]) == ("NotFoundError", "model", 404)
    assert "no-such-model" in error["message"]


@requirement("render.messages.refused")
@pytest.mark.parametrize("name", BAD)
async def test_bad_request_names_the_field(wire, name):
    """400 whose param ends in the field that is wrong; the same request without the fault is 200."""
    fault, param = BAD[name]
    good = {"messages": [USER], "max_tokens": 8}
    (await wire.post(MESSAGES, good)).expect(200)
    error = (await wire.post(MESSAGES, {**good, **fault})).expect(400).json["error"]
    assert error["code"] == 400
    assert (error["param"] or "").split(".")[-1] == param


@requirement("render.refusals.names-the-callers-field")
async def test_a_limit_beyond_the_model_names_max_tokens(wire, node):
    """The field that messages has for the limit, not chat's name for it."""
    fields = {"messages": [USER], "max_tokens": node.max_model_len + 1}
    error = (await wire.post(MESSAGES, fields)).expect(400).json["error"]
    assert error["param"] == "max_tokens"
