"""Chat derender: the request's value decides how logprobs name tokens, else the server's flag."""

import pytest

from conformance.override.forced import (
    CHAT_WITH_LOGPROBS,
    PLAIN,
    PLAIN_TEXT,
    PROMPT,
    SPLIT,
    SPLIT_TEXT,
    derender_chunks,
    generate,
    generate_chunks,
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

EXPLICIT = pytest.mark.parametrize("value", ["true", "false"])
UNSET = pytest.mark.parametrize("value", ["null", "absent"])


async def full(wire, engine, node, value):
    """Two choices, derendered: their logprobs are named by the rule, their content is text."""
    request = with_value(CHAT_WITH_LOGPROBS, TRI_STATE[value])
    answer = await wire.derender_chat(
        generate_response=await generate(wire, engine, SPLIT, PLAIN),
        chat_request=request,
        prompt_token_ids=PROMPT,
    )
    choices = answer.expect(200).json["choices"]
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    assert [choice["message"]["content"] for choice in choices] == [SPLIT_TEXT, PLAIN_TEXT]
    assert [empty_bytes_alike(choice["logprobs"]) for choice in choices] == [
        chat_logprobs(SPLIT.content, as_ids),
        chat_logprobs(PLAIN.content, as_ids),
    ]


async def streamed(wire, engine, node, value):
    """Chunks that end inside characters, derendered one by one: each is named by the rule."""
    request = with_value(CHAT_WITH_LOGPROBS, TRI_STATE[value])
    chunks = await generate_chunks(wire, engine, SPLIT)
    answers = await derender_chunks(
        wire.derender_chat, chunks, chat_request=request, prompt_token_ids=PROMPT
    )
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    assert [empty_bytes_alike(answer["choices"][0]["logprobs"]) for answer in answers] == [
        chat_logprobs(content, as_ids, history=history) for history, _, content in SPLIT.chunks()
    ]
    assert (
        "".join(answer["choices"][0]["delta"].get("content") or "" for answer in answers)
        == SPLIT_TEXT
    )


@requirement("override.derender-chat.explicit-wins")
@capability("derender.chat")
@EXPLICIT
async def test_an_explicit_value_wins_over_the_server_flag(wire, engine, node, value):
    """true gives placeholders and false gives text, whatever the derender server's flag says."""
    await full(wire, engine, node, value)


@requirement("override.derender-chat.unset-follows-server")
@capability("derender.chat")
@UNSET
async def test_null_and_absent_follow_the_server_flag(wire, engine, node, value):
    """Null is the same as absent, and both fall back to the derender server's flag."""
    await full(wire, engine, node, value)


@requirement("override.derender-chat.stream.explicit-wins")
@capability("derender.chat.stream.logprobs")
@EXPLICIT
async def test_an_explicit_value_wins_in_every_chunk(wire, engine, node, value):
    """The value holds for the first chunk and for every one after it."""
    await streamed(wire, engine, node, value)


@requirement("override.derender-chat.stream.unset-follows-server")
@capability("derender.chat.stream.logprobs")
@UNSET
async def test_null_and_absent_follow_the_server_flag_in_every_chunk(wire, engine, node, value):
    """A stream without a value keeps to the derender server's flag to its end."""
    await streamed(wire, engine, node, value)


@requirement("override.derender-chat.no-request-follows-server")
@capability("derender.chat.stream.logprobs")
async def test_without_a_chat_request_the_server_flag_decides(wire, engine, node):
    """A derender call that carries no chat_request has no value, full or streamed."""
    answer = await wire.derender_chat(generate_response=await generate(wire, engine, SPLIT))
    logprobs = [empty_bytes_alike(answer.expect(200).json["choices"][0]["logprobs"])]
    chunks = await derender_chunks(wire.derender_chat, await generate_chunks(wire, engine, SPLIT))
    logprobs += [empty_bytes_alike(chunk["choices"][0]["logprobs"]) for chunk in chunks]
    flag = server_flag(node)
    assert logprobs == [chat_logprobs(SPLIT.content, flag)] + [
        chat_logprobs(content, flag, history=history) for history, _, content in SPLIT.chunks()
    ]


@requirement("override.derender-chat.no-logprobs-stay-null")
@capability("derender.chat.stream")
@pytest.mark.parametrize("value", TRI_STATE)
async def test_a_value_does_not_make_logprobs(wire, engine, node, value):
    """A generate answer without logprobs stays without them, full and streamed."""
    request = with_value(CHAT_WITH_LOGPROBS, TRI_STATE[value])
    answer = await wire.derender_chat(
        generate_response=await generate(wire, engine, PLAIN, logprobs=None), chat_request=request
    )
    chunks = await generate_chunks(wire, engine, PLAIN, logprobs=None)
    answers = [
        answer.expect(200).json,
        *await derender_chunks(wire.derender_chat, chunks, chat_request=request),
    ]
    assert answers[0]["choices"][0]["message"]["content"] == PLAIN_TEXT
    assert [each["choices"][0]["logprobs"] for each in answers] == [None] * 3
