"""Servers that do nothing, as implementations: how many cases does each pass?

Run as `--impl tests.nulls:NAME`. Health and the script control stay, so that the harness works.
"""

import json


class Null:
    """Answers every route but /health by `answer`."""

    def __init__(self, app, answer) -> None:
        self.app, self.answer = app, answer

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http" or scope["path"] == "/health":
            await self.app(scope, receive, send)
        else:
            await self.answer(scope, receive, send)


def put_before(app, answer) -> None:
    """Let `answer` stand before everything vLLM built; by hand, because vLLM's layers exist already."""
    app.middleware_stack = Null(app.middleware_stack or app.build_middleware_stack(), answer)


async def body_of(receive) -> bytes:
    """The whole request body."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def respond(send, status: int, body: bytes, kind: bytes = b"application/json") -> None:
    """One answer."""
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def empty(app) -> None:
    """200 and nothing in it."""

    async def answer(scope, receive, send) -> None:
        await body_of(receive)
        await respond(send, 200, b"")

    put_before(app, answer)


def echo(app) -> None:
    """200 and the request's own body."""

    async def answer(scope, receive, send) -> None:
        await respond(send, 200, await body_of(receive))

    put_before(app, answer)


def missing(app) -> None:
    """404 for everything, as FastAPI says it."""

    async def answer(scope, receive, send) -> None:
        await body_of(receive)
        await respond(send, 404, json.dumps({"detail": "Not Found"}).encode())

    put_before(app, answer)


def closing(app) -> None:
    """Takes the request and closes the connection."""

    async def answer(scope, receive, send) -> None:
        await body_of(receive)
        # An incomplete answer makes the server close the connection.
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]}
        )

    put_before(app, answer)


NULLS = (empty, echo, missing, closing)
