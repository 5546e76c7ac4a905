"""A client can be generated from the document: each route's body and answer stand in it.

Catches a route without a response model: a generated client has no type for what it answers.
"""

import pytest

from conformance.kinds import KINDS, Kind
from conformance.schema.support import JSON, STREAM, document_of
from fixtures.case import Node, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    pytest.mark.usefixtures("capable"),
    pytest.mark.capability("openapi"),
]

# One kind for each route, and for each of its content types.
ANSWERS = {
    "generate": "generate.greedy",
    "generate-stream": "generate.stream",
    "chat-render": "render.chat",
    "completions-render": "render.completions",
    "messages-render": "render.messages",
    "responses-render": "render.responses",
    "chat-derender": "derender.chat",
    "completions-derender": "derender.completions",
    "chat": "coupled.chat",
    "chat-stream": "coupled.chat-stream-one-token",
    "completions": "coupled.completions",
    "completions-stream": "coupled.completions-stream",
}
BODIES = {kind.route: name for name, kind in reversed(KINDS.items()) if not kind.refused}


def each(names: dict[str, str]) -> list:
    return [
        pytest.param(KINDS[name], id=route, marks=[pytest.mark.capability(*KINDS[name].needs)])
        for route, name in names.items()
    ]


@requirement("schema.routes.answer-declared")
@pytest.mark.parametrize("kind", each(ANSWERS))
async def test_answer_is_declared(wire, kind: Kind):
    """The document has a schema for the route's answer of status 200."""
    answer = (await kind.send(wire, wire.node)).expect(200)
    content_type = STREAM if answer.is_event_stream else JSON
    assert (await document_of(wire)).answer(kind.path, 200, content_type)


@requirement("schema.routes.body-declared")
@pytest.mark.parametrize("kind", each(BODIES))
async def test_body_is_declared(wire, kind: Kind):
    """The document has a schema for what the route reads."""
    (await kind.send(wire, wire.node)).expect(200)
    assert (await document_of(wire)).request(kind.path)
