"""Render of a Responses request: what chat render makes of the same conversation, without state.

Catches a route that loses instructions, an earlier item or a transfer parameter, or that takes a
previous_response_id it cannot know.
"""

import re

import pytest

from conformance.support import PARSERS, WEATHER_TOOL, since, without
from fixtures.case import Node, capabilities, own_id, requirement
from fixtures.wire import OMIT

pytestmark = [
    pytest.mark.parametrize("node", [Node("none", *PARSERS, role="render")], indirect=True),
    *capabilities("render.responses", "render.chat"),
]

RESPONSES = "/v1/responses/render"
USER = {"role": "user", "content": "hello world"}
TURNS = [USER, {"role": "assistant", "content": "the fox"}, {"role": "user", "content": "日本 🦊"}]
SYSTEM = {"role": "system", "content": "Be brief."}
PART = {"type": "input_text", "text": "hello world"}
FUNCTION = {"type": "function", "strict": None, **WEATHER_TOOL["function"]}

# name: (what the Responses request says, what chat says for the same)
CONVERSATIONS = {
    "text": ({"input": "hello world"}, {"messages": [USER]}),
    "instructions": (
        {"input": "hello world", "instructions": "Be brief."},
        {"messages": [SYSTEM, USER]},
    ),
    "earlier-items": ({"input": TURNS}, {"messages": TURNS}),
    "text-part": (
        {"input": [{"type": "message", "role": "user", "content": [PART]}]},
        {"messages": [USER]},
    ),
    "tools": (
        {"input": "hello world", "tools": [FUNCTION]},
        {"messages": [USER], "tools": [WEATHER_TOOL], "tool_choice": "auto"},
    ),
}
KV = {"do_remote_decode": True, "blocks": [1, None, {"é": 0.5}]}
EC = {"remote": "encoder-1"}
# name: (what is wrong, the field that the error names)
BAD = {
    "previous-response": (
        {"previous_response_id": "resp_0123456789abcdef"},
        "previous_response_id",
    ),
    "no-input": ({"input": OMIT}, "input"),
    "limit-beyond-the-model": ({"max_output_tokens": 513}, "max_output_tokens"),
    "stored-prompt": ({"prompt": {"id": "pmpt_1"}}, "prompt"),
    "hot": ({"temperature": -1}, "temperature"),
}


async def rendered(wire, *body, **fields) -> dict:
    """One Responses request, rendered."""
    return (await wire.post(RESPONSES, *body, **fields)).expect(200).json


@requirement("render.responses.as-chat")
@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_ids_are_those_of_the_chat(wire, name):
    """The ids equal chat render's of the same conversation, compared as a whole list."""
    responses, chat = CONVERSATIONS[name]
    expected = (await wire.render_chat(chat)).expect(200).json["token_ids"]
    assert (await rendered(wire, responses))["token_ids"] == expected


@requirement("render.responses.fields-carried")
async def test_the_callers_fields_are_carried(wire):
    """Id, model, limit, salt, priority and sampling stand in the rendered request, unchanged."""
    sampling = {"temperature": 0.5, "top_p": 0.75, "seed": 11}
    ids = {"request_id": own_id("resp"), "cache_salt": own_id("salt")}
    fields = {**ids, "priority": 3, "stream": True}
    body = await rendered(wire, input="hello", max_output_tokens=8, **fields, **sampling)
    names = ("request_id", "model", "cache_salt", "priority", "stream")
    assert {name: body[name] for name in names} == {"model": "tiny", **fields}
    params = body["sampling_params"]
    assert {name: params[name] for name in (*sampling, "max_tokens")} == {
        **sampling,
        "max_tokens": 8,
    }


