"""How a mutant lies: in the code of the reference or of vLLM, or in bodies on their way.

Each helper installs the reference too. A node is a process of its own, so a replaced method of a
class or a module reaches no other node.
"""

import inspect
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

GENERATE = "/inference/v1/generate"
ABORT = "/inference/v1/abort_requests"
CHAT_RENDER = "/v1/chat/completions/render"
COMPLETIONS_RENDER = "/v1/completions/render"
CHAT_DERENDER = "/v1/chat/completions/derender"
COMPLETIONS_DERENDER = "/v1/completions/derender"

Change = Callable[[Any], Any]
Events = AsyncGenerator[str, None]


def install_reference(app) -> None:
    """The reference, as `--impl reference` installs it."""
    from impl import install

    install(app)


def replace(app, owner: type | Any, **lies: Callable) -> None:
    """Replace functions of a class or a module; `lie(honest, *arguments)` stands for each."""
    for name, lie in lies.items():
        lying = _lying(getattr(owner, name), lie)
        static = isinstance(inspect.getattr_static(owner, name), staticmethod)
        setattr(owner, name, staticmethod(lying) if static else lying)
    install_reference(app)


def _lying(honest: Callable, lie: Callable) -> Callable:
    def lying(*arguments, **keywords):
        return lie(honest, *arguments, **keywords)

    return lying


def module_of(cls: type) -> Any:
    """The module a class of vLLM comes from, wherever the release keeps it."""
    return inspect.getmodule(cls)


# Lies about what generate is asked and answers


def asked(app, change: Callable[[Any], None]) -> None:
    """Pass each generate request that vLLM has validated through `change`, in place."""
    from impl.serving_tokens import ServingTokens

    async def serve(honest, handler, request, raw_request=None):
        change(request)
        return await honest(handler, request, raw_request)

    replace(app, ServingTokens, serve_tokens=serve)


def streams(app, change: Callable[[Events], Events]) -> None:
    """Pass the events of each stream of generate, at every level, through `change`."""
    from impl import serving_tokens

    def changed(honest, *arguments, **keywords):
        return change(honest(*arguments, **keywords))

    replace(app, serving_tokens.ServingTokens, serve_tokens_stream_generator=changed)
    replace(app, serving_tokens, derender_stream=changed)


def chunk_of(event: str) -> dict | None:
    """The chunk in an event; None for [DONE] and for an error."""
    payload = event.removeprefix("data: ").strip()
    chunk = json.loads(payload) if payload.startswith("{") else {}
    return chunk if "choices" in chunk else None


def event_of(chunk: dict) -> str:
    """A chunk as vLLM sends it."""
    return f"data: {json.dumps(chunk)}\n\n"


def each_chunk(app, change: Change) -> None:
    """Pass each chunk of each stream of generate through `change`."""

    async def changed(events: Events) -> Events:
        async for event in events:
            chunk = chunk_of(event)
            yield event if chunk is None else event_of(change(chunk))

    streams(app, changed)


def each_choice(change: Callable[[dict], object]) -> Change:
    """A change of every choice in place; the rest of the body stays."""

    def changed(body: dict) -> dict:
        for choice in body.get("choices", []):
            change(choice)
        return body

    return changed


# Lies about bodies: ASGI layers over an app that already has the reference in it


class ChangedAnswers:
    """Passes each successful JSON body, or each chunk of a stream, on `path` through `change`."""

    def __init__(self, app, path: str, change: Change) -> None:
        self.app, self.path, self.change = app, path, change

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http" or scope["path"] != self.path:
            await self.app(scope, receive, send)
            return
        held, parts = {}, []

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
    """Passes each JSON object sent to `path` through `change` before vLLM sees it."""

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
            sent = json.loads(body)
        except ValueError:
            sent = None  # not JSON: the lie is not about it
        if isinstance(sent, dict):
            body = json.dumps(self.change(sent)).encode()
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def changed() -> dict:
            return waiting.pop() if waiting else await receive()

        headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self.app({**scope, "headers": headers}, changed, send)


def answers(app, path: str, change: Change) -> None:
    """Install `change` over what the reference answers on `path`."""
    install_reference(app)
    _layer(app, ChangedAnswers, path, change)


def prompt_logprobs(app, change: Change) -> None:
    """Pass the prompt_logprobs of each full answer of generate that has some through `change`."""

    def changed(body: dict) -> dict:
        if body.get("prompt_logprobs"):
            body["prompt_logprobs"] = change(body["prompt_logprobs"])
        return body

    answers(app, GENERATE, changed)


def requests(app, path: str, change: Change) -> None:
    """Install `change` over what the reference is asked on `path`."""
    install_reference(app)
    _layer(app, ChangedRequests, path, change)


def _layer(app, layer: type, path: str, change: Change) -> None:
    # By hand, because `add_middleware` refuses an app whose middleware vLLM has built already.
    inner = app.middleware_stack or app.build_middleware_stack()
    app.middleware_stack = layer(inner, path, change)


def derendered(app, change: Change) -> None:
    """Pass each answer of both derender routes, the chunk of a streamed one, through `change`."""

    def changed(body: dict) -> dict:
        return {**body, "chunk": change(body["chunk"])} if "chunk" in body else change(body)

    answers(app, CHAT_DERENDER, changed)
    answers(app, COMPLETIONS_DERENDER, changed)


def derender_asked(app, change: Change) -> None:
    """Pass each request to both derender routes through `change`."""
    requests(app, CHAT_DERENDER, change)
    requests(app, COMPLETIONS_DERENDER, change)
