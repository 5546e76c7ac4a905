"""How a mutant lies about bodies: ASGI layers over an app that already has the reference in it."""

import json
from collections.abc import Callable

GENERATE = "/inference/v1/generate"
CHAT_RENDER = "/v1/chat/completions/render"
COMPLETIONS_RENDER = "/v1/completions/render"
CHAT_DERENDER = "/v1/chat/completions/derender"
COMPLETIONS_DERENDER = "/v1/completions/derender"

Change = Callable[[dict], dict | list]


class ChangedAnswers:
    """Passes each successful JSON body, or each chunk of a stream, on `path` through `change`."""

    def __init__(self, app, path: str, change: Change) -> None:
        self.app, self.path, self.change = app, path, change

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http" or scope["path"] != self.path:
            await self.app(scope, receive, send)
            return
        held = {}
        parts = []

        async def changed(message) -> None:
            if message["type"] == "http.response.start":
                held.update(message)
                return
            kind = dict(held["headers"]).get(b"content-type", b"")
            if held["status"] != 200 or kind.startswith(b"text/event-stream"):
                if not parts:
                    parts.append(b"")
                    await send(held)
                if held["status"] == 200:
                    message = {**message, "body": self.frames(message.get("body", b""))}
                await send(message)
                return
            parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            body = json.dumps(self.change(json.loads(b"".join(parts)))).encode()
            headers = [pair for pair in held["headers"] if pair[0] != b"content-length"]
            headers.append((b"content-length", str(len(body)).encode()))
            await send({**held, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, changed)

    def frames(self, body: bytes) -> bytes:
        """vLLM sends whole frames, so a message can be changed frame by frame."""
        out = []
        for frame in body.split(b"\n\n"):
            payload = frame.removeprefix(b"data: ")
            if payload.startswith(b"{"):
                frame = b"data: " + json.dumps(self.change(json.loads(payload))).encode()
            out.append(frame)
        return b"\n\n".join(out)


class ChangedRequests:
    """Passes each request body on `path` through `change` before vLLM sees it."""

    def __init__(self, app, path: str, change: Change) -> None:
        self.app, self.path, self.change = app, path, change

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http" or scope["path"] != self.path:
            await self.app(scope, receive, send)
            return
        parts, more = [], True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        body = b"".join(parts)
        try:
            body = json.dumps(self.change(json.loads(body))).encode()
        except ValueError:
            pass  # not JSON: the lie is not about it
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def changed() -> dict:
            return waiting.pop() if waiting else await receive()

        headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self.app({**scope, "headers": headers}, changed, send)


def answers(app, path: str, change: Change) -> None:
    """Install the reference, and `change` over what it answers on `path`."""
    install_reference(app)
    app.add_middleware(ChangedAnswers, path=path, change=change)


def requests(app, path: str, change: Change) -> None:
    """Install the reference, and `change` over what it is asked on `path`."""
    install_reference(app)
    app.add_middleware(ChangedRequests, path=path, change=change)


def install_reference(app) -> None:
    """The reference, as `--impl reference` installs it."""
    from impl import install

    install(app)


def each_choice(change: Callable[[dict], object]) -> Change:
    """A change of every choice in place; the rest of the body stays."""

    def changed(body: dict) -> dict:
        for choice in body.get("choices", []):
            change(choice)
        return body

    return changed
