"""Lies of a node as an HTTP service: keys, ids, counters, spans, probes and gates."""

import json
import os
from collections.abc import Callable

from tests.mutants.tools import (
    ABORT,
    CHAT_DERENDER,
    CHAT_RENDER,
    COMPLETIONS_RENDER,
    GENERATE,
    answers,
    asked,
    install_reference,
    replace,
    requests,
)

KEY = b"Bearer tokenwire-key"
VARIABLE = "VLLM_ENABLE_SCALE_OUT_ENDPOINTS"


def _before(app, path: str, lie: Callable) -> None:
    """Put `lie(inner, scope, receive, send)` before the whole app for requests to `path`."""
    install_reference(app)
    inner = app.middleware_stack or app.build_middleware_stack()

    async def outer(scope, receive, send) -> None:
        if scope["type"] == "http" and path in ("", scope["path"]):
            await lie(inner, scope, receive, send)
        else:
            await inner(scope, receive, send)

    app.middleware_stack = outer


def _saying(status: int, body: object) -> Callable:
    """A lie that answers by itself."""

    async def lie(inner, scope, receive, send) -> None:
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    return lie


def _with_key(scope: dict, replaces: bytes | None) -> dict:
    """The request with the right key where it has the one that `replaces` says, None for none."""
    found = dict(scope["headers"]).get(b"authorization")
    if found != replaces:
        return scope
    headers = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
    return {**scope, "headers": [*headers, (b"authorization", KEY)]}


# Keys


def abort_without_the_key(app) -> None:
    """The abort route needs no key."""

    async def lie(inner, scope, receive, send) -> None:
        await inner(_with_key(scope, None), receive, send)

    _before(app, ABORT, lie)


def beginning_of_the_key_is_enough(app) -> None:
    """A key that lacks its last character opens generate."""

    async def lie(inner, scope, receive, send) -> None:
        await inner(_with_key(scope, KEY[:-1]), receive, send)

    _before(app, GENERATE, lie)


def key_asked_for_afterwards(app) -> None:
    """Without the key generate runs, and its answer is withheld."""

    async def lie(inner, scope, receive, send) -> None:
        if (keyed := _with_key(scope, None)) is scope:
            await inner(scope, receive, send)
            return

        async def withheld(message) -> None:
            pass

        await inner(keyed, receive, withheld)
        await _saying(401, {"error": "Unauthorized"})(inner, scope, receive, send)

    _before(app, GENERATE, lie)


def ping_needs_the_key(app) -> None:
    """/ping is a 401."""
    _before(app, "/ping", _saying(401, {"error": "Unauthorized"}))


def render_node_without_the_key(app) -> None:
    """A node without an engine asks for no key."""

    async def lie(inner, scope, receive, send) -> None:
        await inner(_with_key(scope, None), receive, send)

    _before(app, CHAT_RENDER, lie)


# Ids


