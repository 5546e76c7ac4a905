"""Lies of generate towards the engine: what reaches it, and when a request ends."""

import asyncio

from tests.mutants.tools import ABORT, asked, replace, requests

# What reaches it


def data_parallel_rank_dropped(app) -> None:
    """X-data-parallel-rank is not read."""
    from impl.serving_tokens import ServingTokens

    replace(app, ServingTokens, _get_data_parallel_rank=lambda honest, raw_request: None)


def data_parallel_rank_off_by_one(app) -> None:
    """Ranks are counted from 1."""
    from impl.serving_tokens import ServingTokens

    def rank(honest, raw_request):
        found = honest(raw_request)
        return found - 1 if found else found

    replace(app, ServingTokens, _get_data_parallel_rank=rank)


def data_parallel_rank_made_up(app) -> None:
    """A header that is no integer means rank 0."""
    from impl.serving_tokens import ServingTokens

    def rank(honest, raw_request):
        asked_for = "X-data-parallel-rank" in raw_request.headers
        found = honest(raw_request)
        return 0 if asked_for and found is None else found

    replace(app, ServingTokens, _get_data_parallel_rank=rank)


def data_parallel_rank_defaults_to_zero(app) -> None:
    """Without the header rank 0 is asked for."""
    from impl.serving_tokens import ServingTokens

    replace(
        app, ServingTokens, _get_data_parallel_rank=lambda honest, request: honest(request) or 0
    )


def data_parallel_rank_wraps_around(app) -> None:
    """A rank that the server does not have is served on another one."""
    from impl.serving_tokens import ServingTokens

    ranks = app.state.engine_client.vllm_config.parallel_config.data_parallel_size

    def rank(honest, raw_request):
        found = honest(raw_request)
        return found if found is None else found % ranks

    replace(app, ServingTokens, _get_data_parallel_rank=rank)


def cache_salt_dropped(app) -> None:
    """cache_salt does not reach the engine."""
    asked(app, lambda request: setattr(request, "cache_salt", None))


def priority_dropped(app) -> None:
    """priority does not reach the engine."""
    asked(app, lambda request: setattr(request, "priority", 0))


def kv_transfer_params_dropped(app) -> None:
    """kv_transfer_params do not reach the engine."""
    asked(app, lambda request: setattr(request, "kv_transfer_params", None))


def reasoning_ended_dropped(app) -> None:
    """reasoning_ended does not reach the engine."""
    asked(app, lambda request: setattr(request, "reasoning_ended", None))


def session_id_dropped(app) -> None:
    """X-Session-ID is not read."""
    from impl.serving_tokens import ServingTokens

    replace(app, ServingTokens, _get_session_id_from_headers=lambda honest, raw_request: None)


def seed_ignored(app) -> None:
    """A seeded request is sampled anew each time."""
    asked(app, lambda request: setattr(request.sampling_params, "seed", None))


def prompt_encoded_again(app) -> None:
    """The prompt ids are decoded and tokenized anew."""
    tokenizer = app.state.serving_tokens.renderer.get_tokenizer()

    def change(request) -> None:
        text = tokenizer.decode(request.token_ids)
        request.token_ids = tokenizer.encode(text, add_special_tokens=False)

    asked(app, change)


# Leaving and aborting


def full_request_outlives_its_client(app) -> None:
    """A client that leaves before a full answer aborts nothing."""
    from impl import compat

    replace(app, compat, with_cancellation=lambda honest, handler: handler)


def slow_answer_given_up(app) -> None:
    """A full answer that takes longer than a second is given up, and the request aborted."""
    from impl.serving_tokens import ServingTokens

    async def serve(honest, handler, request, raw_request=None):
        answer = honest(handler, request, raw_request)
        return await (answer if request.stream else asyncio.wait_for(answer, timeout=1))

    replace(app, ServingTokens, serve_tokens=serve)


def only_the_first_choice_aborted(app) -> None:
    """Of a request with several choices only the first is aborted in the engine."""

    def abort(honest, *arguments, **keywords):
        return honest(*arguments, **keywords)[:1]

    replace(app, type(app.state.engine_client.output_processor), abort_requests=abort)


def abort_does_nothing(app) -> None:
    """The abort route answers 200 and aborts nothing."""

    async def abort(honest, engine, request_id, internal=False):
        if internal:
            await honest(engine, request_id, internal)

    replace(app, type(app.state.engine_client), abort=abort)


def only_the_first_id_aborted(app) -> None:
    """Of the ids that one abort names only the first is aborted."""

    def change(body: dict) -> dict:
        ids = body.get("request_ids")
        return {**body, "request_ids": ids[:1]} if isinstance(ids, list) else body

    requests(app, ABORT, change)


def engine_goes_on_after_an_abort(app) -> None:
    """An abort ends the answer, and the engine generates on for nobody."""

    async def abort(honest, core, request_ids):
        pass

    replace(app, type(app.state.engine_client.engine_core), abort_requests_async=abort)


def abort_ends_everything(app) -> None:
    """An abort ends every request that runs."""

    async def abort(honest, engine, request_id, internal=False):
        running = list(engine.output_processor.external_req_ids)
        await honest(engine, request_id if internal else running, internal)

    replace(app, type(app.state.engine_client), abort=abort)


def abort_without_ids_accepted(app) -> None:
    """An abort that names no request is a 200."""
    requests(app, ABORT, lambda body: {"request_ids": [], **body})
