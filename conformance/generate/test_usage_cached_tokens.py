"""Cached prompt tokens: counted on a server that was told to, zero among them; null on any
other.
"""

import uuid

import pytest

from conformance.generate import GREEDY
from fixtures.case import Node, requirement

PARAMS = {**GREEDY, "max_tokens": 2}
PROMPT = [30 + i % 200 for i in range(300)]
COUNTING = pytest.mark.parametrize(
    "node", [Node("real", "--enable-prompt-tokens-details")], indirect=True
)


async def cached(wire, stream, salt):
    fields = {"token_ids": PROMPT, "sampling_params": PARAMS, "cache_salt": salt}
    if stream:
        answer = await wire.generate_stream(**fields, stream_options={"include_usage": True})
        usage = answer.expect(200).chunks[-1]["usage"]
    else:
        usage = (await wire.generate(**fields)).expect(200).json["usage"]
    assert usage["prompt_tokens"] == len(PROMPT)
    return usage["prompt_tokens_details"]["cached_tokens"]


@COUNTING
@requirement("generate.usage.cached-tokens")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_cached_tokens_are_counted(wire, stream):
    """A prompt never seen has 0 cached tokens; the same again has some, fewer than the prompt; a
    new salt 0.
    """
    salt = uuid.uuid4().hex
    assert await cached(wire, stream, salt) == 0
    again = await cached(wire, stream, salt)
    assert type(again) is int and 0 < again < len(PROMPT)
    assert await cached(wire, stream, uuid.uuid4().hex) == 0


@pytest.mark.parametrize("node", [Node("real")], indirect=True)
@requirement("generate.usage.cached-tokens")
async def test_not_counted_without_the_flag(wire):
    """Without the flag prompt_tokens_details is null in a full answer."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)
    assert answer.expect(200).json["usage"]["prompt_tokens_details"] is None
    assert answer.json["usage"]["prompt_tokens"] == len(PROMPT)
