"""Lies to a client that scores given tokens by their prompt_logprobs."""

import json
from collections import Counter

from tests.mutants.logprobs import _prompt
from tests.mutants.tools import replace


def scored_lower_each_time(app) -> None:
    """A prompt that was scored before is scored lower, as if its cached part were rounded."""
    times: Counter[str] = Counter()

    def change(positions: list) -> list:
        honest = json.dumps(positions)
        for one in (one for position in positions[1:] for one in position.values()):
            one["logprob"] -= 1e-3 * times[honest]
        times[honest] += 1
        return positions

    _prompt(app, change)


def scores_need_a_tokenizer(app) -> None:
    """A server without a tokenizer has no prompt_logprobs."""
    tokens_only = app.state.args.tokens_only
    _prompt(app, lambda positions: None if tokens_only else positions)


def impossible_token_has_a_score(app) -> None:
    """In prompt_logprobs -inf is sent as -100, as if it were a number like any other."""

    def change(positions: list) -> list:
        for one in (one for position in positions[1:] for one in position.values()):
            one["logprob"] = max(one["logprob"], -100.0)
        return positions

    _prompt(app, change)


def missing_token_has_a_score(app) -> None:
    """A prompt token that its entry lacks gets the value of the first candidate there."""
    from impl.serving_tokens import ServingTokens

    async def serve(honest, handler, request, raw_request=None):
        answer = await honest(handler, request, raw_request)
        positions = getattr(answer, "prompt_logprobs", None) or ()
        for token_id, position in zip(request.token_ids, positions, strict=False):
            if position:
                position.setdefault(token_id, next(iter(position.values())))
        return answer

    replace(app, ServingTokens, serve_tokens=serve)
