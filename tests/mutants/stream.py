"""Lies of generate's streams."""

import asyncio

from tests.mutants.tools import (
    GENERATE,
    Events,
    answers,
    asked,
    chunk_of,
    each_choice,
    each_chunk,
    event_of,
    module_of,
    replace,
    requests,
    streams,
)

# Which answers are streams


def null_is_a_stream(app) -> None:
    """stream: null is read as true."""

    def change(body: dict) -> dict:
        return {**body, "stream": True} if body.get("stream", False) is None else body

    requests(app, GENERATE, change)


def options_make_a_stream(app) -> None:
    """A request with stream_options is answered by a stream, whatever stream says."""

    def change(body: dict) -> dict:
        return {**body, "stream": True} if body.get("stream_options") else body

    requests(app, GENERATE, change)


# Frames and chunks


def done_missing(app) -> None:
    """A stream ends without [DONE]."""

    async def change(events: Events) -> Events:
        async for event in events:
            if "[DONE]" not in event:
                yield event

    streams(app, change)


def finish_reason_in_a_chunk_of_its_own(app) -> None:
    """The end comes in one more chunk, without ids."""

    async def change(events: Events) -> Events:
        async for event in events:
            chunk = chunk_of(event)
            ended = chunk and chunk["choices"] and chunk["choices"][0]["finish_reason"]
            if not ended or not chunk["choices"][0]["token_ids"]:
                yield event
                continue
            (choice,) = chunk["choices"]
            yield event_of({**chunk, "choices": [{**choice, "finish_reason": None}]})
            yield event_of({**chunk, "choices": [{**choice, "token_ids": []}]})

    streams(app, change)


def two_steps_in_a_chunk(app) -> None:
    """Two engine steps of a choice are merged into one chunk."""

    async def change(events: Events) -> Events:
        held = None
        async for event in events:
            chunk = chunk_of(event)
            if held and chunk and chunk["choices"]:
                before, (choice,) = held["choices"][0], chunk["choices"]
                if before["index"] == choice["index"]:
                    choice["token_ids"] = before["token_ids"] + choice["token_ids"]
                    held = None
                    yield event_of(chunk)
                    continue
            if held:
                yield event_of(held)
                held = None
            if chunk and chunk["choices"]:
                held = chunk
            else:
                yield event

    streams(app, change)


def end_without_ids_untold(app) -> None:
    """A last step without new ids sends nothing."""

    async def change(events: Events) -> Events:
        async for event in events:
            chunk = chunk_of(event)
            if not (chunk and chunk["choices"] and not chunk["choices"][0]["token_ids"]):
                yield event

    streams(app, change)


def every_choice_is_the_first(app) -> None:
    """Each chunk's choice has index 0."""
    each_chunk(app, each_choice(lambda choice: choice.update(index=0)))


def choices_one_after_the_other(app) -> None:
    """The chunks of a choice come together, after those of the choice before."""

    async def change(events: Events) -> Events:
        held = [event async for event in events]
        choices = [chunk["choices"] if (chunk := chunk_of(event)) else [] for event in held]
        order = [each[0]["index"] if each else 1000 for each in choices]
        for position in sorted(range(len(held)), key=order.__getitem__):
            yield held[position]

    streams(app, change)


def stop_reason_null(app) -> None:
    """stop_reason is always null in a stream."""
    each_chunk(app, each_choice(lambda choice: choice.update(stop_reason=None)))


def null_key_on_every_chunk(app) -> None:
    """A chunk has prompt_token_ids and mm_placeholders also when they are null."""
    each_chunk(app, lambda chunk: {"prompt_token_ids": None, "mm_placeholders": None, **chunk})


def null_keys_dropped(app) -> None:
    """Keys of a choice without a value are left out."""

    def change(chunk: dict) -> dict:
        choices = [
            {key: value for key, value in choice.items() if value is not None}
            for choice in chunk["choices"]
        ]
        return {**chunk, "choices": choices}

    each_chunk(app, change)


def prompt_token_ids_on_every_chunk(app) -> None:
    """With return_token_ids every chunk carries the prompt."""

    async def change(events: Events) -> Events:
        prompt = {}
        async for event in events:
            if chunk := chunk_of(event):
                if "prompt_token_ids" in chunk:
                    prompt = {"prompt_token_ids": chunk["prompt_token_ids"]}
                event = event_of({**chunk, **prompt})
            yield event

    streams(app, change)


def request_id_of_each_chunk(app) -> None:
    """Each chunk has a request_id of its own."""

    async def change(events: Events) -> Events:
        number = 0
        async for event in events:
            if chunk := chunk_of(event):
                event = event_of({**chunk, "request_id": f"{chunk['request_id']}-{number}"})
                number += 1
            yield event

    streams(app, change)


def errors_untold(app) -> None:
    """A stream whose engine failed ends like one that is done."""

    async def change(events: Events) -> Events:
        async for event in events:
            if chunk_of(event) or "[DONE]" in event:
                yield event

    streams(app, change)


def abort_ends_with_stop(app) -> None:
    """An aborted answer or stream ends with finish_reason stop."""

    def change(choice: dict) -> None:
        if choice["finish_reason"] == "abort":
            choice["finish_reason"] = "stop"

    answers(app, GENERATE, each_choice(change))


