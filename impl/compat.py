"""Where each vLLM release keeps what the reference stands on: nothing else names its modules.

`compat.NAME` gives the release's own object; `compat.has("NAME")` says whether the release has it
at all. A further release is supported by adding the place it uses to `_PLACES`.
"""

import functools
import importlib
from typing import Any

_TOKENS = "vllm.entrypoints.scale_out.token_in_token_out"
_BASE = "vllm.entrypoints.generate.base"
_CHAT = "vllm.entrypoints.openai.chat_completion"
_SERVE = "vllm.entrypoints.serve"
# Where 0.24.0 and older keep generate, and render with derender.
_DISAGG = f"{_SERVE}.disagg"
_RENDER = f"{_SERVE}.render"
_OPENAI_ENGINE = "vllm.entrypoints.openai.engine.protocol"
_UTILS = "vllm.entrypoints.utils"

# Name here -> places as "module:name", the newest release's first.
_PLACES: dict[str, tuple[str, ...]] = {
    # The three handlers in app.state, the body of generate, and the replaced routes.
    "ServingTokens": (f"{_TOKENS}.serving:ServingTokens", f"{_DISAGG}.serving:ServingTokens"),
    "ServingRender": (
        "vllm.entrypoints.scale_out.render.serving:ServingRender",
        f"{_RENDER}.serving:OpenAIServingRender",
    ),
    # 0.24.0 derenders in its render handler; older releases have that class and no derender.
    "ServingDerender": (
        "vllm.entrypoints.scale_out.derender.serving:ServingDerender",
        f"{_RENDER}.serving:OpenAIServingRender",
    ),
    "GenerateRequest": (
        f"{_TOKENS}.protocol:GenerateRequest",
        f"{_DISAGG}.protocol:GenerateRequest",
    ),
    "generate_route": (f"{_TOKENS}.api_router:generate", f"{_DISAGG}.api_router:generate"),
    "abort_route": (f"{_TOKENS}.api_router:abort_requests",),
    "derender_chat_route": (
        "vllm.entrypoints.scale_out.derender.api_router:derender_chat_completion",
        f"{_RENDER}.api_router:derender_chat_completion",
    ),
    "derender_completions_route": (
        "vllm.entrypoints.scale_out.derender.api_router:derender_completion",
        f"{_RENDER}.api_router:derender_completion",
    ),
    # What the reference completes in older releases (see impl.older_generate, impl.older_derender).
    "GenerateResponseChoice": (
        f"{_TOKENS}.protocol:GenerateResponseChoice",  # until 0.31.0
        f"{_DISAGG}.protocol:GenerateResponseChoice",
    ),
    "GenerateResponseStreamChoice": (
        f"{_TOKENS}.protocol:GenerateResponseStreamChoice",  # until 0.31.0
        f"{_DISAGG}.protocol:GenerateResponseStreamChoice",
    ),
    "DerenderStreamState": (f"{_TOKENS}.protocol:DerenderStreamState",),
    "resolve_logprobs": ("vllm.renderers.online_derenderer:_resolve_logprobs",),
    "completion_logprobs": (
        "vllm.renderers.online_derenderer:_convert_chat_logprobs_to_completion_logprobs",
    ),
    "get_max_tokens": (f"{_SERVE}.utils.api_utils:get_max_tokens", f"{_UTILS}:get_max_tokens"),
    # What routes answer, for the OpenAPI document (0.32.0 and later).
    "GenerateTokensResponse": (f"{_TOKENS}.protocol:GenerateTokensResponse",),
    "GenerateTextResponse": (f"{_TOKENS}.protocol:GenerateTextResponse",),
    "GenerateDerenderResponse": (f"{_TOKENS}.protocol:GenerateDerenderResponse",),
    "GenerateTokensStreamResponse": (f"{_TOKENS}.protocol:GenerateTokensStreamResponse",),
    "GenerateTextStreamResponse": (f"{_TOKENS}.protocol:GenerateTextStreamResponse",),
    "ChatCompletionResponse": (f"{_CHAT}.protocol:ChatCompletionResponse",),
    "CompletionResponse": ("vllm.entrypoints.openai.completion.protocol:CompletionResponse",),
    "DerenderChatStreamResponse": (f"{_TOKENS}.protocol:DerenderChatStreamResponse",),
    "DerenderCompletionStreamResponse": (f"{_TOKENS}.protocol:DerenderCompletionStreamResponse",),
    # Derender mode of generate (0.33.0 and later).
    "ParseContext": (f"{_TOKENS}.protocol:ParseContext",),
    "ChatStreamProcessor": (f"{_CHAT}.stream_processor:ChatStreamProcessor",),
    "chat_top_logprobs_limit": (f"{_BASE}.serving:chat_top_logprobs_limit",),
    # Streams of generate (0.32.0 and later).
    "GenerateStreamChoiceBase": (f"{_TOKENS}.protocol:GenerateStreamChoiceBase",),
    "GenerateStreamResponseBase": (f"{_TOKENS}.protocol:GenerateStreamResponseBase",),
    "build_spec_decoding_metrics": (f"{_BASE}.serving:build_spec_decoding_metrics",),
    "PerRequestMetrics": (f"{_BASE}.protocol:PerRequestMetrics",),
    "DeltaMessage": (f"{_BASE}.protocol:DeltaMessage",),
    "ChatCompletionLogProbs": (f"{_CHAT}.protocol:ChatCompletionLogProbs",),
    # How many candidates /v1/completions keeps; a release without it keeps them all (before
    # 0.33.0).
    "completion_top_logprobs_limit": (f"{_BASE}.serving:completion_top_logprobs_limit",),
    # Common parts.
    "ErrorResponse": (
        f"{_SERVE}.engine.protocol:ErrorResponse",
        f"{_OPENAI_ENGINE}:ErrorResponse",  # until 0.28.0
    ),
    "PromptTokenUsageInfo": (f"{_SERVE}.engine.protocol:PromptTokenUsageInfo",),
    "UsageInfo": (f"{_SERVE}.engine.protocol:UsageInfo",),
    "load_aware_call": (f"{_SERVE}.utils.api_utils:load_aware_call", f"{_UTILS}:load_aware_call"),
    "should_include_usage": (f"{_SERVE}.utils.api_utils:should_include_usage",),
    "with_cancellation": (
        f"{_SERVE}.utils.api_utils:with_cancellation",
        f"{_UTILS}:with_cancellation",
    ),
    "GenerationError": ("vllm.exceptions:GenerationError",),
    "CompletionOutput": ("vllm.outputs:CompletionOutput",),
    "RequestOutputKind": ("vllm.sampling_params:RequestOutputKind",),
    "init_logger": ("vllm.logger:init_logger",),
}


@functools.cache
def _find(name: str) -> Any:
    for place in _PLACES[name]:
        module, _, attribute = place.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            # A place this release does not have; a missing dependency of vLLM's own is not ours to
            # hide.
            if error.name is None or not module.startswith(error.name):
                raise
        except AttributeError:
            continue
    return None


def has(name: str) -> bool:
    """Whether the installed release has `name`, one of the names of this module."""
    return _find(name) is not None


def __getattr__(name: str) -> Any:
    """The installed release's `name`; ImportError when the release has it nowhere we know."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = _find(name)
    if found is None:
        raise ImportError(
            f"The installed vLLM has no {name}; looked in {', '.join(_PLACES[name])}."
        )
    globals()[name] = found
    return found
