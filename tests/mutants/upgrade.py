"""Lies that only a mix of releases shows."""

from tests.mutants import override
from tests.mutants.render import _rendered
from tests.mutants.tools import CHAT_DERENDER, CHAT_RENDER, answers


def render_emits_null(app) -> None:
    """An upgraded render sends the unset override as null, a key that older generate nodes refuse."""
    override.render_emits_null(app)


def max_tokens_dropped(app) -> None:
    """A rendered request has no max_tokens."""
    _rendered(app, lambda body: body["sampling_params"].pop("max_tokens", None))


def salt_shortened(app) -> None:
    """A rendered chat has the first four characters of its cache_salt, so tenants share a cache."""

    def change(body: dict) -> dict:
        return {**body, "cache_salt": body["cache_salt"] and body["cache_salt"][:4]}

    answers(app, CHAT_RENDER, change)


def derendered_logprobs_lost(app) -> None:
    """A derendered chat has no logprobs."""

    def change(body: dict) -> dict:
        return {**body, "choices": [{**c, "logprobs": None} for c in body["choices"]]}

    answers(app, CHAT_DERENDER, change)
