"""Which answers mean that a node has a capability: those that releases give, and wrong ones."""

import json
from typing import Any

import httpx
import pytest

from fixtures.capabilities import CAPABILITIES, CATALOGUED, contradiction, probe
from fixtures.nodes.spec import NodeSpec
from fixtures.releases import catalogue
from fixtures.wire import NodeUnreachable, Wire

ABSENT_ROUTE = [
    (404, {"detail": "Not Found"}),
    (405, {"detail": "Method Not Allowed"}),
    (501, {"error": {"message": "not implemented", "code": 501}}),
    (400, {"error": {"message": "Tokenizer not available when `skip_tokenizer_init=True`"}}),
    (403, {"error": {"message": "Scale-out endpoints are disabled. …", "code": 403}}),
]
# A node that is there and wrong: its cases must be judged, not excused.
WRONG = [
    (200, b""),
    (200, b"<html>"),
    (200, b"[]"),
    (200, b"null"),
    (404, b""),
    (404, {"error": {"message": "The model `tiny` does not exist.", "code": 404}}),
    (403, {"error": {"message": "Forbidden", "code": 403}}),
    (500, {"error": {"message": "boom", "code": 500}}),
    (400, b"not json"),
]


def stream(*chunks: Any) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks)


def refusal(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "BadRequestError", "code": 400}}


def derendered(logprobs: Any) -> dict[str, Any]:
    return {"chunk": {"choices": [{"logprobs": logprobs}]}, "stream_state": {}}


LITERAL = refusal("1 validation error:\n  {'type': 'literal_error', 'loc': 'body.output_mode'}")
ENTRY = {"logprob": -0.5, "top_logprobs": []}


async def asked(name: str, status: int, body: Any, kind: str | None = "application/json"):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": kind} if kind else {}
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status, content=content, headers=headers)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        present, exchange = await probe(name, Wire("http://node", "node-1", client=client))
    assert len(requests) == 1
    assert exchange.status == status
    return present


@pytest.mark.parametrize("name", CAPABILITIES)
@pytest.mark.parametrize(("status", "body"), ABSENT_ROUTE)
async def test_an_absent_route_is_an_absent_capability(name, status, body):
    assert not await asked(name, status, body)


@pytest.mark.parametrize("name", CAPABILITIES)
async def test_a_rust_server_says_nothing_of_a_route_it_does_not_have(name):
    assert not await asked(name, 404, b"", None)


# Where these are accepted in any way, nobody reads the field.
READ = {"generate-stream", "parse-context", "return-token-ids", "assistant-mask"}


@pytest.mark.parametrize("name", sorted(CAPABILITIES.keys() - READ))
@pytest.mark.parametrize(("status", "body"), WRONG)
async def test_a_wrong_answer_is_no_excuse(name, status, body):
    assert await asked(name, status, body)


@pytest.mark.parametrize(
    ("name", "status", "body", "present"),
    [
        ("generate-stream", 200, {"choices": []}, False),
        ("derender.chat.stream", 400, refusal("generate_response Field required"), False),
        ("derender.chat.stream", 400, refusal("prompt_token_ids is required"), True),
        ("derender.chat.stream", 200, {"chunk": {}, "stream_state": {}}, True),
        ("derender.completions.stream", 400, refusal("generate_responses missing"), False),
        ("output-mode.text", 200, {"choices": []}, False),
        ("output-mode.text", 200, {"output_mode": "tokens"}, False),
        ("output-mode.text", 200, {"output_mode": "text"}, True),
        ("output-mode.text", 400, refusal('Only output_mode="tokens" is supported.'), False),
        ("output-mode.text", 400, refusal("output_mode='text' requires a tokenizer"), False),
        ("output-mode.text", 400, refusal("token_ids out of vocabulary"), True),
        ("output-mode.derender", 400, LITERAL, False),
        ("output-mode.derender", 400, refusal("unknown variant `derender`, expected"), False),
        ("output-mode.derender", 200, {"output_mode": "derender"}, True),
        (
            "output-mode.derender.stream",
            400,
            refusal("output_mode='derender' does not support stream=true."),
            False,
        ),
        ("integer-logprobs", 200, {"choices": [{"logprobs": {"content": [ENTRY]}}]}, False),
        (
            "integer-logprobs",
            200,
            {"choices": [{"logprobs": {"content": [{**ENTRY, "token_id": 5}]}}]},
            True,
        ),
        ("stop-reason", 200, {"choices": [{"finish_reason": "length"}]}, False),
        ("stop-reason", 200, {"choices": [{"stop_reason": None}]}, True),
        ("reasoning-ended", 200, {"token_ids": [20]}, False),
        ("reasoning-ended", 200, {"reasoning_ended": None}, True),
        ("derender.chat.stream.logprobs", 200, derendered(None), False),
        ("derender.chat.stream.logprobs", 200, derendered({"content": []}), True),
        ("derender.completions.stream.logprobs", 200, derendered(None), False),
        ("derender.completions.stream.logprobs", 400, refusal("generate_responses missing"), False),
        ("derender.completions.stream.logprobs", 400, refusal("token Field required"), True),
        ("parse-context", 200, {"choices": []}, False),
        ("parse-context", 400, refusal("body.parse_context"), True),
        ("assistant-mask", 200, {"token_ids": [20]}, False),
        ("assistant-mask", 400, refusal("body.return_assistant_tokens_mask"), True),
        ("return-token-ids", 200, {"choices": []}, False),
        ("return-token-ids", 400, refusal("body.return_token_ids"), True),
        ("parallel-sampling", 400, refusal("Only n=1 is supported."), False),
        ("parallel-sampling", 400, refusal("n must be 1 with greedy sampling."), True),
        ("stop-strings", 400, refusal("stop is not supported."), False),
        ("stop-strings", 400, refusal("stop must not be empty."), True),
    ],
)
async def test_a_release_is_known_by_its_answer(name, status, body, present):
    assert await asked(name, status, body) is present


