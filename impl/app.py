"""Puts the reference's classes in place of vLLM's: from a launcher, or as a plugin of vLLM.

No module of vLLM is patched: handlers are replaced in `app.state`, where the routes look them up
per request, and the generate route is replaced in the app's own list, because its body model
changes.
"""

import inspect
import os
from argparse import Namespace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute

from impl import compat
from impl.derender import ServingDerender
from impl.protocol import HAS_DERENDER_MODE, GenerateRequest
from impl.render import ServingRender
from impl.routed_experts import ENCODINGS
from impl.serving_tokens import ServingTokens

ROUTED_EXPERTS_OPTION = "TOKENWIRE_ROUTED_EXPERTS"


def install(app: FastAPI) -> None:
    """Make `app` serve the reference.

    Call it once vLLM has filled `app.state` and before the app serves; a second call changes
    nothing. An app of `vllm launch render` has no generate handler, and keeps none. The
    environment variable TOKENWIRE_ROUTED_EXPERTS (npy, base85 or compact; npy when unset) chooses
    how `routed_experts` is written; ValueError for another value.
    """
    _replace_generate_route(app)
    _replace_handlers(app.state, app.state.args)


class Plugin:
    """The reference as an entry point of the group `vllm.endpoint_plugins` (0.26.0 and later)."""

    name = "tokenwire"
    required_tasks = None

    def attach_router(self, app: FastAPI) -> None:
        """Called by vLLM when its own routes are in place."""
        _replace_generate_route(app)

    async def init_state(self, engine_client: Any, state: Any, args: Namespace) -> None:
        """Called by vLLM when it has filled `state`; a render server has no `engine_client`."""
        _replace_handlers(state, args)


def _replace_handlers(state: Any, args: Namespace) -> None:
    _adopt(
        state, "serving_tokens", ServingTokens, routed_experts_encoding=_routed_experts_encoding()
    )
    _adopt(state, "serving_render", ServingRender)
    _adopt(
        state,
        "serving_derender",
        ServingDerender,
        return_tokens_as_token_ids=args.return_tokens_as_token_ids,
    )


def _adopt(state: Any, name: str, cls: type, **extra: Any) -> None:
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


def _replace_generate_route(app: FastAPI) -> None:
    """Give the generate route our body model; nothing to do where the release has no parse context.

    Its place in the list is kept, because in some releases the first match wins and a plugin's
    routes come last.
    """
    if not HAS_DERENDER_MODE:
        return
    stock_endpoint = compat.generate_route
    for position, route in enumerate(app.router.routes):
        if isinstance(route, APIRoute) and route.endpoint is stock_endpoint:
            app.router.routes[position] = APIRoute(
                route.path,
                _generate_endpoint(inspect.unwrap(stock_endpoint)),
                methods=route.methods,
                name=route.name,
                dependencies=route.dependencies,
                responses=route.responses,
            )
            app.openapi_schema = None


def _generate_endpoint(stock_body: Any) -> Any:
    @compat.with_cancellation
    @compat.load_aware_call
    async def generate(request: GenerateRequest, raw_request: Request) -> Any:
        return await stock_body(request, raw_request)

    return generate
