"""Lies of generate's streams about single chunks: whose they are, and what they carry."""

import asyncio

from tests.mutants.tools import Events, chunk_of, each_chunk, event_of, streams


def first_chunks_swapped(app) -> None:
    """Two streams that begin at the same time get each other's first chunk."""
    waiting: list[tuple] = []

    async def change(events: Events) -> Events:
        first = await anext(events)
        if waiting:
            others, swapped = waiting.pop()
            swapped.set_result(first)
            first = others
        else:
            mine = first, asyncio.get_running_loop().create_future()
            waiting.append(mine)
            await asyncio.wait([mine[1]], timeout=2)
            if mine in waiting:
                waiting.remove(mine)
            else:
                first = mine[1].result()
        yield first
        async for event in events:
            yield event

    streams(app, change)


def empty_chunk_after_each_step(app) -> None:
    """Each step that ends nothing is followed by a chunk without ids."""

    async def change(events: Events) -> Events:
        async for event in events:
            yield event
            chunk = chunk_of(event)
            for choice in chunk["choices"] if chunk else ():
                if not choice["finish_reason"]:
                    yield event_of({**chunk, "choices": [{**choice, "token_ids": []}]})

    streams(app, change)


def running_count_one_chunk_behind(app) -> None:
    """The count so far on a chunk lacks the chunk's own ids."""

    def change(chunk: dict) -> dict:
        for choice in chunk["choices"] if chunk["usage"] else ():
            chunk["usage"]["completion_tokens"] -= len(choice["token_ids"])
            chunk["usage"]["total_tokens"] -= len(choice["token_ids"])
        return chunk

    each_chunk(app, change)
