"""A key that the server does not know changes nothing: on every route, at the top and further down.

Catches a server that refuses what a newer client sends, or takes an unknown key for a known one.
"""

import copy

import pytest

from conformance.routes import ROUTES
from conformance.support import WEATHER_TOOL, without
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

UNKNOWN = {"tokenwire_unknown": {"deep": [1, {"er": None}]}, "tokenwire_other": 7}
TOOLS = {"tools": [WEATHER_TOOL], "tool_choice": "none"}
CHAT_REQUEST = {"chat_request": {"model": "tiny", "messages": [{"role": "user", "content": "x"}]}}
COMPLETION_REQUEST = {"completion_request": {"model": "tiny", "prompt": "x"}}
STREAMED = {"stream": True, "stream_options": {"include_usage": True}}

# name: (route, what the body has besides, the path to the object that gets the keys)
NESTED = {
    "sampling-params": ("generate", {}, ["sampling_params"]),
    "generate-stream-options": ("generate", STREAMED, ["stream_options"]),
    "chat-message": ("render-chat", {}, ["messages", 0]),
    "chat-tool": ("render-chat", TOOLS, ["tools", 0]),
    "messages-message": ("render-messages", {}, ["messages", 0]),
    "generate-response": ("derender-chat", {}, ["generate_response"]),
    "generate-choice": ("derender-chat", {}, ["generate_response", "choices", 0]),
    "chat-request": ("derender-chat", CHAT_REQUEST, ["chat_request"]),
    "generate-responses": ("derender-completions", {}, ["generate_responses", 0]),
    "completion-request": ("derender-completions", COMPLETION_REQUEST, ["completion_request"]),
    "generate-chunk": ("derender-chat-stream", CHAT_REQUEST, ["generate_chunk"]),
    "generate-chunk-choice": ("derender-chat-stream", {}, ["generate_chunk", "choices", 0]),
}


def with_keys(body: dict, path: list) -> dict:
    """A copy of `body` whose object at `path` has the unknown keys too."""
    body = copy.deepcopy(body)
    place = body
    for step in path:
        place = place[step]
    place |= UNKNOWN
    return body


async def answered(wire, path: str, body: dict) -> list[dict]:
    """The whole answer but for ids and clock: one body, or the requests of a list, or a derendered
    chunk and the state beside it; of a stream what its chunks add up to, because a busy machine puts
    several tokens into one.
    """
    answer = (await wire.post(path, body)).expect(200)
    if answer.is_event_stream:
        choices = [choice for chunk in answer.chunks for choice in chunk["choices"]]
        tokens = [token for choice in choices for token in choice["token_ids"]]
        finish, usage = choices[-1]["finish_reason"], answer.chunks[-1].get("usage")
        return [{"token_ids": tokens, "finish_reason": finish, "usage": usage}]
    found = answer.json if isinstance(answer.json, list) else [answer.json]
    if "chunk" in found[0]:
        found = [found[0]["chunk"], found[0]["stream_state"]]
    return [without(one, "request_id", "id", "created") for one in found]


@requirement("service.unknown-keys.ignored")
@pytest.mark.parametrize("route", ROUTES)
async def test_at_the_top_they_change_nothing(wire, route):
    """The whole answer is that of the body without them."""
    one = ROUTES[route]
    await wire.needs(one.capability)
    plain = await answered(wire, one.path, one.body)
    assert await answered(wire, one.path, with_keys(one.body, [])) == plain


@requirement("service.unknown-keys.ignored")
@pytest.mark.parametrize("name", NESTED)
async def test_further_down_they_change_nothing(wire, name):
    """The same inside the objects of a body."""
    route, fields, path = NESTED[name]
    one = ROUTES[route]
    await wire.needs(one.capability)
    body = {**one.body, **fields}
    plain = await answered(wire, one.path, body)
    assert await answered(wire, one.path, with_keys(body, path)) == plain


@requirement("service.unknown-keys.ignored")
@capability("abort-route")
async def test_an_abort_ignores_them(wire):
    """An abort with unknown keys is an abort: 200 and no body."""
    body = {"request_ids": ["tokenwire-none"], **UNKNOWN}
    assert (await wire.post("/inference/v1/abort_requests", body)).expect(200).body == b""


@requirement("service.unknown-keys.not-carried")
@pytest.mark.parametrize("route", [name for name in ROUTES if name.startswith("render-")])
async def test_render_does_not_carry_them(wire, route):
    """What render hands on has its own keys alone, however the caller's body was extended."""
    one = ROUTES[route]
    await wire.needs(one.capability)
    answer = await wire.post(one.path, with_keys(one.body, []))
    assert b"tokenwire_" not in one.served(answer).body
