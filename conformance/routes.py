"""Every scale-out route with a small request that it answers with 200: for rules about all of them."""

from dataclasses import dataclass
from typing import Any

from conformance.support import chunk, response

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
PROMPT = [20, 21, 22, 23]
MESSAGES = [{"role": "user", "content": "hello"}]
GENERATE = {"token_ids": PROMPT, "sampling_params": {"max_tokens": 2, "temperature": 0.0}}
CHUNK = {"stream": True, "generate_chunk": chunk([20]), "prompt_token_ids": PROMPT}


@dataclass(frozen=True)
class Route:
    """A route, a body for it, and what `fixtures.capabilities` calls it."""

    path: str
    body: dict[str, Any]
    capability: str


ROUTES = {
    "generate": Route("/inference/v1/generate", GENERATE, "generate"),
    "generate-stream": Route(
        "/inference/v1/generate", {**GENERATE, "stream": True}, "generate-stream"
    ),
    "render-chat": Route(f"{CHAT}/render", {"messages": MESSAGES}, "render.chat"),
    "render-completions": Route(f"{COMPLETIONS}/render", {"prompt": "hello"}, "render.completions"),
    "render-messages": Route(
        "/v1/messages/render", {"messages": MESSAGES, "max_tokens": 4}, "render.messages"
    ),
    "render-responses": Route("/v1/responses/render", {"input": "hello"}, "render.responses"),
    "derender-chat": Route(
        f"{CHAT}/derender", {"generate_response": response([20, 21])}, "derender.chat"
    ),
    "derender-chat-stream": Route(f"{CHAT}/derender", CHUNK, "derender.chat.stream"),
    "derender-completions": Route(
        f"{COMPLETIONS}/derender",
        {"generate_responses": [response([20, 21])]},
        "derender.completions",
    ),
    "derender-completions-stream": Route(
        f"{COMPLETIONS}/derender", CHUNK, "derender.completions.stream"
    ),
}
"""The routes that name a model, by a name that says what they answer."""

ABORT = Route("/inference/v1/abort_requests", {"request_ids": ["tokenwire-none"]}, "abort-route")
EVERY_ROUTE = {**ROUTES, "abort": ABORT}