@pytest.mark.parametrize(
    ("name", "chunks", "present"),
    [
        ("generate-stream", [{"choices": []}], True),
        ("output-mode.derender.stream", [{"output_mode": "derender"}], True),
        ("output-mode.derender.stream", [{"choices": []}], False),
        ("output-mode.derender.stream", [{"error": {"message": "boom"}}], True),
        ("output-mode.derender.stream", [], True),
    ],
)
async def test_a_stream_is_known_by_its_first_chunk(name, chunks, present):
    assert await asked(name, 200, stream(*chunks), "text/event-stream") is present


async def test_an_unknown_name_and_a_dead_node_are_errors():
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    async with httpx.AsyncClient(transport=httpx.MockTransport(refuse)) as client:
        wire = Wire("http://node", "node-1", client=client)
        with pytest.raises(KeyError):
            await probe("telepathy", wire)
        with pytest.raises(NodeUnreachable):
            await probe("generate", wire)


def spec(implementation: str, release: str, engine: str = "cpu", **fields) -> NodeSpec:
    return NodeSpec(release, implementation, engine, **fields)


def test_the_catalogue_of_releases_speaks_of_every_probe():
    assert CATALOGUED.keys() == CAPABILITIES.keys()
    assert set(CATALOGUED.values()) - {None, ""} <= catalogue.load().capabilities.keys()


@pytest.mark.parametrize(
    ("node", "name", "present", "wrong"),
    [
        (spec("stock", "0.33.0"), "abort-route", True, False),
        (spec("stock", "0.33.0"), "abort-route", False, True),
        (spec("stock", "0.31.0"), "abort-route", False, False),
        (spec("stock", "0.31.0"), "abort-route", True, True),
        (spec("stock", "0.33.0", "cuda"), "abort-route", False, True),
        (spec("stock", "0.33.0"), "output-mode.derender.stream", True, True),
        (spec("stock", "0.20.2"), "coupled.chat", False, True),
        # The reference and a server that was started elsewhere may have more.
        (spec("reference", "0.33.0"), "abort-route", False, True),
        (spec("reference", "0.31.0"), "abort-route", True, False),
        (spec("stock", "0.33.0", "given"), "abort-route", False, True),
        (spec("stock", "0.31.0", "given"), "abort-route", True, False),
        # What a flag, the environment or the role may explain is no contradiction.
        (spec("stock", "0.33.0", flags=("--tokens-only",)), "render.chat", False, False),
        (spec("stock", "0.33.0", env=(("A", "b"),)), "abort-route", False, False),
        (spec("stock", "0.33.0", "none", role="render"), "abort-route", False, False),
        (spec("stock", "0.33.0", "given", role="render"), "abort-route", False, False),
        (spec("stock", "0.33.0", "scripted"), "abort-route", False, False),
        # Nothing is known of these.
        (spec("rust", "0.33.0"), "abort-route", False, False),
        (spec("mine:install", "0.33.0"), "abort-route", False, False),
        (spec("stock", "0.99.0"), "abort-route", False, False),
        (spec("stock", "0.33.0"), "telepathy", False, False),
    ],
)
def test_a_probe_may_contradict_the_catalogue_of_releases(node, name, present, wrong):
    sentence = contradiction(name, present, node)
    assert bool(sentence) is wrong
    if wrong:
        found, said = ("has", "has not") if present else ("has not", "has")
        assert sentence.startswith(f"the probe says that {node.target} {found} {name}, and the cat")
        assert f" that it {said} " in sentence
