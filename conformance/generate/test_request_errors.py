"""Requests that are no generate request: each is refused with its own status, and the node
goes on.
"""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, still_answers
from fixtures.case import Node, requirement
from fixtures.wire import OMIT

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

GENERATE = "/inference/v1/generate"
BODY = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 2}}
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])


@requirement("generate.model.unknown-is-404")
@FULL_OR_STREAM
@pytest.mark.parametrize(
    "model", ["nope", "tiny ", "TINY", ""], ids=["other", "space", "case", "empty"]
)
async def test_unknown_model_is_a_404(wire, model, stream):
    """A model that is not served is a 404 with an error object that names the field, in a stream
    request too.

    Allowed for the empty string: also 200, since vLLM's routes take it for no model at all.
    """
    answer = await wire.generate(BODY, model=model, stream=stream)
    if model == "" and answer.status == 200:
        return await still_answers(wire)
    refused(answer, 404, param="model")
    await still_answers(wire)


@requirement("generate.request.body-checked")
@pytest.mark.parametrize(
    "body",
    [b'{"token_ids": [20, ', b"", b"{", b"\xff\xfe", b"token_ids=20", b'{"token_ids": [20]} x'],
    ids=["cut-off", "empty", "brace", "not-utf-8", "form", "trailing"],
)
async def test_malformed_json_is_refused(wire, body):
    """A body that is no JSON is a 400 with an error object."""
    refused(await wire.post(GENERATE, body))
    await still_answers(wire)


@requirement("generate.request.body-checked")
@pytest.mark.parametrize(
    "body",
    [b"[]", b'"text"', b"5", b"null", b"true"],
    ids=["array", "string", "number", "null", "true"],
)
async def test_non_object_is_refused(wire, body):
    """JSON that is no object is a 400 with an error object."""
    refused(await wire.post(GENERATE, body))
    await still_answers(wire)


@requirement("generate.request.method-and-type-checked")
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
async def test_other_content_type_is_refused(wire, content_type):
    """A content type that is not JSON is a 4xx, 400 or 415; JSON with a charset is served."""
    refused(await wire.generate(BODY, headers={"Content-Type": content_type}), 400, 415)
    served = await wire.generate(BODY, headers={"Content-Type": "application/json; charset=utf-8"})
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 2


@requirement("generate.sampling-params.required")
@pytest.mark.parametrize(
    "value", [OMIT, None, [], "greedy", 5], ids=["absent", "null", "list", "string", "number"]
)
@FULL_OR_STREAM
async def test_sampling_params_are_required(wire, value, stream):
    """Without sampling_params, or with what is no object, a 400 names the field; an empty object is
    served.
    """
    answer = await wire.generate(BODY, sampling_params=value, stream=stream)
    refused(answer, param="sampling_params")
    # 16 are left of the context, and it may end before at the end token: nothing turns that off
    prompt = [20] * (wire.node.max_model_len - 16)
    served = await wire.generate(token_ids=prompt, sampling_params={})
    assert 1 <= len(served.expect(200).json["choices"][0]["token_ids"]) <= 16
    await still_answers(wire)


@requirement("generate.request.field-types-checked")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", 5),
        ("stream", "sometimes"),
        ("stream_options", 5),
        ("return_token_ids", "perhaps"),
        ("priority", "high"),
        ("priority", 2**63),
        ("kv_transfer_params", [1]),
        ("ec_transfer_params", "x"),
        ("reasoning_ended", "perhaps"),
        ("reasoning_parser_kwargs", []),
        ("features", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
async def test_wrong_type_is_refused(wire, field, value):
    """A field of the wrong type is a 400 that names it."""
    refused(await wire.generate(BODY, **{field: value}), param=field)
    await still_answers(wire)


@requirement("generate.request.method-and-type-checked")
async def test_get_is_not_allowed(wire):
    """GET on the route is a 405, which says that the route exists; a POST is served."""
    (await wire.get(GENERATE)).expect(405)
    await still_answers(wire)
