"""Logprobs: the entries of sampled tokens and of the prompt. What the files of this chapter share."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from fixtures.wire import Wire
from fixtures.wire.wire import GENERATE


@asynccontextmanager
async def neighbours(wire: Wire, sampling: Mapping, count: int = 2) -> AsyncIterator[None]:
    """`count` streams in the engine, past their first token and hundreds of tokens from their end."""
    async with AsyncExitStack() as streams:
        for first in range(60, 60 + 10 * count, 10):
            body = {
                "token_ids": [first, 61, 62],
                "sampling_params": {**sampling, "max_tokens": 500},
            }
            stream = await streams.enter_async_context(wire.open_stream(GENERATE, body))
            assert await anext(stream.expect(200), None)
        yield