def _with_header(change: Callable[[dict, list], list]) -> Callable:
    """A lie about the headers of an answer: `change(message, headers)` gives them."""

    async def lie(inner, scope, receive, send) -> None:
        async def changed(message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": change(message, list(message["headers"]))}
            await send(message)

        await inner(scope, receive, changed)

    return lie


def refusal_without_its_id(app) -> None:
    """An answer that is an error has no X-Request-Id."""

    def change(message: dict, headers: list) -> list:
        refused = message["status"] >= 400
        return [pair for pair in headers if not refused or pair[0] != b"x-request-id"]

    _before(app, "", _with_header(change))


def id_twice(app) -> None:
    """Every answer has one more X-Request-Id, of the server's own, with the flag and without."""
    _before(app, "", _with_header(lambda _, headers: [*headers, (b"x-request-id", b"0" * 32)]))


# Counters


def _recorded(app, change: Callable) -> None:
    """Pass what the engine's counters are given through `change(statistics, engine)`."""
    from vllm.v1.metrics.loggers import PrometheusStatLogger

    def record(honest, logger, *arguments, **keywords):
        names = ("scheduler_stats", "iteration_stats", "mm_cache_stats", "engine_idx")
        given = {**dict(zip(names, arguments, strict=False)), **keywords}
        if given.get("iteration_stats"):
            given["engine_idx"] = change(given["iteration_stats"], given.get("engine_idx", 0))
        return honest(logger, **given)

    replace(app, PrometheusStatLogger, record=record)


def tokens_counted_twice(app) -> None:
    """Each generated token is counted twice."""

    def change(statistics, engine):
        statistics.num_generation_tokens *= 2
        return engine

    _recorded(app, change)


def stops_counted_as_lengths(app) -> None:
    """Each end is counted as one by length."""

    def change(statistics, engine):
        for finished in statistics.finished_requests:
            finished.finish_reason = type(finished.finish_reason).LENGTH
        return engine

    _recorded(app, change)


def one_engine_counts_for_all(app) -> None:
    """Everything is counted on engine 0."""
    _recorded(app, lambda statistics, engine: 0)


def _billed(app, path: str) -> None:
    """Have the engine run a token for each request to `path`."""
    from vllm import SamplingParams

    async def lie(inner, scope, receive, send) -> None:
        prompt, params = {"prompt_token_ids": [20]}, SamplingParams(max_tokens=1)
        async for _ in app.state.engine_client.generate(prompt, params, f"bill-{id(scope)}"):
            pass
        await inner(scope, receive, send)

    _before(app, path, lie)


def derender_billed(app) -> None:
    """Derender has the engine run a token."""
    _billed(app, CHAT_DERENDER)


def refusal_billed(app) -> None:
    """Generate has the engine run a token before it looks at the request."""
    _billed(app, GENERATE)


def renders_uncounted(app) -> None:
    """Requests to render are counted under no route."""

    async def lie(inner, scope, receive, send) -> None:
        async def changed(message) -> None:
            if "body" in message:
                body = message["body"].replace(b'"/v1/completions/render"', b'"none"')
                message = {**message, "body": body}
            if "headers" in message:
                kept = [pair for pair in message["headers"] if pair[0] != b"content-length"]
                message = {**message, "headers": kept}
            await send(message)

        await inner(scope, receive, changed)

    _before(app, "/metrics", lie)


# Spans


def trace_headers_dropped(app) -> None:
    """traceparent does not reach the engine."""
    from impl.serving_tokens import ServingTokens

    async def headers(honest, handler, given):
        return None

    replace(app, ServingTokens, _get_trace_headers=headers)


def traces_shared(app) -> None:
    """Every request is in the trace of the first."""
    from impl.serving_tokens import ServingTokens

    first: list = []

    async def headers(honest, handler, given):
        first.append(await honest(handler, given))
        return first[0]

    replace(app, ServingTokens, _get_trace_headers=headers)


def spans_twice(app) -> None:
    """Each request exports its span twice."""
    from vllm.v1.engine.output_processor import OutputProcessor

    def traced(honest, *arguments):
        honest(*arguments)
        honest(*arguments)

    replace(app, OutputProcessor, do_tracing=traced)


# Probes


def version_of_another_release(app) -> None:
    """/version names another release."""
    answers(app, "/version", lambda body: {**body, "version": "0.19.0"})


def context_unsaid(app) -> None:
    """/v1/models does not say how many tokens the model takes."""

    def change(body: dict) -> dict:
        return {**body, "data": [{**model, "max_model_len": None} for model in body["data"]]}

    answers(app, "/v1/models", change)


def ping_with_a_body(app) -> None:
    """/ping says ok."""
    _before(app, "/ping", _saying(200, "ok"))


def health_with_a_body(app) -> None:
    """/health says ok."""
    _before(app, "/health", _saying(200, "ok"))


def unknown_route_gated(app) -> None:
    """A route that does not exist is a 403."""
    _before(app, "/inference/v1/no-such-route", _saying(403, {"detail": "Forbidden"}))


# Gates


def render_outside_the_gate(app) -> None:
    """Completions render answers with and without the flag."""
    _before(app, COMPLETIONS_RENDER, _saying(200, []))


def derender_forgotten_by_the_flag(app) -> None:
    """The flag does not open chat derender."""
    _before(app, CHAT_DERENDER, _saying(403, {"error": {"message": "--enable-scale-out"}}))


def legacy_abort_opened_by_the_flag(app) -> None:
    """The flag opens /abort_requests too."""

    async def lie(inner, scope, receive, send) -> None:
        await inner({**scope, "path": ABORT}, receive, send)

    _before(app, "/abort_requests", lie)


def variable_read(app) -> None:
    """The environment variable opens generate at 1 and closes render at 0."""
    install_reference(app)
    if os.environ.get(VARIABLE) == "1":
        _before(app, GENERATE, _saying(200, {}))
    if os.environ.get(VARIABLE) == "0":
        _before(app, CHAT_RENDER, _saying(403, {}))
        _before(app, GENERATE, _saying(403, {}))


# Keys that nobody knows


def unknown_keys_refused(app) -> None:
    """An unknown key in an abort, or in a derender request or its response, is a 400."""

    def change(body: dict) -> dict:
        inner = body.get("generate_response") or {}
        known = not any(key.startswith("tokenwire_") for key in (*body, *inner))
        return body if known else {**body, "generate_response": None, "request_ids": None}

    requests(app, CHAT_DERENDER, change)
    requests(app, ABORT, change)


def unknown_keys_carried(app) -> None:
    """An unknown key of a completions request is in the rendered one."""
    seen: dict = {}

    def remember(body: dict) -> dict:
        seen.clear()
        seen.update({key: body[key] for key in body if key.startswith("tokenwire_")})
        return body

    answers(app, COMPLETIONS_RENDER, lambda bodies: [{**body, **seen} for body in bodies])
    requests(app, COMPLETIONS_RENDER, remember)


def unknown_keys_in_the_state(app) -> None:
    """An unknown key of a derender request is in the stream state that it hands back."""
    seen: dict = {}

    def remember(body: dict) -> dict:
        seen.clear()
        seen.update({key: body[key] for key in body if key.startswith("tokenwire_")})
        return body

    def change(body: dict) -> dict:
        state = body.get("stream_state")
        return {**body, "stream_state": {**state, **seen}} if state else body

    answers(app, CHAT_DERENDER, change)
    requests(app, CHAT_DERENDER, remember)


# Priority


def priority_refused(app) -> None:
    """A priority other than 0 is a 400, as its documentation says."""

    def change(body: dict) -> dict:
        return {**body, "token_ids": []} if body.get("priority") else body

    requests(app, GENERATE, change)


def higher_priority_first(app) -> None:
    """The higher priority is served first."""
    asked(app, lambda request: setattr(request, "priority", -request.priority))
