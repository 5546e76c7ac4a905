"""Abort by request id: the request ends with finish_reason abort and what it has, the
others go on.
"""

import asyncio
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from conformance.generate import PROMPT, refused, running, told
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import hang, output, step
from fixtures.stopped import ends_within, let_go

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

ABORT = "/inference/v1/abort_requests"
PARAMS = {"max_tokens": 64, "ignore_eos": True}


async def abort(wire, *ids):
    answer = await wire.post(ABORT, {"request_ids": list(ids)})
    assert answer.expect(200).body == b""


@dataclass
class Hanging:
    """A request that waits for its abort: the client's id, the engine's, its script and answer."""

    client_id: str
    id: str
    script: str
    answer: asyncio.Task


@asynccontextmanager
async def hanging(wire, engine, steps, n=1, stream=False):
    """A request that has given `steps` and goes no further."""
    client_id = f"case-{uuid.uuid4().hex}"
    script = await engine.script([*steps, hang()])
    params = {**PARAMS, "n": n, "temperature": 1.0}
    sent = {"token_ids": PROMPT, "sampling_params": params, "request_id": client_id}
    send = wire.generate_stream if stream else wire.generate
    async with running(send(sent, script=script, timeout=20)) as answer:
        await engine.wait_for(script, "hanging")
        yield Hanging(client_id, f"generate-tokens-{client_id}", script, answer)


TOKENS = pytest.mark.parametrize(
    "ids", [[], [[40]], [[40], [41, 42]]], ids=["no-token", "one", "three"]
)


@requirement("generate.abort.full-gives-tokens-so-far")
@capability("abort-route")
@TOKENS
async def test_full_answer_has_the_tokens_so_far(wire, engine, ids):
    """An aborted full request is a 200 with finish_reason abort, the ids so far, and usage that
    counts them.
    """
    async with hanging(wire, engine, [output(token_ids=new) for new in ids]) as request:
        await abort(wire, request.id)
        answer = await request.answer
    flat = [token for new in ids for token in new]
    (choice,) = answer.expect(200).json["choices"]
    assert told(wire.node, choice) == (0, flat, "abort", None)
    assert answer.json["usage"]["completion_tokens"] == len(flat)


@requirement("generate.abort.stream-ends-with-abort")
@capability("abort-route")
@TOKENS
async def test_stream_ends_with_an_empty_abort_chunk(wire, engine, ids):
    """An aborted stream has its chunks so far, one chunk with no ids and finish_reason abort, and
    [DONE].
    """
    async with hanging(
        wire, engine, [output(token_ids=new) for new in ids], stream=True
    ) as request:
        await abort(wire, request.id)
        answer = await request.answer
    chunks = [
        told(wire.node, choice)
        for chunk in answer.expect(200).chunks
        for choice in chunk["choices"]
    ]
    assert chunks == [(0, new, None, None) for new in ids] + [(0, [], "abort", None)]
    assert answer.done


@requirement("generate.abort.reaches-engine")
@capability("abort-route")
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_every_choice_is_aborted_in_the_engine(wire, engine, n, stream):
    """An abort stops every choice in the engine, and every choice says abort."""
    first = step(*(output(index=index, token_ids=[40 + index]) for index in range(n)))
    async with hanging(wire, engine, [first], n=n, stream=stream) as request:
        await let_go(engine, request.script, abort(wire, request.id))
        answer = await request.answer
        calls = await engine.calls(request.script)
    bodies = answer.chunks if stream else [answer.expect(200).json]
    ends = {
        choice["index"]: choice["finish_reason"] for body in bodies for choice in body["choices"]
    }
    assert ends == dict.fromkeys(range(n), "abort")
    aborted = [index for call in calls if call["event"] == "abort" for index in call["indexes"]]
    assert sorted(aborted) == list(range(n))


@requirement("generate.abort.ends-the-named-alone")
@capability("abort-route")
async def test_the_other_request_goes_on(wire, engine):
    """Of two running requests only the named one ends; an unknown id ends none."""
    steps = [output(token_ids=[40]), {"wait": "go"}, output(token_ids=[41], finish_reason="stop")]
    name = await engine.script(steps)
    sent = {"token_ids": PROMPT, "sampling_params": PARAMS}
    async with running(wire.generate(sent, script=name)) as other:
        async with hanging(wire, engine, [output(token_ids=[50])]) as request:
            await engine.wait_for(name, "add_request")
            await abort(wire, f"generate-tokens-{uuid.uuid4().hex}")
            await abort(wire, request.id)
            aborted = await request.answer
        await engine.release(name, "go")
        answer = await other
    assert told(wire.node, aborted.expect(200).json["choices"][0]) == (0, [50], "abort", None)
    assert told(wire.node, answer.expect(200).json["choices"][0]) == (0, [40, 41], "stop", None)


@requirement("generate.abort.ends-the-named-alone")
@capability("abort-route")
async def test_several_ids_in_one_call(wire, engine):
    """One call aborts every id it names."""
    async with (
        hanging(wire, engine, [output(token_ids=[40])]) as one,
        hanging(wire, engine, [output(token_ids=[50])]) as other,
    ):
        await abort(wire, one.id, other.id)
        answers = [await one.answer, await other.answer]
    got = [told(wire.node, answer.expect(200).json["choices"][0]) for answer in answers]
    assert got == [(0, [40], "abort", None), (0, [50], "abort", None)]


@requirement("generate.abort.client-id-works")
@capability("abort-route")
async def test_the_clients_own_id_aborts(wire, engine):
    """The id a client gave, without the server's prefix, names its request too; a 200 that does
    nothing is silent.

    Allowed: the request ends with abort, or the abort call is refused with a 4xx that says why.
    """
    async with hanging(wire, engine, [output(token_ids=[40])]) as request:
        answer = await wire.post(ABORT, {"request_ids": [request.client_id]})
        if answer.status == 200:
            assert await ends_within(request.answer, 2), "200 to the abort, and the request runs on"
            got = request.answer.result().expect(200).json["choices"][0]
            assert told(wire.node, got) == (0, [40], "abort", None)
        else:
            refused(answer, 400, 404, 422)


@requirement("generate.abort.body-checked")
@capability("abort-route")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"request_ids": None},
        {"ids": ["a"]},
        b'{"request_ids": [',
        b"",
        b"[]",
        b'"a"',
        b"5",
        b"null",
    ],
    ids=[
        "empty-object",
        "null",
        "other-key",
        "cut-off",
        "no-body",
        "array",
        "string",
        "number",
        "null-body",
    ],
)
async def test_body_without_request_ids_is_a_400(wire, engine, body):
    """An abort that names no request is a 400, whatever JSON it is; one that does is a 200."""
    refused(await wire.post(ABORT, body))
    async with hanging(wire, engine, [output(token_ids=[40])]) as request:
        await abort(wire, request.id)
        assert told(wire.node, (await request.answer).expect(200).json["choices"][0]) == (
            0,
            [40],
            "abort",
            None,
        )
