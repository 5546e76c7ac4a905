"""A trainer's client: one generate call gives a served model's logprob of every given token.

The call runs over prompt and completion together with `prompt_logprobs=1`, so that nothing needs
to be decoded or tokenized again. Needs httpx only.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

import httpx

GENERATE_PATH = "/inference/v1/generate"

MAX_RESPONSE_BYTES = 256 * 1024 * 1024
"""Bytes of an answer that are read at most; a prompt of a million tokens takes about 200 MiB."""

SENTINEL_LOGPROB = -9999.0
"""What vLLM sends for a logprob that is NaN or -inf; not a number to train on."""


class TeacherLogprobsError(Exception):
    """No logprobs were obtained; the subclasses say why."""


class RefusedError(TeacherLogprobsError):
    """The server answered with a status other than 2xx."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        super().__init__(f"The server answered {status}: {body[:500].decode(errors='replace')}")


class InvalidAnswerError(TeacherLogprobsError):
    """The answer is not JSON with a list of prompt_logprobs, or is too large or too slow."""


class LengthMismatchError(TeacherLogprobsError):
    """The answer does not have one entry per token sent."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"Sent {expected} tokens, got {actual} entries of prompt_logprobs.")


class MissingTokenError(TeacherLogprobsError):
    """The entry at a position does not hold the token that was sent there."""

    def __init__(self, position: int, token_id: int) -> None:
        self.position, self.token_id = position, token_id
        super().__init__(f"The entry at position {position} has no logprob for token {token_id}.")


class UnusableLogprobError(TeacherLogprobsError):
    """A logprob is null, not a number, positive, NaN or the sentinel for one."""

    def __init__(self, position: int, value: Any) -> None:
        self.position = position
        super().__init__(
            f"The logprob at position {position} is {value!r}, which is not a usable logprob."
        )


def teacher_logprobs(
    base_url: str,
    prompt_token_ids: Sequence[int],
    completion_token_ids: Sequence[int],
    *,
    model: str | None = None,
    client: httpx.Client | None = None,
    timeout: float = 60.0,
) -> list[float]:
    """Logprobs (natural log) of prompt and completion, one per token; 0.0 for the first.

    `base_url` may be an OpenAI client's, ending in /v1: generate is posted beside it, not under
    it. `timeout` bounds the whole call, in seconds. Raises a TeacherLogprobsError, or
    httpx.HTTPError when the server cannot be reached. An async caller uses `asyncio.to_thread`.
    """
    if client is None:
        with httpx.Client() as own_client:
            return teacher_logprobs(
                base_url,
                prompt_token_ids,
                completion_token_ids,
                model=model,
                client=own_client,
                timeout=timeout,
            )
    token_ids = [*prompt_token_ids, *completion_token_ids]
    # The one token that must be generated is sampled plainly and thrown away.
    sampling_params = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "prompt_logprobs": 1}
    body = {"token_ids": token_ids, "sampling_params": sampling_params, "stream": False}
    if model is not None:
        body["model"] = model
    deadline = time.monotonic() + timeout
    with client.stream("POST", _generate_url(base_url), json=body, timeout=timeout) as response:
        answer = _read(response, deadline)
    if not response.is_success:
        raise RefusedError(response.status_code, answer)
    return logprobs_of_tokens(_prompt_logprobs(answer), token_ids)


def logprobs_of_tokens(
    prompt_logprobs: list[dict[str, Any] | None], token_ids: Sequence[int]
) -> list[float]:
    """One float per token out of vLLM's `prompt_logprobs`: null, then a dict by token id each.

    Each entry may hold other candidates, in any order, so the value is the one under the token's
    own id. Raises LengthMismatchError, MissingTokenError or UnusableLogprobError.
    """
    if len(prompt_logprobs) != len(token_ids):
        raise LengthMismatchError(len(token_ids), len(prompt_logprobs))
    values = []
    for position, (entry, token_id) in enumerate(zip(prompt_logprobs, token_ids, strict=True)):
        if position == 0 and entry is None:
            values.append(0.0)
            continue
        candidate = entry.get(str(token_id)) if isinstance(entry, dict) else None
        if not isinstance(candidate, dict):
            raise MissingTokenError(position, token_id)
        values.append(_usable(candidate.get("logprob"), position))
    return values


def _usable(value: Any, position: int) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # Written so that NaN fails; a little above zero is rounding.
    if not (is_number and SENTINEL_LOGPROB < value < 1e-3):
        raise UnusableLogprobError(position, value)
    return float(value)


def _generate_url(base_url: str) -> str:
    return base_url.rstrip("/").removesuffix("/v1") + GENERATE_PATH


def _read(response: httpx.Response, deadline: float) -> bytes:
    """The whole body; httpx bounds the wait for each part, not their sum, nor the size."""
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > MAX_RESPONSE_BYTES:
            raise InvalidAnswerError(f"The answer is longer than {MAX_RESPONSE_BYTES} bytes.")
        if time.monotonic() > deadline:
            raise InvalidAnswerError("The answer did not end in time.")
    return bytes(body)


def _prompt_logprobs(answer: bytes) -> list[dict[str, Any] | None]:
    try:
        parsed = json.loads(answer)
    except ValueError as error:
        raise InvalidAnswerError("The answer is not JSON.") from error
    entries = parsed.get("prompt_logprobs") if isinstance(parsed, dict) else None
    if not isinstance(entries, list):
        raise InvalidAnswerError("The answer has no list of prompt_logprobs.")
    return entries
