"""A value holds for its own call: neither for the request beside it nor for the next chunk."""

import asyncio

import pytest

from conformance.override.forced import (
    CHAT_WITH_LOGPROBS,
    COMPLETION_WITH_LOGPROBS,
    SPLIT,
    generate_chunks,
    steps,
    token_request,
)
from conformance.override.support import (
    KEY,
    chat_logprobs,
    completion_logprobs,
    either_flag,
    empty_bytes_alike,
    server_flag,
    with_value,
)
from fixtures.case import capability, requirement
from fixtures.nodes.script import wait

pytestmark = either_flag("scripted")

BODY = token_request((SPLIT,), logprobs=5) | {"output_mode": "derender"}


async def beside_each_other(engine, ask):
    """An answer with a value, held at a gate while one without a value is made."""
    first, *others = steps((SPLIT,), logprobs=5)
    held = await engine.script([first, wait("go"), *others])
    quick = await engine.script([first, *others])
    slow = asyncio.create_task(ask(held, explicit=True))
    held_there = asyncio.create_task(engine.wait_for(held, event="generate"))
    await asyncio.wait({slow, held_there}, return_when=asyncio.FIRST_COMPLETED)
    if slow.done():
        # Refused, so that nothing is held.
        held_there.cancel()
        slow.result()
    try:
        answer = await ask(quick, explicit=False)
    finally:
        await engine.release(held, "go")
    return await slow, answer


@requirement("override.derender-mode.isolated")
@capability("output-mode.derender")
async def test_a_value_does_not_leak_into_the_request_beside_it(wire, engine, node):
    """Two requests at once on one handler: each is named by its own value or the flag."""
    flag = server_flag(node)

    async def ask(script, explicit):
        context = {KEY: not flag} if explicit else {}
        answer = await wire.generate(BODY | {"parse_context": context}, script=script)
        return empty_bytes_alike(answer.expect(200).json["choices"][0]["logprobs"])

    slow, quick = await beside_each_other(engine, ask)
    assert quick == chat_logprobs(SPLIT.content, flag)
    assert slow == chat_logprobs(SPLIT.content, not flag)


@requirement("override.derender-mode.isolated")
@capability("output-mode.derender.stream")
async def test_a_value_does_not_leak_into_the_stream_beside_it(wire, engine, node):
    """The same for streams: the chunks after the gate are named as those before it."""
    flag = server_flag(node)

    async def ask(script, explicit):
        context = {KEY: not flag} if explicit else {}
        answer = await wire.generate_stream(BODY | {"parse_context": context}, script=script)
        choices = [chunk["choices"][0] for chunk in answer.expect(200).chunks]
        return [entry for c in choices for entry in empty_bytes_alike(c["logprobs"])["content"]]

    slow, quick = await beside_each_other(engine, ask)
    assert {"content": quick} == chat_logprobs(SPLIT.content, flag)
    assert {"content": slow} == chat_logprobs(SPLIT.content, not flag)


@requirement("override.derender.each-call-decides")
@capability("derender.chat.stream.logprobs")
@pytest.mark.parametrize("values", [(True, False), (False, True)], ids=["ids-first", "text-first"])
async def test_each_chat_chunk_follows_its_own_call(wire, engine, node, values):
    """stream_state carries ids: a chunk by text resolves after a chunk by placeholder."""
    state = None
    chunks = await generate_chunks(wire, engine, SPLIT)
    for number, (chunk, (history, _, content)) in enumerate(
        zip(chunks, SPLIT.chunks(), strict=True)
    ):
        value = values[number % 2]
        answer = await wire.derender_chat(
            stream=True,
            generate_chunk=chunk,
            stream_state=state,
            chat_request=with_value(CHAT_WITH_LOGPROBS, value),
        )
        state = answer.expect(200).json["stream_state"]
        logprobs = answer.json["chunk"]["choices"][0]["logprobs"]
        assert empty_bytes_alike(logprobs) == chat_logprobs(content, value, history=history)


@requirement("override.derender.each-call-decides")
@capability("derender.completions.stream.logprobs")
@pytest.mark.parametrize("values", [(True, False), (False, True)], ids=["ids-first", "text-first"])
async def test_each_completion_chunk_follows_its_own_call(wire, engine, node, values):
    """The offset goes on from what was sent, whether text or placeholders."""
    state, offset = None, 0
    chunks = await generate_chunks(wire, engine, SPLIT)
    for number, (chunk, (history, _, content)) in enumerate(
        zip(chunks, SPLIT.chunks(), strict=True)
    ):
        value = values[number % 2]
        answer = await wire.derender_completions(
            stream=True,
            generate_chunk=chunk,
            stream_state=state,
            completion_request=with_value(COMPLETION_WITH_LOGPROBS, value),
        )
        state = answer.expect(200).json["stream_state"]
        expected = completion_logprobs(content, value, offset, history)
        assert answer.json["chunk"]["choices"][0]["logprobs"] == expected
        offset += sum(len(token) for token in expected["tokens"])
