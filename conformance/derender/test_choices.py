"""Every choice comes back, in order, with its own index, text and finish reason.

Catches a node that keeps the first choice, renumbers chat choices, restarts the index with each
completions response, or rewrites finish_reason.
"""

import pytest

from conformance.support import encode, response
from fixtures.case import Node, capability, own_id, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

REASONS = ["stop", "length", "abort"]


@requirement("derender.chat.one-choice-per-output")
@capability("derender.chat")
async def test_chat_choices_keep_index_and_order(wire):
    """Three choices in the order they were given, also when that is not their index's order."""
    body = response(encode("a"), encode("é"), encode("🦊"))
    body["choices"] = [body["choices"][at] for at in (2, 0, 1)]
    answer = (await wire.derender_chat(generate_response=body)).expect(200).json
    found = [(choice["index"], choice["message"]["content"]) for choice in answer["choices"]]
    assert found == [(2, "🦊"), (0, "a"), (1, "é")]


@requirement("derender.completions.one-choice-per-output")
@capability("derender.completions")
async def test_completions_choices_are_numbered_through(wire):
    """Two prompts of two and one outputs: choices 0, 1, 2, and the first prompt's id."""
    bodies = [
        response(encode("a"), encode("é"), request_id=own_id("first")),
        response(encode("🦊"), request_id=own_id("second")),
    ]
    answer = (await wire.derender_completions(generate_responses=bodies)).expect(200).json
    found = [(choice["index"], choice["text"]) for choice in answer["choices"]]
    assert (answer["id"], found) == (own_id("first"), [(0, "a"), (1, "é"), (2, "🦊")])


@requirement("derender.finish-reason.forwarded")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("reason", REASONS)
async def test_finish_reason_is_forwarded(wire, reason):
    """Without a tool call both routes say what generate said."""
    body = response({"token_ids": [30], "finish_reason": reason})
    chat = (await wire.derender_chat(generate_response=body)).expect(200).json
    completion = (await wire.derender_completions(generate_responses=[body])).expect(200).json
    found = [answer["choices"][0]["finish_reason"] for answer in (chat, completion)]
    assert found == [reason, reason]


@requirement("derender.token-ids.on-request")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("asked", [None, False, True])
async def test_token_ids_are_returned_on_request_only(wire, asked):
    """return_token_ids gives the output's and the prompt's ids; otherwise both are null."""
    fields = {} if asked is None else {"return_token_ids": asked}
    body = response([30, 31], prompt_token_ids=[7, 8])
    chat = await wire.derender_chat(
        generate_response=body, chat_request={"model": "tiny", "messages": [], **fields}
    )
    completion = await wire.derender_completions(
        generate_responses=[body], completion_request={"model": "tiny", "prompt": "a", **fields}
    )
    chat, completion = chat.expect(200).json, completion.expect(200).json
    found = [
        (chat["choices"][0]["token_ids"], chat["prompt_token_ids"]),
        (completion["choices"][0]["token_ids"], completion["choices"][0]["prompt_token_ids"]),
    ]
    assert found == [([30, 31], [7, 8]) if asked else (None, None)] * 2
