"""Kinds of request to render: chat, completions, messages and responses."""

from typing import Any

from conformance.kinds.kind import Kind
from conformance.support import WEATHER_TOOL
from fixtures.case import own_id

HELLO = [{"role": "user", "content": "hello world"}]
TURNS = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "é 🦊?"},
    {"role": "assistant", "content": "the fox"},
    {"role": "user", "content": [{"type": "text", "text": "again"}]},
]


def chat(*, status: int = 200, node: str = "plain", **fields: Any) -> Kind:
    body = {"messages": HELLO, "temperature": 0.0, **fields}
    return Kind("chat-render", body, ("render.chat",), status, node)


def completions(*, status: int = 200, **fields: Any) -> Kind:
    body = {"prompt": "hello world", "temperature": 0.0, **fields}
    return Kind("completions-render", body, ("render.completions",), status)


MESSAGES_BODY = {"messages": HELLO, "max_tokens": 5}

KINDS: dict[str, Kind] = {
    "chat": chat(),
    "chat-turns": chat(messages=TURNS, max_tokens=5),
    "chat-sampling": chat(
        temperature=1.0,
        max_completion_tokens=7,
        seed=3,
        top_p=0.5,
        stop=["x"],
        n=2,
        logprobs=True,
        top_logprobs=3,
    ),
    "chat-tools": chat(tools=[WEATHER_TOOL], tool_choice="none"),
    "chat-parsers": chat(node="parsers", tools=[WEATHER_TOOL], tool_choice="auto"),
    "chat-hidden-reasoning": chat(node="parsers", include_reasoning=False),
    "chat-tool-required": chat(node="parsers", tools=[WEATHER_TOOL], tool_choice="required"),
    "chat-response-format": chat(response_format={"type": "json_object"}),
    "chat-stream": chat(stream=True, stream_options={"include_usage": True}),
    "chat-return-token-ids": chat(return_token_ids=True),
    "chat-offsets": chat(return_token_offsets=True),
    "chat-ids": chat(request_id=own_id("kind"), cache_salt=own_id("salt"), priority=0),
    "chat-no-messages": chat(status=400, messages=7),
    "chat-unknown-model": chat(status=404, model="nobody"),
    "completions": completions(),
    "completions-two-prompts": completions(prompt=["hello", "the fox"], max_tokens=5),
    "completions-token-ids": completions(prompt=[20, 21, 22], logprobs=2, echo=False),
    "completions-offsets": completions(return_token_offsets=True),
    "completions-stream": completions(stream=True),
    "completions-unknown-model": completions(status=404, model="nobody"),
    "completions-no-prompt": completions(status=400, prompt=None),
    "messages": Kind("messages-render", MESSAGES_BODY, ("render.messages",)),
    "messages-system": Kind(
        "messages-render", {**MESSAGES_BODY, "system": "Be brief."}, ("render.messages",)
    ),
    "messages-unknown-model": Kind(
        "messages-render", {**MESSAGES_BODY, "model": "nobody"}, ("render.messages",), 404
    ),
    "responses": Kind("responses-render", {"input": "hello world"}, ("render.responses",)),
    "responses-unknown-model": Kind(
        "responses-render", {"input": "hello", "model": "nobody"}, ("render.responses",), 404
    ),
}
