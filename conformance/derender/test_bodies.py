"""A derendered answer has the whole body of the coupled route, key by key.

Catches a node that leaves out null keys, invents usage, forgets the caller's id or the model, or
answers with another route's object.
"""

import time

import pytest

from conformance.support import chunk, encode, response, since
from fixtures.case import Node, capability, requirement

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
    if since(node, "0.26.0"):
        body["ec_transfer_params"] = None
    if since(node, "0.28.0"):
        body["metrics"] = None
    return body


async def dated(call, *args, **fields) -> dict:
    """The answer's body without `created`, which must lie within the call."""
    before = int(time.time())
    body = (await call(*args, **fields)).expect(200).json
    assert before <= body.pop("created") <= time.time()
    return body


@requirement("derender.chat.body-exact")
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
    tail = answer_tail(node) | {"prompt_logprobs": None, "prompt_token_ids": None}
    if since(node, "0.28.0"):
        tail["prompt_text"] = None
    assert body == {
        "id": "r-1",
        "object": "chat.completion",
        "model": "tiny",
        "choices": [choice],
        "usage": usage(node, 3, len(HELLO)),
        **tail,
    }


@requirement("derender.completions.body-exact")
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
        "id": "r-1",
        "object": "text_completion",
        "model": "tiny",
        "choices": [choice],
        "usage": usage(node, 3, len(HELLO)),
        **answer_tail(node),
    }


@requirement("derender.stream.body-exact")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_streamed_chat_body_is_exact(wire):
    """A first chunk: role and text in the delta, and a state to hand back."""
    answer = await wire.derender_chat(stream=True, generate_chunk=chunk(HELLO))
    body = answer.expect(200).json
    assert body.keys() == {"chunk", "stream_state"}
    part = body["chunk"]
    assert (part["id"], part["object"], part["model"]) == ("r-1", "chat.completion.chunk", "tiny")
    (choice,) = part["choices"]
    assert choice["delta"] == {"role": "assistant", "content": "hello world", "reasoning": None}
    names = ("index", "logprobs", "finish_reason", "stop_reason", "token_ids")
    assert [choice[name] for name in names] == [0, None, None, None, None]
    assert (part["usage"], isinstance(body["stream_state"], dict)) == (None, True)


@requirement("derender.stream.body-exact")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_streamed_completions_body_is_exact(wire):
    """The same for completions."""
    answer = await wire.derender_completions(stream=True, generate_chunk=chunk(HELLO, "stop"))
    body = answer.expect(200).json
    part = body["chunk"]
    assert (part["id"], part["object"], part["model"]) == ("r-1", "text_completion", "tiny")
    (choice,) = part["choices"]
    names = ("index", "text", "logprobs", "finish_reason", "stop_reason", "token_ids")
    assert [choice[name] for name in names] == [0, "hello world", None, "stop", None, None]
    assert (part["usage"], isinstance(body["stream_state"], dict)) == (None, True)
