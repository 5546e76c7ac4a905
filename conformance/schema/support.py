"""Which schema of a node's document an answer is judged by."""

from collections.abc import Mapping
from typing import Any

from conformance.kinds import Kind
from fixtures.openapi import Document, Undeclared
from fixtures.wire import Exchange, Wire

STREAM = "text/event-stream"
JSON = "application/json"
_documents: dict[str, Document] = {}

# What vLLM calls an answer that its document may hold without saying which route gives it, newest
# release first: (route, level) or (route, "stream").
NAMES = {
    ("generate", "tokens"): ("GenerateTokensResponse", "GenerateResponse"),
    ("generate", "tokens-stream"): ("GenerateTokensStreamResponse", "GenerateStreamResponse"),
    ("generate", "text"): ("GenerateTextResponse",),
    ("generate", "text-stream"): ("GenerateTextStreamResponse",),
    ("generate", "derender"): ("GenerateDerenderResponse",),
    ("generate", "derender-stream"): ("GenerateDerenderStreamResponse",),
    ("chat-derender", ""): ("ChatCompletionResponse",),
    ("completions-derender", ""): ("CompletionResponse",),
}
# One streamed answer of derender is an object of these two.
CHUNKS = {
    "chat-derender": "ChatCompletionStreamResponse",
    "completions-derender": "CompletionStreamResponse",
}


async def document_of(wire: Wire) -> Document:
    """The node's own document, asked for once."""
    if wire.node_url not in _documents:
        _documents[wire.node_url] = Document((await wire.get("/openapi.json")).expect(200).json)
    return _documents[wire.node_url]


def answer_schema(document: Document, kind: Kind, sent: Mapping, answer: Exchange) -> Any:
    """The schema of an answer's body, or of its events.

    Where the document says nothing of it, the component that vLLM names for it; Undeclared where
    the document does not hold that either.
    """
    content_type = STREAM if answer.is_event_stream else JSON
    try:
        return document.answer(kind.path, answer.status, content_type)
    except Undeclared:
        if answer.status != 200:
            raise
    streamed = sent.get("stream") is True
    if streamed and kind.route in CHUNKS:
        chunk, state = (document.component(name) for name in (CHUNKS[kind.route], STATE))
        return {
            "type": "object",
            "properties": {"chunk": chunk, "stream_state": state},
            "required": ["chunk", "stream_state"],
        }
    level = sent.get("output_mode", "tokens") if kind.route == "generate" else ""
    level += "-stream" if streamed else ""
    schema = document.component(*NAMES.get((kind.route, level), ("an answer of this route",)))
    return {"anyOf": [schema, document.component("ErrorResponse")]} if streamed else schema


STATE = "DerenderStreamState"


def parts(answer: Exchange) -> list[Any]:
    """The bodies that an answer is made of: one, or one an event."""
    return answer.chunks if answer.is_event_stream else [answer.json]
