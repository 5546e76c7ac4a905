"""The answer names the model and the request it belongs to.

Catches a node that demands a model, answers for one nobody serves, or invents a request id.
"""

import pytest

from conformance.derender import derender_call
from conformance.support import chunk, response
from fixtures.case import Node, capability, own_id, requirement
from fixtures.wire import OMIT

pytestmark = pytest.mark.parametrize(
    "node", [Node("real"), Node("none", role="render")], indirect=True
)

ROUTES = ["chat", "completions"]
STEM = "own-é"


def whole(route: str) -> dict:
    """A body of the route, with an id of the case's own."""
    generated = response([30], request_id=own_id(STEM))
    if route == "chat":
        return {"generate_response": generated}
    return {"generate_responses": [generated]}


def streamed() -> dict:
    """The same for one chunk, of either route."""
    return {"stream": True, "generate_chunk": chunk([30], request_id=own_id(STEM))}


def named(body: dict) -> tuple:
    """(model, id) of an answer or of a streamed chunk."""
    body = body.get("chunk", body)
    return body["model"], body["id"]


@requirement("derender.model.optional")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("model", [OMIT, None, "tiny"], ids=["absent", "null", "given"])
async def test_model_defaults_to_the_served_name(wire, route, model):
    """The served name and the generate response's id, with or without a model in the request."""
    answer = await derender_call(wire, route)({**whole(route), "model": model})
    assert named(answer.expect(200).json) == ("tiny", own_id(STEM))


@requirement("derender.model.optional")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("model", [None, "tiny"], ids=["null", "given"])
async def test_streamed_model_defaults_to_the_served_name(wire, route, model):
    """The same for a streamed chunk."""
    answer = await derender_call(wire, route)({**streamed(), "model": model})
    assert named(answer.expect(200).json) == ("tiny", own_id(STEM))


@requirement("derender.model.unknown-not-found")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("route", ROUTES)
async def test_unknown_model_is_not_found(wire, route):
    """404 naming the model for one nobody serves; 200 for the same body with the served one."""
    (await derender_call(wire, route)(whole(route))).expect(200)
    answer = await derender_call(wire, route)({**whole(route), "model": "no-such-model"})
    error = answer.expect(404).json["error"]
    assert (error["type"], error["param"], error["code"]) == ("NotFoundError", "model", 404)
    assert "no-such-model" in error["message"]


@requirement("derender.model.unknown-not-found")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
async def test_unknown_model_is_not_found_streaming(wire, route):
    """The same for a streamed chunk."""
    (await derender_call(wire, route)(streamed())).expect(200)
    (await derender_call(wire, route)({**streamed(), "model": "no-such-model"})).expect(404)
