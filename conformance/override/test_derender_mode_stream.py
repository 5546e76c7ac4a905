"""Streamed output_mode="derender": each chunk follows the rule, and all join to the full answer."""

import pytest

from conformance.override.forced import (
    CHAT_WITH_LOGPROBS,
    PLAIN,
    PLAIN_TEXT,
    SPLIT,
    SPLIT_TEXT,
    steps,
    token_request,
)
from conformance.override.support import (
    TRI_STATE,
    by_placeholder,
    chat_logprobs,
    either_flag,
    empty_bytes_alike,
    server_flag,
    with_value,
)
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")


def of_choice(chunks, index):
    """What the chunks say about one choice, in order."""
    each = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]
    return {
        "text": "".join(choice["delta"].get("content") or "" for choice in each),
        "token_ids": [choice["token_ids"] for choice in each],
        "logprobs": [empty_bytes_alike(choice["logprobs"]) for choice in each],
    }


def expected(choice, text, as_ids):
    """The same, from the script."""
    return {
        "text": text,
        "token_ids": [token_ids for _, token_ids, _ in choice.chunks()],
        "logprobs": [
            chat_logprobs(content, as_ids, history=history)
            for history, _, content in choice.chunks()
        ],
    }


async def check(wire, engine, node, body, value):
    """The body, streamed with two choices whose chunks alternate."""
    body["sampling_params"]["n"] = 2
    script = await engine.script(steps((SPLIT, PLAIN), logprobs=5))
    answer = await wire.generate_stream({**body, "output_mode": "derender"}, script=script)
    chunks = answer.expect(200).chunks
    as_ids = by_placeholder(value, server_flag(node))
    assert answer.done
    assert {chunk["output_mode"] for chunk in chunks} == {"derender"}
    assert of_choice(chunks, 0) == expected(SPLIT, SPLIT_TEXT, as_ids)
    assert of_choice(chunks, 1) == expected(PLAIN, PLAIN_TEXT, as_ids)


async def rendered(wire, value):
    """The chat request with the value, rendered by the node itself for streaming."""
    request = with_value(CHAT_WITH_LOGPROBS, TRI_STATE[value])
    return (await wire.render_chat(request, stream=True)).expect(200).json


@requirement("override.derender-mode.stream.explicit-wins")
@capability("output-mode.derender.stream")
@pytest.mark.parametrize("value", ["true", "false"])
async def test_an_explicit_value_wins_in_every_chunk(wire, engine, node, value):
    """The rendered value holds for each choice and each chunk."""
    await check(wire, engine, node, await rendered(wire, value), TRI_STATE[value])


@requirement("override.derender-mode.stream.unset-follows-server")
@capability("output-mode.derender.stream")
@pytest.mark.parametrize("value", ["null", "absent"])
async def test_a_stream_without_a_value_follows_the_server_flag(wire, engine, node, value):
    """A rendered request that says nothing falls back to the server's flag in every chunk."""
    await check(wire, engine, node, await rendered(wire, value), TRI_STATE[value])


@requirement("override.derender-mode.stream.unset-follows-server")
@capability("output-mode.derender.stream")
async def test_a_stream_without_parse_context_follows_the_server_flag(wire, engine, node):
    """A hand-made body has no value."""
    await check(wire, engine, node, token_request((SPLIT, PLAIN), logprobs=5), value=None)


@requirement("override.derender-mode.stream.joins-to-full")
@capability("output-mode.derender.stream")
@pytest.mark.parametrize("value", TRI_STATE)
async def test_the_chunks_join_to_the_full_answer(wire, engine, node, value):
    """The same body answered whole has the joined text, ids, logprobs and finish reason."""
    body = {**await rendered(wire, value), "output_mode": "derender"}
    script = await engine.script(steps((SPLIT,), logprobs=5))
    full = (await wire.generate(body, stream=False, script=script)).expect(200).json["choices"][0]
    chunks = (await wire.generate_stream(body, script=script)).expect(200).chunks
    joined = of_choice(chunks, 0)
    assert joined["text"] == full["message"]["content"] == SPLIT_TEXT
    assert [token_id for each in joined["token_ids"] for token_id in each] == full["token_ids"]
    entries = [entry for logprobs in joined["logprobs"] for entry in logprobs["content"]]
    assert {"content": entries} == empty_bytes_alike(full["logprobs"])
    assert chunks[-1]["choices"][0]["finish_reason"] == full["finish_reason"] == "length"


@requirement("override.derender-mode.stream.no-logprobs-stay-null")
@capability("output-mode.derender.stream")
@pytest.mark.parametrize("value", TRI_STATE)
async def test_a_value_does_not_make_logprobs(wire, engine, node, value):
    """A stream without logprobs has none, whatever the value."""
    body = await rendered(wire, value)
    body["sampling_params"]["logprobs"] = None
    script = await engine.script(steps((PLAIN,), logprobs=None))
    answer = await wire.generate_stream({**body, "output_mode": "derender"}, script=script)
    joined = of_choice(answer.expect(200).chunks, 0)
    assert (joined["text"], joined["logprobs"]) == (PLAIN_TEXT, [None, None])
