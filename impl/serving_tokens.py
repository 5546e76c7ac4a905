"""Generate: vLLM's handler with the tri-state key, streamed derender mode and expert encodings.

What stock already does right is left to it: `X-data-parallel-rank` reaches the engine, a client
that goes away aborts its engine request, an omitted `max_tokens` fills the context, tokens and
text modes. What older releases leave out of that is added by `impl.older_generate`.
"""

import copy
import functools
from collections.abc import AsyncGenerator
from typing import Any, Self

from impl import compat, older_generate
from impl.derender_stream import derender_stream
from impl.protocol import with_encoded_experts
from impl.routed_experts import Encoding, reencode, reencode_stream, routed_experts_start


class ServingTokens(older_generate.completed()):
    """vLLM's generate handler. `routed_experts_encoding` is the server's option, see `impl.app`."""

    routed_experts_encoding: Encoding = "npy"

    async def serve_tokens(self, request: Any, raw_request: Any = None) -> Any:
        """An answer, an error response, or an async generator of SSE events, as vLLM's own."""
        handler = self._with_token_form_of(request)
        if handler is not self:
            return await handler.serve_tokens(request, raw_request)
        if not (request.stream and _is_derender(request)):
            answer = await super().serve_tokens(request, raw_request)
            return self._with_encoded_experts(answer, request)

        if request.sampling_params.prompt_logprob_token_ids is not None:
            return self.create_error_response(
                "prompt_logprob_token_ids are not available when stream=true."
            )
        # vLLM's checks refuse a streamed derender request, so they see it as a full one, marked.
        unstreamed = request.model_copy(update={"stream": False})
        unstreamed._streams_derender = True
        return await super().serve_tokens(unstreamed, raw_request)

    async def serve_tokens_full_generator(
        self, request: Any, result_generator: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not getattr(request, "_streams_derender", False):
            return await super().serve_tokens_full_generator(
                request, result_generator, *args, **kwargs
            )
        # The generator has not begun, so the engine has not yet seen these parameters.
        request.sampling_params.output_kind = compat.RequestOutputKind.DELTA
        request_id, _model_name, request_metadata = args
        return derender_stream(
            self,
            request,
            result_generator,
            request_id,
            request_metadata,
            kwargs["derender_request"],
        )

    def _with_token_form_of(self, request: Any) -> Self:
        """This handler, set to the token form the request asks for: resolved here, once per call.

        An explicit true or false in the parse context wins over --return-tokens-as-token-ids; null
        or absent falls back to it. Tokens and text modes do not read the parse context.
        """
        context = request.parse_context if _is_derender(request) else None
        wanted = getattr(context, "return_tokens_as_token_ids", None)
        if wanted is None or wanted == self.return_tokens_as_token_ids:
            return self
        handler = copy.copy(self)
        handler.return_tokens_as_token_ids = wanted
        return handler

    def _with_encoded_experts(self, answer: Any, request: Any) -> Any:
        if self.routed_experts_encoding == "npy" or isinstance(answer, compat.ErrorResponse):
            return answer
        encode = functools.partial(
            reencode,
            encoding=self.routed_experts_encoding,
            start=routed_experts_start(request.sampling_params),
        )
        return (
            reencode_stream(answer, encode)
            if isinstance(answer, AsyncGenerator)
            else with_encoded_experts(answer, encode)
        )


def _is_derender(request: Any) -> bool:
    # Releases before 0.32.0 have no output modes.
    return getattr(request, "output_mode", "tokens") == "derender"
