"""Lies that a node tells only while it serves others."""

import math

from tests.mutants.tools import GENERATE, Change, Events, answers, each_choice, replace, streams


def _beside_a_stream(app, change: Change) -> None:
    """Pass the logprob entries of an answer through `change` while a stream of generate is open."""
    open_streams = set()

    async def counted(events: Events) -> Events:
        own = object()
        open_streams.add(own)
        try:
            async for event in events:
                yield event
        finally:
            open_streams.discard(own)

    def changed(choice: dict) -> None:
        if open_streams and choice.get("logprobs"):
            choice["logprobs"]["content"] = change(choice["logprobs"]["content"])

    streams(app, counted)
    answers(app, GENERATE, each_choice(changed))


def last_entry_lost_beside_others(app) -> None:
    """Beside a stream an answer has one logprob entry less than tokens."""
    _beside_a_stream(app, lambda entries: entries[:-1])


def probabilities_beside_others(app) -> None:
    """Beside a stream an answer's numbers are probabilities, not their logarithms."""

    def change(entries: list[dict]) -> list[dict]:
        for one in (one for entry in entries for one in (entry, *entry["top_logprobs"])):
            one["logprob"] = math.exp(one["logprob"])
        return entries

    _beside_a_stream(app, change)


def refusal_ends_the_others(app) -> None:
    """A request that is refused aborts every request that runs."""
    from impl.serving_tokens import ServingTokens

    engine = app.state.engine_client

    async def serve(honest, handler, request, raw_request=None):
        try:
            return await honest(handler, request, raw_request)
        except Exception:
            await engine.abort(list(engine.output_processor.external_req_ids))
            raise

    replace(app, ServingTokens, serve_tokens=serve)