def logprobs_lost_at_the_end(app) -> None:
    """The last chunk of a choice has no logprobs."""

    def change(choice: dict) -> None:
        if choice["finish_reason"]:
            choice["logprobs"] = None

    each_chunk(app, each_choice(change))


# Usage


def usage_chunk_missing(app) -> None:
    """include_usage adds no chunk."""

    async def change(events: Events) -> Events:
        async for event in events:
            chunk = chunk_of(event)
            if chunk is None or chunk["choices"]:
                yield event

    streams(app, change)


def usage_on_every_chunk(app) -> None:
    """Every chunk counts, whether or not the client asked for it."""
    from impl import compat

    def include(honest, *arguments):
        return honest(*arguments)[0], True

    replace(app, module_of(compat.ServingTokens), should_include_usage=include)


def usage_of_the_last_choice(app) -> None:
    """The usage chunk counts the choice that came last."""

    async def change(events: Events) -> Events:
        counted = {}
        async for event in events:
            chunk = chunk_of(event)
            for choice in chunk["choices"] if chunk else ():
                index = choice["index"]
                counted[index] = counted.get(index, 0) + len(choice["token_ids"])
            if chunk and not chunk["choices"]:
                usage = chunk["usage"]
                usage["completion_tokens"] = counted[max(counted)]
                usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
                event = event_of(chunk)
            yield event

    streams(app, change)


# What a stream asks of the engine, and when it leaves


def data_parallel_rank_for_full_answers_only(app) -> None:
    """X-data-parallel-rank is not read for a stream."""
    from impl.serving_tokens import ServingTokens

    async def serve(honest, handler, request, raw_request=None):
        if request.stream and raw_request is not None:
            raw_request.state.without_rank = True
        return await honest(handler, request, raw_request)

    def rank(honest, raw_request):
        dropped = getattr(raw_request.state, "without_rank", False)
        return None if dropped else honest(raw_request)

    replace(app, ServingTokens, serve_tokens=serve, _get_data_parallel_rank=rank)


def stream_outlives_its_client(app) -> None:
    """A client that leaves a stream aborts nothing."""
    kept = set()

    async def change(events: Events) -> Events:
        queue: asyncio.Queue = asyncio.Queue()

        async def pump() -> None:
            async for event in events:
                queue.put_nowait(event)
            queue.put_nowait(None)

        task = asyncio.create_task(pump())
        kept.add(task)
        while (event := await queue.get()) is not None:
            yield event

    streams(app, change)


def omitted_max_tokens_is_sixteen(app) -> None:
    """A streamed request without max_tokens gets 16 tokens."""

    def change(request) -> None:
        if request.stream and request._sampling_params_provided_keys is not None:
            request._sampling_params_provided_keys |= {"max_tokens"}

    asked(app, change)


# Text in streams


def split_characters_replaced(app) -> None:
    """The text of a chunk is its ids decoded alone, so a split character is U+FFFD."""
    tokenizer = app.state.serving_tokens.renderer.get_tokenizer()

    def change(choice: dict) -> None:
        if "text" in choice:
            choice["text"] = tokenizer.decode(choice["token_ids"])

    each_chunk(app, each_choice(change))


def text_repeats_what_was_sent(app) -> None:
    """Each chunk has the whole text so far instead of what is new."""

    async def change(events: Events) -> Events:
        sent = {}
        async for event in events:
            chunk = chunk_of(event)
            for choice in chunk["choices"] if chunk else ():
                if "text" in choice:
                    index = choice["index"]
                    choice["text"] = sent[index] = sent.get(index, "") + choice["text"]
                    event = event_of(chunk)
            yield event

    streams(app, change)


# Derender mode as a stream


def role_on_every_chunk(app) -> None:
    """Each delta has the role."""
    _derender_chunks(app, lambda stream: stream.role_sent.__setitem__(slice(None), [False] * 8))


def parser_for_each_chunk(app) -> None:
    """Each chunk is parsed by a parser that knows nothing of the chunks before."""
    from impl.derender_stream import _DerenderStream

    def begin(honest, stream, serving, request, request_id, chat_request):
        stream.chat_request = chat_request
        honest(stream, serving, request, request_id, chat_request)

    replace(app, _DerenderStream, __init__=begin)

    def renew(stream) -> None:
        stream.processors = [stream._processor(stream.chat_request) for _ in stream.processors]

    _derender_chunks(app, renew)


def _derender_chunks(app, before) -> None:
    from impl.derender_stream import _DerenderStream

    def chunk(honest, stream, *arguments):
        before(stream)
        return honest(stream, *arguments)

    replace(app, _DerenderStream, chunk=chunk)


def tool_calls_end_with_stop(app) -> None:
    """A streamed choice that calls a tool ends with finish_reason stop."""

    def change(choice: dict) -> None:
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "stop"

    each_chunk(app, each_choice(change))


def derender_streams_are_tokens(app) -> None:
    """A derender-mode stream is served as a tokens stream."""

    def change(request) -> None:
        if request.stream and request.output_mode == "derender":
            request.output_mode = "tokens"

    asked(app, change)
