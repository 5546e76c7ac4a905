"""Lies of generate about the scores of a prompt, detokenizing, and a route that is closed."""

from tests.mutants.tools import (
    GENERATE,
    asked,
    install_reference,
    prompt_logprobs,
    replace,
    requests,
)


def scores_not_made(app) -> None:
    """prompt_logprob_token_ids are ignored."""

    def change(body: dict) -> dict:
        (body.get("sampling_params") or {}).pop("prompt_logprob_token_ids", None)
        return body

    requests(app, GENERATE, change)


def scores_need_a_tokenizer(app) -> None:
    """A server without a tokenizer has no prompt_logprobs."""
    tokens_only = app.state.args.tokens_only
    prompt_logprobs(app, lambda positions: None if tokens_only else positions)


def impossible_token_has_a_score(app) -> None:
    """In prompt_logprobs -inf is sent as -100, as if it were a number like any other."""

    def change(positions: list) -> list:
        for one in (one for position in positions[1:] for one in position.values()):
            one["logprob"] = max(one["logprob"], -100.0)
        return positions

    prompt_logprobs(app, change)


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


def undetokenized_answer_is_shorter(app) -> None:
    """With detokenize false the last token is not generated."""

    def change(request) -> None:
        if not request.sampling_params.detokenize:
            request.sampling_params.max_tokens -= 1

    asked(app, change)


class _EmptyWhereClosed:
    """Answers 200 and an empty object on a generate route that is not there."""

    def __init__(self, app) -> None:
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        closed = False

        async def changed(message) -> None:
            nonlocal closed
            if message["type"] == "http.response.start":
                closed = message["status"] in (403, 404)
                if closed:
                    headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
                    message = {**message, "status": 200, "headers": headers}
            elif closed:
                more = message.get("more_body", False)
                message = {**message, "body": b"" if more else b"{}"}
            await send(message)

        here = scope["type"] == "http" and scope["path"] == GENERATE
        await self.app(scope, receive, changed if here else send)


def closed_route_answers_nothing(app) -> None:
    """Without the generate route a call to it is a 200 with an empty object."""
    install_reference(app)
    inner = app.middleware_stack or app.build_middleware_stack()
    app.middleware_stack = _EmptyWhereClosed(inner)
