"""The engine fails: a full answer is a 5xx, a stream one error event, and the node goes on."""

import pytest

from conformance.generate import PROMPT, still_answers, told
from fixtures.case import Node, requirement
from fixtures.nodes.script import fail, output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

FAILED = (500, 502, 503)
PARAMS = {"max_tokens": 16, "ignore_eos": True}
FAILURES = {
    "exception": fail("RuntimeError", "the scripted engine failed"),
    "engine-error": fail("EngineGenerateError", "the scripted engine failed"),
    "finish-error": output(finish_reason="error"),
    "finish-error-with-id": output([49], finish_reason="error"),
}
EACH_FAILURE = pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
BEFORE = pytest.mark.parametrize("before", [[], [[40], [41, 42]]], ids=["at-once", "after-ids"])
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])


def error_of(body, status):
    """The error object of a refusal or an error event, with that code."""
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"message", "type", "param", "code"}
    assert body["error"]["code"] == status
    return body["error"]


async def send(wire, engine, stream, steps, **params):
    call = wire.generate_stream if stream else wire.generate
    fields = {"stream_options": {"include_usage": True}} if stream else {}
    name = await engine.script(steps)
    params = {**PARAMS, **params}
    return await call(token_ids=PROMPT, sampling_params=params, script=name, **fields)


@requirement("generate.engine-error.full-is-5xx")
@EACH_FAILURE
@BEFORE
async def test_full_answer_is_a_5xx(wire, engine, failure, before):
    """An engine failure is a 5xx with an error object, never a 200 with what was generated."""
    answer = await send(wire, engine, False, [*map(output, before), failure])
    assert answer.status in FAILED
    error_of(answer.json, answer.status)
    await still_answers(wire)


@requirement("generate.engine-error.stream-event")
@EACH_FAILURE
@BEFORE
async def test_stream_tells_the_error_and_ends(wire, engine, node, failure, before):
    """The chunks before it, one error event with a 5xx code, no finish reason or usage, [DONE]."""
    answer = await send(wire, engine, True, [*map(output, before), failure])
    *chunks, last = answer.expect(200).chunks
    deltas = [told(node, choice) for chunk in chunks for choice in chunk["choices"]]
    assert deltas == [(0, ids, None, None) for ids in before] and len(chunks) == len(before)
    assert error_of(last, last["error"]["code"])["code"] in FAILED
    assert answer.done
    await still_answers(wire)


@requirement("generate.engine-error.says-something")
@EACH_FAILURE
@FULL_OR_STREAM
async def test_error_has_a_message(wire, engine, failure, stream):
    """The error's message is not blank, so that a log of it says something."""
    answer = await send(wire, engine, stream, [failure])
    body = answer.chunks[-1] if stream else answer.json
    assert "error" in body, f"no error: {body}"
    assert body["error"]["message"].strip()


@requirement("generate.engine-error.one-choice-fails-all")
@FULL_OR_STREAM
async def test_one_failing_choice_fails_the_request(wire, engine, stream):
    """With n=2, one choice's failure is the request's: no 200 with the other choice alone."""
    steps = [
        output([40], index=0, finish_reason="stop"),
        output(index=1, finish_reason="error"),
    ]
    answer = await send(wire, engine, stream, steps, n=2, temperature=1.0)
    if stream:
        assert answer.expect(200).chunks[-1]["error"]["code"] in FAILED and answer.done
    else:
        assert answer.status in FAILED
        error_of(answer.json, answer.status)
    await still_answers(wire)
