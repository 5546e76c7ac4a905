"""Every scale-out route with a small request that it answers with 200: for rules about all of them."""

from dataclasses import dataclass
from typing import Any

from conformance.support import chunk, response
from fixtures.wire import Exchange

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
PROMPT = [20, 21, 22, 23]
MESSAGES = [{"role": "user", "content": "hello"}]
GENERATE = {"token_ids": PROMPT, "sampling_params": {"max_tokens": 2, "temperature": 0.0}}
CHUNK = {"stream": True, "generate_chunk": chunk([20]), "prompt_token_ids": PROMPT}


@dataclass(frozen=True)
class Route:
    """A route, a body for it, what `fixtures.capabilities` calls it, and a key of its answer."""

    path: str
    body: dict[str, Any]
    capability: str
    key: str

    def served(self, answer: Exchange) -> Exchange:
        """`answer` if it is this route's: 200, and the key in every body of it."""
        bodies = answer.expect(200).chunks if answer.is_event_stream else answer.json
        for body in bodies if isinstance(bodies, list) and bodies else [bodies]:
            assert isinstance(body, dict) and body.get(self.key), f"no {self.key} in {body!r}"
        return answer


ROUTES = {
    "generate": Route("/inference/v1/generate", GENERATE, "generate", "choices"),
    "generate-stream": Route(
        "/inference/v1/generate", {**GENERATE, "stream": True}, "generate-stream", "choices"
    ),
    "render-chat": Route(f"{CHAT}/render", {"messages": MESSAGES}, "render.chat", "token_ids"),
    "render-completions": Route(
        f"{COMPLETIONS}/render", {"prompt": "hello"}, "render.completions", "token_ids"
    ),
    "render-messages": Route(
        "/v1/messages/render",
        {"messages": MESSAGES, "max_tokens": 4},
        "render.messages",
        "token_ids",
    ),
    "render-responses": Route(
        "/v1/responses/render", {"input": "hello"}, "render.responses", "token_ids"
    ),
    "derender-chat": Route(
        f"{CHAT}/derender", {"generate_response": response([20, 21])}, "derender.chat", "choices"
    ),
    "derender-chat-stream": Route(f"{CHAT}/derender", CHUNK, "derender.chat.stream", "chunk"),
    "derender-completions": Route(
        f"{COMPLETIONS}/derender",
        {"generate_responses": [response([20, 21])]},
        "derender.completions",
        "choices",
    ),
    "derender-completions-stream": Route(
        f"{COMPLETIONS}/derender", CHUNK, "derender.completions.stream", "chunk"
    ),
}
"""The routes that name a model, by a name that says what they answer."""

ABORT = "/inference/v1/abort_requests"
ABORT_BODY = {"request_ids": ["tokenwire-none"]}


class Abort(Route):
    """The abort route, which answers by an empty body."""

    def served(self, answer: Exchange) -> Exchange:
        """As a Route's."""
        assert answer.expect(200).body == b""
        return answer


EVERY_ROUTE = {**ROUTES, "abort": Abort(ABORT, ABORT_BODY, "abort-route", "")}
