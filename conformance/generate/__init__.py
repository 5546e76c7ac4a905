"""Generate: token ids in, token ids out, whole or as a stream. What the files of this chapter
share.
"""

import asyncio
import base64
import io
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import numpy

from conformance.support import since
from fixtures.nodes.lease import Lease
from fixtures.wire import Exchange, Wire

PROMPT = [20, 21, 22]
GREEDY = {"temperature": 0.0, "ignore_eos": True}


def refused(answer: Exchange, *statuses: int, param: str | None = None) -> None:
    """The answer is a refusal: one of `statuses` (400 alone by default) and vLLM's error body, no
    key more.

    `param`: the field that the error must name; not compared when None, as vLLM leaves it null for
    some fields.
    """
    status = answer.status
    assert status in (statuses or (400,)), (
        f"expected {statuses or 400}, got {status}: {answer.body[:300]!r}"
    )
    error = answer.json["error"]
    assert answer.json.keys() == {"error"} and error.keys() == {"message", "type", "param", "code"}
    assert error["code"] == status
    assert isinstance(error["message"], str) and isinstance(error["type"], str)
    assert error["message"].strip(), "an error without a message"
    if param is not None:
        assert param in (error["param"] or "").split("."), (
            f"param is {error['param']!r}, not {param!r}"
        )


def array_of(value: Any) -> numpy.ndarray:
    """The array of a wire value: base64 of a `.npy` file, which carries its own shape and dtype."""
    assert isinstance(value, str), f"not a string: {value!r:.100}"
    return numpy.load(io.BytesIO(base64.b64decode(value, validate=True)), allow_pickle=False)


def refused_in_stream(answer: Exchange) -> None:
    """A refusal of a stream request: a plain 400, or status 200 with one 400 error event and
    nothing else.

    The protocol is silent on which: vLLM answers 400 for what it sees before the first engine
    output is awaited, and an event for what its input processor refuses afterwards. Token chunks
    are wrong in both.
    """
    if answer.status != 200:
        return refused(answer)
    assert [chunk.keys() for chunk in answer.chunks] == [{"error"}]
    assert answer.chunks[0]["error"]["code"] == 400
    assert answer.chunks[0]["error"]["message"].strip(), "an error without a message"
    assert answer.done


async def still_answers(wire: Wire) -> None:
    """The node still serves a plain request: after a refusal, and as the positive side of it."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**GREEDY, "max_tokens": 3})
    choice = answer.expect(200).json["choices"][0]
    assert (len(choice["token_ids"]), choice["finish_reason"]) == (3, "length")


@asynccontextmanager
async def running(call: Coroutine) -> AsyncIterator[asyncio.Task[Exchange]]:
    """A call that runs beside the block; if it still does at the block's end, its client leaves."""
    task = asyncio.create_task(call)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def choices_of(answer: Exchange) -> list[dict]:
    """The choices of every token chunk, in the order they came."""
    chunks = answer.expect(200).chunks
    for chunk in chunks:
        assert "choices" in chunk, f"not a token chunk: {chunk}"
    return [choice for chunk in chunks for choice in chunk["choices"]]


def stop_reason(node: Lease, choice: dict) -> int | str | None:
    """A choice's stop_reason; None before 0.32, whose choices have no such key (EVOLUTION 2)."""
    return choice["stop_reason"] if since(node, "0.32.0") else choice.get("stop_reason")


def told(node: Lease, choice: dict) -> tuple:
    """(index, token_ids, finish_reason, stop_reason) of a choice."""
    reason = stop_reason(node, choice)
    return choice["index"], choice["token_ids"], choice["finish_reason"], reason


def deltas(node: Lease, answer: Exchange) -> list[tuple]:
    """What is `told` by every token chunk's choices, in the order they came."""
    return [told(node, choice) for choice in choices_of(answer)]


def joined(answer: Exchange) -> dict[int, list[int]]:
    """The token ids of a stream by choice."""
    tokens: dict[int, list[int]] = {}
    for choice in choices_of(answer):
        tokens.setdefault(choice["index"], []).extend(choice["token_ids"])
    return tokens
