"""request_id: chosen by the client or the server, prefixed, the same on every chunk, never shared
by accident.
"""

import uuid

import pytest

from conformance.generate import GREEDY, PROMPT, refused, still_answers
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

BODY = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 3}}


async def ids(wire, stream, **given):
    """The set of request ids in one answer."""
    if stream:
        answer = await wire.generate_stream(BODY, stream_options={"include_usage": True}, **given)
        assert len(answer.expect(200).chunks) >= 2
        return {chunk["request_id"] for chunk in answer.chunks}
    return {(await wire.generate(BODY, **given)).expect(200).json["request_id"]}


@requirement("generate.request-id.client-chooses")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize("source", ["body", "header", "header-over-body"])
async def test_client_chooses_the_id(wire, source, stream):
    """The answer's id is `generate-tokens-` and the client's: the header X-Request-Id before the
    body's field.
    """
    chosen = f"case-{uuid.uuid4().hex}"
    given = {"request_id": chosen} if source == "body" else {"headers": {"X-Request-Id": chosen}}
    if source == "header-over-body":
        given["request_id"] = f"other-{uuid.uuid4().hex}"
    assert await ids(wire, stream, **given) == {f"generate-tokens-{chosen}"}


@requirement("generate.request-id.server-chooses-unique")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_server_chooses_a_new_one_each_time(wire, stream):
    """Without one from the client, each request has its own prefixed id, the same on all its
    chunks.
    """
    seen = [await ids(wire, stream) for _ in range(4)]
    assert all(len(one) == 1 for one in seen)
    seen = set().union(*seen)
    assert len(seen) == 4
    assert all(
        one.startswith("generate-tokens-") and len(one) > len("generate-tokens-") + 8
        for one in seen
    )


@requirement("generate.request.field-types-checked")
@pytest.mark.parametrize("request_id", [5, ["a"], {}], ids=["integer", "list", "object"])
async def test_non_string_is_refused(wire, request_id):
    """A request_id that is no string is a 400 that names the field."""
    refused(await wire.generate(BODY, request_id=request_id), param="request_id")
    await still_answers(wire)
