"""However a node writes a large answer, its bytes and headers are those of any other answer.

Catches a node that renders logprobs by a faster way of its own and differs in it: in a key's place,
in white space, in an escape, in a header.
"""

import json

import pytest

from conformance.kinds import KINDS
from conformance.schema.support import answer_schema, document_of
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

PROMPT = [20, 21, 22]


async def generated(wire, k: int | None, tokens: int):
    """An answer of that many tokens, with the node's own logprobs, without a script."""
    sampling = {"logprobs": k, "max_tokens": tokens, "ignore_eos": True, "temperature": 0.0}
    answer = await wire.generate(token_ids=PROMPT, sampling_params=sampling)
    (choice,) = answer.expect(200).json["choices"]
    assert len(choice["token_ids"]) == tokens
    assert (choice["logprobs"] is None) == (k is None)
    return answer


def out_of_order(document, value, schema, path="$") -> list[str]:
    """Where in `value` the keys do not stand as `schema` declares them."""
    meant = document.meant(value, schema)
    if isinstance(value, list):
        below = {at: (item, meant.get("items", {})) for at, item in enumerate(value)}
        faults = []
    elif isinstance(value, dict) and (declared := meant.get("properties")):
        below = {key: (value[key], declared[key]) for key in declared if key in value}
        faults = [] if list(value) == list(below) else [f"{path}: {list(value)}"]
    else:
        return []
    for key, (item, own) in below.items():
        faults += out_of_order(document, item, own, f"{path}.{key}")
    return faults


@requirement("schema.answers.plain-dump")
@capability("openapi")
@pytest.mark.parametrize("tokens", [1, 37, 500])
@pytest.mark.parametrize("k", [None, 0, 1, 3, 8])
async def test_bytes_are_those_of_a_plain_dump(wire, k, tokens):
    """The body is the compact dump of its own value, keys in the order of vLLM's model (LPS-15)."""
    answer = await generated(wire, k, tokens)
    plain = json.dumps(answer.json, ensure_ascii=False, separators=(",", ":"))
    assert answer.body == plain.encode()
    document = await document_of(wire)
    schema = answer_schema(document, KINDS["generate.greedy"], answer)
    assert document.faults(answer.json, schema) == []
    assert out_of_order(document, answer.json, schema) == []


@requirement("schema.answers.same-headers")
@pytest.mark.parametrize("tokens", [1, 500])
@pytest.mark.parametrize("k", [0, 8])
async def test_headers_are_those_of_any_answer(wire, k, tokens):
    """The same headers with the same values, and a length that is the body's (LPS-17)."""
    plain = (await wire.get("/v1/models")).expect(200)
    scored = await generated(wire, k, tokens)
    assert scored.headers["content-length"] == str(len(scored.body))
    assert headers_of(scored) == headers_of(plain)
    assert ("content-type", "application/json") in headers_of(scored)


def headers_of(answer) -> list[tuple[str, str]]:
    """Names and values, but for those that change by themselves."""
    changing = {"content-length", "date"}
    return [pair for pair in answer.headers.multi_items() if pair[0] not in changing]
