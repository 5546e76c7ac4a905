"""What generate of older releases leaves out, added around vLLM's own handler (EVOLUTION 4.1).

Until 0.31.0 a request for several choices loses some, or its stream breaks. Until 0.23.0 a stream
has no `routed_experts`. Until 0.21.0 no answer has them, `X-data-parallel-rank` is ignored, and an
omitted `max_tokens` means 16 tokens.
"""

import copy
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import numpy

from impl import compat
from impl.protocol import FILLS_CONTEXT, with_experts
from impl.routed_experts import encode_routed_experts


def _lacks_experts(choice: str) -> bool:
    # From 0.32.0 on the two classes are gone, and their successors have the field.
    return compat.has(choice) and "routed_experts" not in getattr(compat, choice).model_fields


def completed() -> type:
    """vLLM's generate handler with what its release leaves out: vLLM's own from 0.32.0 on."""
    if not FILLS_CONTEXT:
        return ParametersServingTokens
    if _lacks_experts("GenerateResponseStreamChoice"):
        return ExpertsServingTokens
    return ChoicesServingTokens if compat.has("GenerateResponseChoice") else compat.ServingTokens


class ChoicesServingTokens(compat.ServingTokens):
    """Generate until 0.31.0, with every choice of a request for several."""

    async def serve_tokens(self, request: Any, raw_request: Any = None) -> Any:
        """As vLLM's own."""
        if not request.stream:
            # vLLM reads the last output alone, and only this kind has every choice in it.
            request.sampling_params.output_kind = compat.RequestOutputKind.FINAL_ONLY
        try:
            return await super().serve_tokens(request, raw_request)
        except ValueError as error:
            # Up to 0.25.1 the app's own handler answers the same and then drops the connection.
            return self.create_error_response(error)

    def serve_tokens_stream_generator(
        self, request: Any, result_generator: Any, *args: Any, **kwargs: Any
    ) -> AsyncGenerator[str, None]:
        """As vLLM's own."""
        if request.sampling_params.n > 1:
            result_generator = _begin_with_every_choice(result_generator, request.sampling_params.n)
        return super().serve_tokens_stream_generator(request, result_generator, *args, **kwargs)


class ExpertsServingTokens(ChoicesServingTokens):
    """Generate until 0.23.0, with `routed_experts` on each choice, in vLLM's `npy` encoding."""

    async def serve_tokens_full_generator(
        self, request: Any, result_generator: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """As vLLM's own."""
        if not _lacks_experts("GenerateResponseChoice"):
            return await super().serve_tokens_full_generator(
                request, result_generator, *args, **kwargs
            )
        seen: dict[int, str] = {}
        response = await super().serve_tokens_full_generator(
            request, _note_experts(result_generator, seen), *args, **kwargs
        )
        return (
            response if isinstance(response, compat.ErrorResponse) else with_experts(response, seen)
        )

    async def serve_tokens_stream_generator(
        self, request: Any, result_generator: Any, *args: Any, **kwargs: Any
    ) -> AsyncGenerator[str, None]:
        """As vLLM's own."""
        seen: dict[int, str] = {}
        events = super().serve_tokens_stream_generator(
            request, _note_experts(result_generator, seen), *args, **kwargs
        )
        # Closed with us, so that a client that goes away still aborts the engine request at once.
        async with aclosing(events):
            async for event in events:
                yield _with_experts_of(event, seen)


class ParametersServingTokens(ExpertsServingTokens):
    """Generate until 0.21.0, with the header's rank, and an omitted `max_tokens` filling up."""

    async def serve_tokens(self, request: Any, raw_request: Any = None) -> Any:
        """As vLLM's own."""
        if request._omits_max_tokens:
            self._fill_context(request)
        rank = self._get_data_parallel_rank(raw_request)
        if rank is None:
            return await super().serve_tokens(request, raw_request)
        handler = copy.copy(self)
        handler.engine_client = _RankedEngineClient(self.engine_client, rank)
        return await super(ParametersServingTokens, handler).serve_tokens(request, raw_request)

    def _fill_context(self, request: Any) -> None:
        """Set `max_tokens` as this release's render does for a request without one."""
        render, length = self.openai_serving_render, len(request.token_ids)
        # A longer prompt is refused by vLLM itself, in its own words.
        if length <= self.model_config.max_model_len:
            request.sampling_params.max_tokens = compat.get_max_tokens(
                self.model_config.max_model_len,
                None,
                length,
                render.default_sampling_params,
                render.override_max_tokens,
            )


class _RankedEngineClient:
    """An engine client whose generate() runs on one data-parallel rank; else the client itself."""

    def __init__(self, client: Any, rank: int) -> None:
        self._client = client
        self._rank = rank

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        return self._client.generate(*args, **kwargs, data_parallel_rank=self._rank)


async def _begin_with_every_choice(
    outputs: AsyncGenerator[Any, None], count: int
) -> AsyncGenerator[Any, None]:
    """The engine's outputs after an empty one of `count` choices, from which vLLM counts them."""
    begun = False
    async with aclosing(outputs):
        async for output in outputs:
            if not begun:
                begun, first = True, copy.copy(output)
                # Without a token or a finish_reason, none of them becomes a chunk.
                first.outputs = [
                    compat.CompletionOutput(index, "", [], None, None) for index in range(count)
                ]
                yield first
            yield output


async def _note_experts(
    outputs: AsyncGenerator[Any, None], seen: dict[int, str]
) -> AsyncGenerator[Any, None]:
    """The engine's outputs, unchanged; what each says about a choice's experts goes to `seen`."""
    async with aclosing(outputs):
        async for output in outputs:
            # Only 0.21.0 splits the array, and keeps the prompt's part beside the choices.
            prompt = getattr(output, "prompt_routed_experts", None)
            for choice in output.outputs:
                parts = [part for part in (prompt, choice.routed_experts) if part is not None]
                if parts and choice.finish_reason is not None:
                    seen[choice.index] = encode_routed_experts(numpy.concatenate(parts), "npy")
            yield output


def _with_experts_of(event: str, seen: dict[int, str]) -> str:
    """A chunk's event with `routed_experts` on its choices: null until the engine has sent them."""
    data = event.removeprefix("data: ").rstrip("\n")
    chunk = None if data == "[DONE]" else json.loads(data)
    if not chunk or not chunk.get("choices"):
        return event
    for choice in chunk["choices"]:
        choice["routed_experts"] = seen.pop(choice["index"], None)
    return f"data: {json.dumps(chunk, ensure_ascii=False, separators=(',', ':'))}\n\n"
