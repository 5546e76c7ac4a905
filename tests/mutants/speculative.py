"""Lies of a node whose engine drafts tokens, and about the counts it gives of them."""

from tests.mutants.tools import (
    GENERATE,
    answers,
    chunk_of,
    derendered,
    each_choice,
    each_chunk,
    event_of,
    streams,
)

COUNTS = {"speculative_decoding": {"num_accepted_draft_tokens": 0}}


def counts_dropped(app) -> None:
    """metrics are null, in a stream absent."""

    def change(body: dict) -> dict:
        return {**body, "metrics": None} if "metrics" in body else body

    answers(app, GENERATE, change)


def counts_made_up_for_several_choices(app) -> None:
    """An answer of several choices has metrics too."""

    def change(body: dict) -> dict:
        several = len(body["choices"]) > 1
        return {**body, "metrics": COUNTS} if several else body

    answers(app, GENERATE, change)


def derendered_counts_dropped(app) -> None:
    """Derender does not return the generate answer's metrics."""
    derendered(app, lambda body: {**body, "metrics": None})


def last_draft_taken_unseen(app) -> None:
    """An engine that drafts ends with a token that nobody verified."""
    if app.state.engine_client.vllm_config.speculative_config is None:
        answers(app, GENERATE, lambda body: body)
        return
    answers(app, GENERATE, each_choice(lambda choice: choice["token_ids"].__setitem__(-1, 0)))


def step_told_id_by_id(app) -> None:
    """A step of several ids is as many chunks, the first of them with all the logprobs."""

    async def changed(events):
        async for event in events:
            chunk = chunk_of(event)
            if chunk is None or not chunk["choices"]:
                yield event
                continue
            (choice,) = chunk["choices"]
            for at, token_id in enumerate(choice["token_ids"]):
                logprobs = choice["logprobs"] if at == 0 else None
                one = {**choice, "token_ids": [token_id], "logprobs": logprobs}
                yield event_of({**chunk, "choices": [one]})

    streams(app, changed)


def null_metrics_on_every_chunk(app) -> None:
    """Each chunk of a stream has metrics, null where there are none to tell."""
    each_chunk(app, lambda chunk: {"metrics": None, **chunk})
