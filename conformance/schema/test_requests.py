"""What the document says of a request is what the node takes, and what it refuses.

Catches a document that lacks a field the node reads, one that promises a field the node refuses,
and a node that takes a value of a type its document excludes, or breaks on it.
"""

import pytest

from conformance.kinds import KINDS, parameters
from conformance.kinds.kind import ROUTES
from conformance.schema.support import answered, document_of
from conformance.support import without
from fixtures.case import Node, requirement
from fixtures.wire import OMIT

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    pytest.mark.usefixtures("capable"),
    pytest.mark.capability("openapi"),
]

# The abort route reads its body itself, and declares none (schema.routes.body-declared).
SENT = [name for name, kind in KINDS.items() if not kind.refused and kind.route != "abort"]
# A valid request of each route, to be spoilt.
PLAIN = {
    kind.route: (name, kind)
    for name, kind in reversed(KINDS.items())
    if name in SENT and kind.node == "plain"
}


@requirement("schema.requests.declared")
@pytest.mark.parametrize("kind", parameters(*SENT))
async def test_a_request_that_is_served_is_declared(wire, lease, kind):
    """The node serves it; by its document every key of it is known, and every value allowed."""
    answer, wire = await answered(kind, wire, lease)
    document = await document_of(wire)
    assert document.faults(answer.request, document.request(kind.path)) == []


@requirement("schema.requests.refused")
@pytest.mark.parametrize(
    "route",
    [
        pytest.param(route, marks=[pytest.mark.capability(*PLAIN[route][1].needs)])
        for route in ROUTES
        if route in PLAIN
    ],
)
async def test_what_the_document_refuses_the_node_refuses(wire, node, route):
    """Each declared field with a value of no type it has, and without each required one: a 4xx."""
    document, kind = await document_of(wire), PLAIN[route][1]
    schema, body = document.request(kind.path), {"model": "tiny", **kind.body_for(node)}
    spoilt = {
        name: {**body, name: {"no": ["such", "value"]}} for name in document.properties(schema)
    }
    spoilt |= {f"no {name}": without(body, name) for name in body}
    served, refused = {}, 0
    for name, sent in spoilt.items():
        if not document.faults(sent, schema, strict=False):
            continue
        answer = await wire.post(kind.path, {"model": OMIT, **sent})
        if 400 <= answer.status < 500:
            refused += 1
        else:
            served[name] = answer.status
    assert served == {} and refused > 0
