"""A derendered answer has the whole body of the coupled route, key by key.

Catches a node that leaves out null keys, invents usage, forgets the caller's id or the model, or
answers with another route's object.
"""

import time

import pytest

from conformance.support import chunk, encode, response, since
from fixtures.case import Node, capability, own_id, requirement

pytestmark = pytest.mark.parametrize(
    "node", [Node("real"), Node("none", role="render")], indirect=True
)

HELLO = encode("hello world")
MESSAGE = {
    "role": "assistant",
    "content": "hello world",
    "refusal": None,
    "annotations": None,
    "audio": None,
    "function_call": None,
    "reasoning": None,
}


def usage(node, prompt: int, completion: int) -> dict:
    """The usage object of a release."""
    counts = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": None,
    }
    return counts | ({"completion_tokens_details": None} if since(node, "0.28.0") else {})


def choice_tail(node) -> dict:
    """The keys every derendered choice ends with."""
    return {"token_ids": None, "routed_experts": None} | (
        {"weight_versions": None} if since(node, "0.33.0") else {}
    )


def answer_tail(node) -> dict:
    """The keys every derendered answer ends with."""
    body = {"service_tier": None, "system_fingerprint": None, "kv_transfer_params": None}
    if since(node, "0.25.1"):
        body["metrics"] = None
    if since(node, "0.26.0"):
        body["ec_transfer_params"] = None
    return body


def chunk_choice_tail(node) -> dict:
    """The keys every derendered chunk's choice ends with."""
    return {"token_ids": None} | ({"weight_versions": None} if since(node, "0.33.0") else {})


def chunk_tail(node) -> dict:
    """The keys every derendered chunk ends with."""
    body = {"system_fingerprint": None}
    if since(node, "0.27.1"):
        body["metrics"] = None
    if since(node, "0.33.0"):
        body["kv_transfer_params"] = None
    return body


async def dated(call, *args, **fields) -> dict:
    """The body without `created` (a stream has it in its chunk), which must lie within the call."""
    before = int(time.time())
    body = (await call(*args, **fields)).expect(200).json
    assert before <= body.get("chunk", body).pop("created") <= time.time()
    return body


async def streamed(call, **fields) -> dict:
    """The chunk of a streamed answer without `created`; beside it is nothing but a state."""
    body = await dated(call, stream=True, **fields)
    assert body.keys() == {"chunk", "stream_state"}
    assert isinstance(body["stream_state"], dict)
    return body["chunk"]


@requirement("derender.chat.body-exact")
@capability("derender.chat")
async def test_chat_body_is_exact(wire, node):
    """The whole chat.completion object, but for the clock."""
    body = await dated(wire.derender_chat, generate_response=response(HELLO), prompt_tokens=3)
    choice = {
        "index": 0,
        "message": MESSAGE,
        "logprobs": None,
        "finish_reason": "length",
        "stop_reason": None,
        **choice_tail(node),
    }
    tail = answer_tail(node) | dict.fromkeys(["prompt_logprobs", "prompt_token_ids", "prompt_text"])
    assert body == {
        "id": own_id("r"),
        "object": "chat.completion",
        "model": "tiny",
        "choices": [choice],
        "usage": usage(node, 3, len(HELLO)),
        **tail,
    }


@requirement("derender.completions.body-exact")
@capability("derender.completions")
async def test_completions_body_is_exact(wire, node):
    """The whole text_completion object, but for the clock."""
    body = await dated(
        wire.derender_completions, generate_responses=[response(HELLO)], prompt_tokens=[3]
    )
    choice = {
        "index": 0,
        "text": "hello world",
        "logprobs": None,
        "finish_reason": "length",
        "stop_reason": None,
        "prompt_logprobs": None,
        "prompt_token_ids": None,
        **choice_tail(node),
    }
    assert body == {
        "id": own_id("r"),
        "object": "text_completion",
        "model": "tiny",
        "choices": [choice],
        "usage": usage(node, 3, len(HELLO)),
        **answer_tail(node),
    }


@requirement("derender.stream.body-exact")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_streamed_chat_body_is_exact(wire, node):
    """A first chunk, whole but for the clock, and a state to hand back."""
    part = await streamed(wire.derender_chat, generate_chunk=chunk(HELLO))
    choice = {
        "index": 0,
        "delta": {"role": "assistant", "content": "hello world", "reasoning": None},
        "logprobs": None,
        "finish_reason": None,
        "stop_reason": None,
        **chunk_choice_tail(node),
    }
    tail = chunk_tail(node) | {"prompt_token_ids": None}
    if since(node, "0.27.1"):
        tail["prompt_text"] = None
    assert part == {
        "id": own_id("r"),
        "object": "chat.completion.chunk",
        "model": "tiny",
        "choices": [choice],
        "usage": None,
        **tail,
    }


@requirement("derender.stream.body-exact")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_streamed_completions_body_is_exact(wire, node):
    """The same for completions."""
    part = await streamed(wire.derender_completions, generate_chunk=chunk(HELLO, "stop"))
    choice = {
        "index": 0,
        "text": "hello world",
        "logprobs": None,
        "finish_reason": "stop",
        "stop_reason": None,
        "prompt_token_ids": None,
        **chunk_choice_tail(node),
    }
    assert part == {
        "id": own_id("r"),
        "object": "text_completion",
        "model": "tiny",
        "choices": [choice],
        "usage": None,
        **chunk_tail(node),
    }
