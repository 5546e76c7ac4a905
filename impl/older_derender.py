"""Logprobs of streamed derender in 0.27.1 to 0.31.0, which drop them (EVOLUTION 4.3).

Chat with a parser keeps dropping them: these releases do not say which tokens the parser shows.
"""

import json
from collections.abc import Iterator
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import Field

from impl import compat

DROPS_LOGPROBS = (
    compat.has("DerenderStreamState")
    and "logprob_text_offset" not in compat.DerenderStreamState.model_fields
)

if DROPS_LOGPROBS:

    class DerenderStreamState(compat.DerenderStreamState):
        """The carried state with the count of characters that 0.32.0 added for `text_offset`."""

        logprob_text_offset: int = Field(default=0, ge=0)


def restore_chat_logprobs(serving: Any, request: Any, chunk: Any) -> None:
    """Give the choices of a derendered chat chunk the logprobs of the generate chunk, decoded."""
    if serving.online_derenderer.parser is not None:
        return
    for choice, logprobs in _decoded(serving, request, chunk):
        choice.logprobs = logprobs


def restore_completion_logprobs(serving: Any, request: Any, chunk: Any) -> None:
    """The same for a completions chunk."""
    start = getattr(request.stream_state, "logprob_text_offset", 0)
    for choice, logprobs in _decoded(serving, request, chunk):
        choice.logprobs = compat.completion_logprobs(logprobs)
        choice.logprobs.text_offset = [start + offset for offset in choice.logprobs.text_offset]


def with_text_offset(answer: Any, request: Any) -> Any:
    """An answer of completions derender whose stream state counts the characters of its tokens."""
    body = json.loads(answer.body)
    if answer.status_code != 200 or "stream_state" not in body:
        return answer
    offset = getattr(request.stream_state, "logprob_text_offset", 0)
    for choice in body["chunk"]["choices"]:
        offset += sum(map(len, (choice["logprobs"] or {}).get("tokens", ())))
    body["stream_state"]["logprob_text_offset"] = offset
    return JSONResponse(content=body)


def _decoded(serving: Any, request: Any, chunk: Any) -> Iterator[tuple[Any, Any]]:
    """Each choice whose generate chunk has logprobs, and these with their tokens decoded."""
    tokenizer = serving.online_derenderer.renderer.get_tokenizer()
    for choice, source in zip(chunk.choices, request.generate_chunk.choices, strict=True):
        if source.logprobs is None or not source.logprobs.content:
            continue
        # A character may have begun in an earlier chunk; its tokens are in the carried state.
        before = request.stream_state.prev_tokens if request.stream_state else []
        first = source.logprobs.content[0]
        context = [
            first.model_copy(update={"token": f"token_id:{token_id}", "top_logprobs": []})
            for token_id in tokenizer.convert_tokens_to_ids(before)
        ]
        resolved = compat.resolve_logprobs(
            source.logprobs.model_copy(update={"content": context + source.logprobs.content}),
            tokenizer,
        )
        resolved.content = resolved.content[len(context) :]
        yield choice, resolved
