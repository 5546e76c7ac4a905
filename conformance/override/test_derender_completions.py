"""Completions derender: the same rule over flat logprobs, a choice per prompt and sample."""

import pytest

from conformance.override.forced import (
    COMPLETION_WITH_LOGPROBS,
    PLAIN,
    PLAIN_TEXT,
    SPLIT,
    SPLIT_TEXT,
    derender_chunks,
    generate,
    generate_chunks,
)
from conformance.override.support import (
    TRI_STATE,
    by_placeholder,
    completion_logprobs,
    either_flag,
    server_flag,
    with_value,
)
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")

EXPLICIT = pytest.mark.parametrize("value", ["true", "false"])
UNSET = pytest.mark.parametrize("value", ["null", "absent"])


async def full(wire, engine, node, value):
    """Two prompts, the first with two samples: three choices, each named by the rule."""
    responses = [
        await generate(wire, engine, SPLIT, PLAIN),
        await generate(wire, engine, PLAIN),
    ]
    request = with_value(COMPLETION_WITH_LOGPROBS, TRI_STATE[value])
    answer = await wire.derender_completions(
        generate_responses=responses, completion_request=request
    )
    choices = answer.expect(200).json["choices"]
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    assert [choice["text"] for choice in choices] == [SPLIT_TEXT, PLAIN_TEXT, PLAIN_TEXT]
    assert [choice["logprobs"] for choice in choices] == [
        completion_logprobs(each.content, as_ids) for each in (SPLIT, PLAIN, PLAIN)
    ]


async def streamed(wire, engine, node, value):
    """Chunks that end inside characters; text_offset goes on where the chunk before it ended."""
    request = with_value(COMPLETION_WITH_LOGPROBS, TRI_STATE[value])
    chunks = await generate_chunks(wire, engine, SPLIT)
    answers = await derender_chunks(wire.derender_completions, chunks, completion_request=request)
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    expected, offset = [], 0
    for history, _, content in SPLIT.chunks():
        expected.append(completion_logprobs(content, as_ids, offset, history))
        offset += sum(len(token) for token in expected[-1]["tokens"])
    assert [answer["choices"][0]["logprobs"] for answer in answers] == expected
    assert "".join(answer["choices"][0]["text"] for answer in answers) == SPLIT_TEXT


@requirement("override.derender-completions.explicit-wins")
@capability("derender.completions")
@EXPLICIT
async def test_an_explicit_value_wins_over_the_server_flag(wire, engine, node, value):
    """true gives placeholders and false gives text, whatever the derender server's flag says."""
    await full(wire, engine, node, value)


@requirement("override.derender-completions.unset-follows-server")
@capability("derender.completions")
@UNSET
async def test_null_and_absent_follow_the_server_flag(wire, engine, node, value):
    """Null is the same as absent, and both fall back to the derender server's flag."""
    await full(wire, engine, node, value)


@requirement("override.derender-completions.stream.explicit-wins")
@capability("derender.completions.stream.logprobs")
@EXPLICIT
async def test_an_explicit_value_wins_in_every_chunk(wire, engine, node, value):
    """The value holds for the first chunk and for every one after it."""
    await streamed(wire, engine, node, value)


@requirement("override.derender-completions.stream.unset-follows-server")
@capability("derender.completions.stream.logprobs")
@UNSET
async def test_null_and_absent_follow_the_server_flag_in_every_chunk(wire, engine, node, value):
    """A stream without a value keeps to the derender server's flag to its end."""
    await streamed(wire, engine, node, value)


@requirement("override.derender-completions.no-request-follows-server")
@capability("derender.completions.stream.logprobs")
async def test_without_a_completion_request_the_server_flag_decides(wire, engine, node):
    """A derender call that carries no completion_request has no value, full or streamed."""
    flag = server_flag(node)
    response = await generate(wire, engine, SPLIT)
    answer = (await wire.derender_completions(generate_responses=[response])).expect(200).json
    assert answer["choices"][0]["logprobs"] == completion_logprobs(SPLIT.content, flag)
    chunks = await generate_chunks(wire, engine, PLAIN)
    first, second = await derender_chunks(wire.derender_completions, chunks)
    parts = completion_logprobs(PLAIN.content, flag)
    assert first["choices"][0]["logprobs"] == {key: value[:2] for key, value in parts.items()}
    assert second["choices"][0]["logprobs"] == {key: value[2:] for key, value in parts.items()}


@requirement("override.derender-completions.no-logprobs-stay-null")
@capability("derender.completions.stream")
@pytest.mark.parametrize("value", TRI_STATE)
async def test_a_value_does_not_make_logprobs(wire, engine, node, value):
    """A generate answer without logprobs stays without them, full and streamed."""
    request = with_value(COMPLETION_WITH_LOGPROBS, TRI_STATE[value])
    response = await generate(wire, engine, PLAIN, logprobs=None)
    answer = await wire.derender_completions(
        generate_responses=[response], completion_request=request
    )
    chunks = await generate_chunks(wire, engine, PLAIN, logprobs=None)
    answers = [
        answer.expect(200).json,
        *await derender_chunks(wire.derender_completions, chunks, completion_request=request),
    ]
    assert answers[0]["choices"][0]["text"] == PLAIN_TEXT
    assert [each["choices"][0]["logprobs"] for each in answers] == [None] * 3