@requirement("render.responses.fields-carried")
async def test_the_body_has_the_keys_of_a_chats(wire):
    """Whole body but for id, sampling and what Responses has no word for: no key more or fewer."""
    responses = await rendered(wire, input="hello world", max_output_tokens=8)
    chat = (await wire.render_chat(messages=[USER], max_tokens=8)).expect(200).json
    own = ("request_id", "sampling_params", "parse_context", "reasoning_ended")
    # the template arguments are those of each route; chat names what its own format is
    own += ("reasoning_parser_kwargs",)
    assert without(responses, *own) == without(chat, *own)
    assert responses.keys() == chat.keys()


@requirement("render.responses.request-id")
async def test_ids_are_fresh_and_prefixed(wire):
    """Without one from the caller, two requests have two ids: `resp_` and a random part."""
    ids = [(await rendered(wire, input="hello"))["request_id"] for _ in "ab"]
    assert [bool(re.fullmatch(r"resp_[0-9a-f]{8,32}", own)) for own in ids] == [True, True]
    assert ids[0] != ids[1]


@requirement("render.max-tokens.explicit-kept")
@pytest.mark.parametrize("limit", [1, 15, 16, 17])
async def test_max_output_tokens_is_carried(wire, limit):
    """The limit is in the rendered request, whatever its value."""
    body = await rendered(wire, input="hello", max_output_tokens=limit)
    assert body["sampling_params"].get("max_tokens") == limit


@requirement("render.responses.transfer-params")
async def test_transfer_params_are_carried(wire, node):
    """Both arrive unchanged at the top; from 0.33 on nowhere else (EVOLUTION 4.2)."""
    body = await rendered(wire, input="hello", kv_transfer_params=KV, ec_transfer_params=EC)
    assert (body["kv_transfer_params"], body["ec_transfer_params"]) == (KV, EC)
    if since(node, "0.33.0"):
        assert not body["sampling_params"].get("extra_args")


@requirement("render.responses.stateless")
async def test_nothing_is_remembered(wire):
    """A rendered request cannot be gone on from, and the same input has the same ids again."""
    own = own_id("resp")
    first = await rendered(wire, input="hello", store=True, request_id=own)
    continued = await wire.post(RESPONSES, input="x", previous_response_id=first["request_id"])
    assert continued.expect(400).json["error"]["param"] == "previous_response_id"
    again = await rendered(wire, input="hello", request_id=own)
    assert again["token_ids"] == first["token_ids"]


@requirement("render.responses.refused")
@pytest.mark.parametrize("name", BAD)
async def test_bad_request_names_the_field(wire, name):
    """400 whose param ends in the field that is wrong; without the fault it is 200."""
    fault, param = BAD[name]
    good = {"input": "hello", "max_output_tokens": 8}
    (await wire.post(RESPONSES, good)).expect(200)
    error = (await wire.post(RESPONSES, {**good, **fault})).expect(400).json["error"]
    assert error["code"] == 400
    assert (error["param"] or "").split(".")[-1] == param


@requirement("render.responses.refused")
async def test_unknown_model_is_not_found(wire):
    """404 with the error object of the other render routes."""
    answer = await wire.post(RESPONSES, model="no-such-model", input="hello")
    error = answer.expect(404).json["error"]
    assert (error["type"], error["param"], error["code"]) == ("NotFoundError", "model", 404)
    assert "no-such-model" in error["message"]


@requirement("render.refusals.names-the-callers-field")
async def test_a_limit_of_zero_names_max_output_tokens(wire):
    """The field that Responses has for the limit, not the engine's name for it."""
    answer = await wire.post(RESPONSES, input="hello", max_output_tokens=0)
    assert answer.expect(400).json["error"]["param"] == "max_output_tokens"


@requirement("render.routes.documented")
@pytest.mark.parametrize("route", [RESPONSES, "/v1/messages/render"])
async def test_the_route_is_in_the_openapi_document(wire, route):
    """POST alone, with 400, 404 and 501 among the documented answers."""
    document = (await wire.get("/openapi.json")).expect(200).json
    operations = document["paths"][route]
    assert list(operations) == ["post"]
    assert {"200", "400", "404", "501"} <= operations["post"]["responses"].keys()
