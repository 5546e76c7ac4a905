"""Puts the reference's classes in place of vLLM's: from a launcher, or as a plugin of vLLM.

No module of vLLM is patched: handlers are replaced in `app.state`, where the routes look them up
per request, and the generate and derender routes are replaced in the app's own list, because their
body models change.
"""

import functools
import inspect
import operator
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any, get_args

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute

from impl import compat, older_derender
from impl.documented import answers_of
from impl.protocol import (
    FILLS_CONTEXT,
    HAS_DERENDER_MODE,
    GenerateRequest,
    derender_body,
)
from impl.render import ServingRender
from impl.routed_experts import ENCODINGS
from impl.serving_tokens import ServingTokens

ROUTED_EXPERTS_OPTION = "TOKENWIRE_ROUTED_EXPERTS"
# What app.state calls the render handler up to 0.24.0.
OLDER_RENDER = "openai_serving_render"


def install(app: FastAPI) -> None:
    """Make `app` serve the reference.

    Call it once vLLM has filled `app.state` and before the app serves; a second call changes
    nothing. An app of `vllm launch render` has no generate handler, and keeps none. The
    environment variable TOKENWIRE_ROUTED_EXPERTS (npy, base85 or compact; npy when unset) chooses
    how `routed_experts` is written; ValueError for another value.
    """
    _replace_routes(app)
    _replace_handlers(app.state, app.state.args)


class Plugin:
    """The reference as an entry point of the group `vllm.endpoint_plugins` (0.26.0 and later)."""

    name = "tokenwire"
    required_tasks = None

    def attach_router(self, app: FastAPI) -> None:
        """Called by vLLM when its own routes are in place."""
        _replace_routes(app)

    async def init_state(self, engine_client: Any, state: Any, args: Namespace) -> None:
        """Called by vLLM when it has filled `state`; a render server has no `engine_client`."""
        _replace_handlers(state, args)


def _replace_handlers(state: Any, args: Namespace) -> None:
    encoding = _routed_experts_encoding()
    _adopt(state, "serving_tokens", ServingTokens, routed_experts_encoding=encoding)
    # Derender came with 0.24.0.
    if not compat.has("derender_chat_route"):
        _adopt(state, OLDER_RENDER, ServingRender)
        return
    from impl.derender import ServingDerender

    flag = args.return_tokens_as_token_ids
    if compat.ServingDerender is compat.ServingRender:
        both = _render_and_derender(ServingDerender)
        _adopt(state, OLDER_RENDER, both, return_tokens_as_token_ids=flag)
    else:
        _adopt(state, "serving_render", ServingRender)
        _adopt(state, "serving_derender", ServingDerender, return_tokens_as_token_ids=flag)


@functools.cache
def _render_and_derender(derender: type) -> type:
    """One handler for both, as 0.24.0 has it."""
    return type("ServingRenderAndDerender", (ServingRender, derender), {})


def _adopt(state: Any, name: str, cls: Any, **extra: Any) -> None:
    """Replace a handler by one of `cls` with the same state, whatever its __init__ takes."""
    stock = getattr(state, name, None)
    if stock is None or isinstance(stock, cls):
        return
    handler = cls.__new__(cls)
    handler.__dict__.update(vars(stock) | extra)
    setattr(state, name, handler)


def _routed_experts_encoding() -> str:
    encoding = os.environ.get(ROUTED_EXPERTS_OPTION) or "npy"
    if encoding not in ENCODINGS:
        raise ValueError(
            f"{ROUTED_EXPERTS_OPTION} must be one of {', '.join(ENCODINGS)}, not {encoding!r}."
        )
    return encoding


def _replace_routes(app: FastAPI) -> None:
    """Give the routes whose body differs from vLLM's our body model, and keep vLLM's own code."""
    # Where the reference reads something in the body that vLLM's body model does not keep.
    ours = HAS_DERENDER_MODE or not FILLS_CONTEXT
    declared = answers_of("generate_route")
    if ours or declared:
        generate = _with_body(
            compat.generate_route, GenerateRequest if ours else compat.GenerateRequest
        )
        _replace_route(
            app,
            compat.generate_route,
            compat.with_cancellation(compat.load_aware_call(generate)),
            declared,
        )
    if compat.has("abort_route"):
        _replace_route(app, compat.abort_route, compat.abort_route, answers_of("abort_route"))
    for name in ("derender_chat_route", "derender_completions_route"):
        if not compat.has(name):
            continue
        stock = getattr(compat, name)
        annotation = inspect.signature(stock).parameters["request"].annotation
        # Streamed bodies came with 0.27.1; before, there is one model and no union.
        full_and_streamed = get_args(annotation) or (annotation,)
        body = functools.reduce(operator.or_, map(derender_body, full_and_streamed))
        endpoint = _with_body(stock, body)
        if older_derender.DROPS_LOGPROBS and name == "derender_completions_route":
            endpoint = _with_body(stock, body, older_derender.with_text_offset)
        _replace_route(app, stock, endpoint, answers_of(name))


def _with_body(stock: Any, body: Any, complete: Callable[[Any, Any], Any] | None = None) -> Any:
    """A route's own code without its decorators, over another body model.

    `complete(answer, request)`, when given, has the last word on what is answered.
    """
    stock_code = inspect.unwrap(stock)

    async def endpoint(request: body, raw_request: Request) -> Any:
        answer = await stock_code(request, raw_request)
        return complete(answer, request) if complete else answer

    return endpoint


def _replace_route(app: FastAPI, stock: Any, endpoint: Any, declared: dict[str, Any]) -> None:
    """Serve `endpoint` where the app serves `stock`; nothing to do where it does not.

    `declared` are keywords of APIRoute; `responses` among them are added to vLLM's own.

    The place in the list is kept, because in some releases the first match wins and a plugin's
    routes come last. A FastAPI that keeps included routers whole (0.165) has one object for them in
    every app, so ours is put before the router instead of into it.
    """
    for position, entry in enumerate(app.router.routes):
        for route in _routes_in(entry):
            if route.endpoint is not stock:
                continue
            ours = APIRoute(
                route.path,
                endpoint,
                methods=route.methods,
                name=route.name,
                description=route.description,
                dependencies=route.dependencies,
                **{
                    "response_model": None,
                    **declared,
                    "responses": {**route.responses, **declared.get("responses", {})},
                },
            )
            end = position + 1 if entry is route else position
            app.router.routes[position:end] = [ours]
            app.openapi_schema = None
            return


def _routes_in(entry: Any) -> Iterator[APIRoute]:
    """An entry of an app's list of routes: a route, or a router that holds some."""
    if isinstance(entry, APIRoute):
        yield entry
    elif (router := getattr(entry, "original_router", None)) is not None:
        for inner in router.routes:
            yield from _routes_in(inner)
