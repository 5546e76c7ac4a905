"""Every kind of answer is strict JSON that the node's own OpenAPI document declares.

Catches a node that sends NaN, a key twice, a key that no client was told of, a null where the
document has none, or leaves a required key out.
"""

import pytest

from conformance.kinds import KINDS, parameters
from conformance.schema.support import (
    JSON,
    STREAM,
    answer_schema,
    answered,
    document_of,
    parts,
)
from fixtures.case import Node, capability, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    pytest.mark.usefixtures("capable"),
]

ANSWERED = [name for name, kind in KINDS.items() if not kind.refused and name != "generate.abort"]
REFUSED = [name for name, kind in KINDS.items() if kind.refused and not kind.error_event]


async def faults_of(kind, wire, lease) -> list[str]:
    """What the document of the node says against its answer."""
    answer, wire = await answered(kind, wire, lease)
    document = await document_of(wire)
    schema = answer_schema(document, kind, answer)
    return [fault for part in parts(answer) for fault in document.faults(part, schema)]


@requirement("schema.answers.strict-json")
@pytest.mark.parametrize("kind", parameters(*KINDS))
async def test_answer_is_strict_json(wire, lease, kind):
    """Status, content type and a body that a strict parser takes; a stream ends with [DONE]."""
    answer, wire = await answered(kind, wire, lease)
    if kind.streams(wire.node) and answer.status == 200:
        assert answer.headers["content-type"].partition(";")[0] == STREAM
        assert answer.chunks and answer.done
    elif answer.body:
        assert answer.headers["content-type"] == JSON
        assert answer.json is not None


@requirement("schema.answers.valid")
@capability("openapi")
@pytest.mark.parametrize("kind", parameters(*ANSWERED))
async def test_answer_is_what_the_document_says(wire, lease, kind):
    """No undeclared key, no undeclared null, no missing key, no other type, in any part."""
    assert await faults_of(kind, wire, lease) == []


@requirement("schema.errors.valid")
@capability("openapi")
@pytest.mark.parametrize("kind", parameters(*REFUSED))
async def test_refusal_is_what_the_document_says(wire, lease, kind):
    """Its status is documented, and its body is as the document has it."""
    assert await faults_of(kind, wire, lease) == []


@requirement("schema.errors.shape")
@pytest.mark.parametrize("kind", parameters(*REFUSED))
async def test_refusal_has_the_shape_of_every_error(wire, lease, kind):
    """message, type, param and code in this order; the code is the status."""
    answer, _ = await answered(kind, wire, lease)
    assert list(answer.json) == ["error"]
    error = answer.json["error"]
    assert list(error) == ["message", "type", "param", "code"]
    assert error["code"] == answer.status
    assert error["message"].strip() and error["type"].strip()
