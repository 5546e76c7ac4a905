"""Lies of generate about scores of chosen prompt ids, detokenizing, and a route that is closed."""

from tests.mutants.tools import GENERATE, asked, install_reference, requests


def scores_not_made(app) -> None:
    """prompt_logprob_token_ids are ignored."""

    def change(body: dict) -> dict:
        (body.get("sampling_params") or {}).pop("prompt_logprob_token_ids", None)
        return body

    requests(app, GENERATE, change)


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
