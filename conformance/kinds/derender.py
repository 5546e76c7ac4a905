"""Kinds of request to derender: chat and completions, whole and chunk by chunk."""

from collections.abc import Callable
from typing import Any

from conformance.kinds.kind import Kind
from conformance.support import WEATHER_TOOL, chunk, encode, logprob_entry, response
from fixtures.case import own_id
from fixtures.nodes.lease import Lease

PROMPT = encode("hello world")
IDS = encode("the é 🦊 fox")
THOUGHT = encode("<think>it rains</think>sunny")
CALL = encode('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>')
CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "hello world"}]}
COMPLETION = {"model": "tiny", "prompt": "hello world"}
LOGPROBS = {"logprobs": True, "top_logprobs": 2}
TOOLS = {"tools": [WEATHER_TOOL], "tool_choice": "auto"}


def rows(node: Lease) -> dict[str, Any]:
    """Logprobs for IDS, two candidates each, in the shape of the node's release."""
    return {"content": [logprob_entry(node, own, [(own, -0.25), (A_THIRD, -1.5)]) for own in IDS]}


A_THIRD = 40


def chat(answer: Any, node: str = "plain", status: int = 200, **fields: Any) -> Kind:
    """A whole answer for chat; `answer` is a generate response or a function of the node."""
    return _whole(
        "chat-derender", "derender.chat", "generate_response", answer, node, status, fields
    )


def completions(answer: Any, status: int = 200, **fields: Any) -> Kind:
    def as_list(node: Lease) -> list[dict]:
        made = answer(node) if callable(answer) else answer
        return made if isinstance(made, list) else [made]

    name = "generate_responses"
    return _whole(
        "completions-derender", "derender.completions", name, as_list, "plain", status, fields
    )


def _whole(
    route: str, capability: str, name: str, answer: Any, node: str, status: int, fields: dict
) -> Kind:
    def body(node: Lease) -> dict[str, Any]:
        return {name: answer(node) if callable(answer) else answer, **fields}

    return Kind(route, body, (capability,), status, node)


def piece(route: str, item: Any, *needs: str, node: str = "plain", **fields: Any) -> Kind:
    """One chunk of a stream, the first or, with a `stream_state`, a later one."""

    def body(node: Lease) -> dict[str, Any]:
        made = item(node) if callable(item) else item
        return {"stream": True, "generate_chunk": made, "prompt_token_ids": PROMPT, **fields}

    return Kind(f"{route}-derender", body, (f"derender.{route}.stream", *needs), 200, node)


def scored(make: Callable[..., dict]) -> Callable[[Lease], dict]:
    """`make` called with logprobs for IDS."""
    return lambda node: make(logprobs=rows(node))


def scored_response(**choice: Any) -> dict:
    return response({"token_ids": IDS, **choice})


def scored_chunk(**choice: Any) -> dict:
    return chunk(IDS, "length", **choice)


KINDS: dict[str, Kind] = {
    "chat": chat(response(IDS)),
    "chat-with-request": chat(
        response(IDS), chat_request=CHAT, prompt_tokens=3, prompt_token_ids=PROMPT
    ),
    "chat-logprobs": chat(scored(scored_response), chat_request={**CHAT, **LOGPROBS}),
    "chat-two-choices": chat(response(IDS, IDS[:2])),
    "chat-no-tokens": chat(response([]), status=400),
    "chat-return-token-ids": chat(
        response(IDS), chat_request={**CHAT, "return_token_ids": True}, prompt_token_ids=PROMPT
    ),
    "chat-reasoning": chat(response(THOUGHT), "parsers", chat_request=CHAT),
    "chat-tool-call": chat(response(CALL), "parsers", chat_request={**CHAT, **TOOLS}),
    "chat-no-answer": chat(None, status=400),
    "chat-unknown-model": chat(response(IDS), status=404, model="nobody"),
    "chat-unknown-id": chat(response([100_000])),
    "completions": completions(response(IDS)),
    "completions-two": completions(
        [response(IDS), response(IDS[:3], request_id=own_id("r-2"))],
        completion_request={**COMPLETION, "prompt": ["hello world", "hello"]},
        prompt_tokens=[3, 2],
    ),
    "completions-logprobs": completions(
        lambda node: scored_response(logprobs=rows(node)),
        completion_request={**COMPLETION, "logprobs": 2},
    ),
    "completions-echo": completions(
        response(IDS), completion_request={**COMPLETION, "echo": True}, prompt_token_ids=[PROMPT]
    ),
    "completions-unknown-model": completions(response(IDS), status=404, model="nobody"),
    "chat-first-chunk": piece("chat", chunk(IDS[:4]), chat_request=CHAT),
    "chat-only-chunk": piece("chat", chunk(IDS, "length"), chat_request=CHAT),
    "chat-chunk-logprobs": piece(
        "chat",
        scored(scored_chunk),
        "derender.chat.stream.logprobs",
        chat_request={**CHAT, **LOGPROBS},
    ),
    "chat-chunk-reasoning": piece("chat", chunk(THOUGHT), node="parsers", chat_request=CHAT),
    "chat-chunk-tool-call": piece(
        "chat", chunk(CALL, "stop"), node="parsers", chat_request={**CHAT, **TOOLS}
    ),
    "completions-first-chunk": piece("completions", chunk(IDS[:4]), completion_request=COMPLETION),
    "completions-chunk-logprobs": piece(
        "completions",
        scored(scored_chunk),
        "derender.completions.stream.logprobs",
        completion_request={**COMPLETION, "logprobs": 2},
    ),
}
