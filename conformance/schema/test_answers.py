"""Every kind of answer is strict JSON that the node's own OpenAPI document declares.

Catches a node that sends NaN, a key twice, a key that no client was told of, a null where the
document has none, or leaves a required key out.
"""

import pytest

from conformance.kinds import FLAGS, KINDS, parameters
from conformance.schema.support import JSON, STREAM, answer_schema, document_of, parts
from fixtures.case import Node, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    pytest.mark.usefixtures("capable"),
]

ANSWERED = [name for name, kind in KINDS.items() if not kind.refused and name != "generate.abort"]
REFUSED = [name for name, kind in KINDS.items() if kind.refused and not kind.error_event]


async def of(kind, wire, lease):
    """The wire to the node the kind wishes for."""
    return wire if kind.node == "plain" else await lease(Node("real", *FLAGS[kind.node]))


def faults_of(document, kind, sent, answer):
    schema = answer_schema(document, kind, sent, answer)
    return [fault for part in parts(answer) for fault in document.faults(part, schema)]


@requirement("schema.answers.strict-json")
@pytest.mark.parametrize("kind", parameters(*KINDS))
async def test_answer_is_strict_json(wire, lease, kind):
    """Status, content type and a body that a strict parser takes; a stream ends with [DONE]."""
    wire = await of(kind, wire, lease)
    answer = (await kind.send(wire, wire.node)).expect(kind.status)
    if kind.streams(wire.node):
        assert answer.headers["content-type"].partition(";")[0] == STREAM
        assert answer.chunks and answer.done
    elif answer.body:
        assert answer.headers["content-type"] == JSON
        assert answer.json is not None


@requirement("schema.answers.valid")
@pytest.mark.parametrize("kind", parameters(*ANSWERED))
async def test_answer_is_what_the_document_says(wire, lease, kind):
    """No undeclared key, no undeclared null, no missing key, no other type, in any part."""
    wire = await of(kind, wire, lease)
    document, sent = await document_of(wire), kind.body_for(wire.node)
    answer = (await kind.send(wire, wire.node)).expect(200)
    assert faults_of(document, kind, sent, answer) == []


@requirement("schema.errors.valid")
@pytest.mark.parametrize("kind", parameters(*REFUSED))
async def test_refusal_is_what_the_document_says(wire, lease, kind):
    """Its status is documented, and its body is as the document has it."""
    wire = await of(kind, wire, lease)
    document, sent = await document_of(wire), kind.body_for(wire.node)
    answer = (await kind.send(wire, wire.node)).expect(kind.status)
    assert faults_of(document, kind, sent, answer) == []


@requirement("schema.errors.shape")
@pytest.mark.parametrize("kind", parameters(*REFUSED))
async def test_refusal_has_the_shape_of_every_error(wire, lease, kind):
    """message, type, param and code in this order; the code is the status."""
    wire = await of(kind, wire, lease)
    answer = (await kind.send(wire, wire.node)).expect(kind.status)
    assert list(answer.json) == ["error"]
    error = answer.json["error"]
    assert list(error) == ["message", "type", "param", "code"]
    assert error["code"] == answer.status
    assert error["message"].strip() and error["type"].strip()
