"""Derender: the client's `return_tokens_as_token_ids` wins over the server's flag.

Stock derender always decodes. Where placeholders are wanted, its answer is kept (text, cuts,
errors) and only the logprobs are renamed, from the ids of the generate answer, position by
position.
"""

from typing import Any

from impl import compat, older_derender


class ServingDerender(compat.ServingDerender):
    """vLLM's derender handler. Errors are vLLM's, returned as they are."""

    return_tokens_as_token_ids: bool = False
    """The server's flag --return-tokens-as-token-ids."""

    def _wants_placeholders(self, client_request: Any) -> bool:
        requested = getattr(client_request, "return_tokens_as_token_ids", None)
        return self.return_tokens_as_token_ids if requested is None else requested

    async def derender_chat_response(self, request: Any) -> Any:
        response = await super().derender_chat_response(request)
        if not isinstance(response, compat.ErrorResponse) and self._wants_placeholders(
            request.chat_request
        ):
            _rename_chat_logprobs(response.choices, request.generate_response.choices)
        return response

    async def derender_chat_stream_response(self, request: Any) -> Any:
        response = await super().derender_chat_stream_response(request)
        if older_derender.DROPS_LOGPROBS and not isinstance(response, compat.ErrorResponse):
            older_derender.restore_chat_logprobs(self, request, response[0])
        if not isinstance(response, compat.ErrorResponse) and self._wants_placeholders(
            request.chat_request
        ):
            chunk, _state = response
            _rename_chat_logprobs(chunk.choices, request.generate_chunk.choices)
        return response

    async def derender_completion_response(self, request: Any) -> Any:
        response = await super().derender_completion_response(request)
        client_request = request.completion_request
        if not isinstance(response, compat.ErrorResponse) and self._wants_placeholders(
            client_request
        ):
            sources = [
                choice for generated in request.generate_responses for choice in generated.choices
            ]
            for choice, source in zip(response.choices, sources, strict=True):
                _rename_completion_logprobs(
                    choice.logprobs, source.logprobs, client_request, start=0
                )
        return response

    async def derender_completion_stream_response(self, request: Any) -> Any:
        response = await super().derender_completion_stream_response(request)
        if older_derender.DROPS_LOGPROBS and not isinstance(response, compat.ErrorResponse):
            older_derender.restore_completion_logprobs(self, request, response[0])
        client_request = request.completion_request
        if not isinstance(response, compat.ErrorResponse) and self._wants_placeholders(
            client_request
        ):
            chunk, state = response
            start = getattr(request.stream_state, "logprob_text_offset", 0)
            for choice, source in zip(chunk.choices, request.generate_chunk.choices, strict=True):
                end = _rename_completion_logprobs(
                    choice.logprobs, source.logprobs, client_request, start
                )
                if end is not None and not older_derender.DROPS_LOGPROBS:
                    # The next chunk counts on from the placeholders' length, not from the decoded
                    # text's.
                    state.logprob_text_offset = end
        return response


def _placeholder(entry: Any) -> str:
    # Up to 0.31.0 the entries of generate are named by their placeholders already.
    return f"token_id:{entry.token_id}" if hasattr(entry, "token_id") else entry.token


def _rename_chat_logprobs(choices: list[Any], sources: list[Any]) -> None:
    """Give every logprob of `choices` its placeholder, with null bytes as in generate's text mode.

    Coupled chat differs: bytes of the decoded token for the sampled one, of the placeholder string
    for candidates.
    """
    for choice, source in zip(choices, sources, strict=True):
        if choice.logprobs is None or not choice.logprobs.content:
            continue
        for entry, own in zip(choice.logprobs.content, source.logprobs.content, strict=True):
            entry.token, entry.bytes = _placeholder(own), None
            # Stock may have cut the candidates, never reordered them.
            for candidate, own_candidate in zip(entry.top_logprobs, own.top_logprobs, strict=False):
                candidate.token, candidate.bytes = _placeholder(own_candidate), None


def _rename_completion_logprobs(
    logprobs: Any, source: Any, client_request: Any, start: int
) -> int | None:
    """Rebuild one choice's lists over placeholders; returns the offset after the last token.

    `text_offset` counts characters of the tokens as sent, from `start`, as /v1/completions does.
    """
    if logprobs is None or not logprobs.tokens:
        return None
    limit = _candidate_limit(client_request)
    offsets, offset = [], start
    logprobs.tokens = [_placeholder(entry) for entry in source.content]
    for token in logprobs.tokens:
        offsets.append(offset)
        offset += len(token)
    logprobs.text_offset = offsets
    # Rebuilt from the source: stock keys this dict by decoded text, where two ids may have
    # collapsed into one.
    logprobs.top_logprobs = [
        {_placeholder(candidate): candidate.logprob for candidate in entry.top_logprobs[:limit]}
        if entry.top_logprobs
        else None
        for entry in source.content
    ]
    return offset


def _candidate_limit(client_request: Any) -> int | None:
    """How many candidates /v1/completions keeps for this request; None keeps all."""
    if client_request is None or not compat.has("completion_top_logprobs_limit"):
        return None
    return compat.completion_top_logprobs_limit(
        client_request.logprobs, bool(client_request.logprob_token_ids)
    )
