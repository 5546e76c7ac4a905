"""Which schema of a node's document an answer is judged by."""

from collections.abc import Mapping
from typing import Any

from conformance.kinds import FLAGS, Kind
from fixtures.case import Node
from fixtures.openapi import Document, Undeclared
from fixtures.outcome import Unsupported
from fixtures.wire import Exchange, Wire

STREAM = "text/event-stream"
JSON = "application/json"
_documents: dict[str, tuple[Document, Exchange]] = {}
_answers: dict[tuple[str, str], Exchange] = {}

# What vLLM calls an answer that its document may hold without saying which route gives it, newest
# release first: (route, level of generate, and whether it is a chunk).
NAMES = {
    ("generate", "tokens"): ("GenerateTokensResponse", "GenerateResponse"),
    ("generate", "tokens-stream"): ("GenerateTokensStreamResponse", "GenerateStreamResponse"),
    ("generate", "text"): ("GenerateTextResponse",),
    ("generate", "text-stream"): ("GenerateTextStreamResponse",),
    ("generate", "derender"): ("GenerateDerenderResponse",),
    ("generate", "derender-stream"): ("GenerateDerenderStreamResponse",),
    ("chat-derender", ""): ("ChatCompletionResponse",),
    ("completions-derender", ""): ("CompletionResponse",),
    ("chat", ""): ("ChatCompletionResponse",),
    ("chat", "-stream"): ("ChatCompletionStreamResponse",),
    ("completions", ""): ("CompletionResponse",),
    ("completions", "-stream"): ("CompletionStreamResponse",),
}
# One streamed answer of derender is an object of these two.
STATE = "DerenderStreamState"
CHUNKS = {
    "chat-derender": "ChatCompletionStreamResponse",
    "completions-derender": "CompletionStreamResponse",
}


async def document_of(wire: Wire, path: str) -> Document:
    """The document of the server that serves `path`, asked for once by a worker; each case reports
    the exchange.
    """
    server = wire.url_for(path)
    if server in _documents:
        document, exchange = _documents[server]
        wire.case_record.add(exchange)
        return document
    exchange = (await wire.get("/openapi.json", of=path)).expect(200)
    document = Document(exchange.json)
    _documents[server] = document, exchange
    return document


async def described(wire: Wire, path: str) -> Document:
    """As `document_of`; the report tells what the document declares, for a run that is compared."""
    document = await document_of(wire, path)
    wire.case_record.documents.add(_documents[wire.url_for(path)][1].body)
    return document


async def asked(kind: Kind, wire: Wire, lease: Any) -> tuple[Exchange, Wire]:
    """What came of `kind`, of whatever status, and the wire to the node that the kind wishes for.

    A worker sends each kind once to a server, as long as it lives: all further cases, of any module,
    judge and report the same exchange.
    """
    if kind.node != "plain":
        wire = await lease(Node("real", *FLAGS[kind.node]))
    key = wire.url_for(kind.path), kind.name
    if key in _answers:
        wire.case_record.add(_answers[key])
    else:
        _answers[key] = await kind.send(wire, wire.node)
    return _answers[key], wire


async def answered(kind: Kind, wire: Wire, lease: Any) -> tuple[Exchange, Wire]:
    """As `asked`, with the status that the kind is answered with."""
    answer, wire = await asked(kind, wire, lease)
    # a server may see before the stream begins what vLLM sees after
    if not (kind.error_event and answer.status == 400):
        answer.expect(kind.status)
    return answer, wire


def answer_schema(document: Document, kind: Kind, answer: Exchange) -> Any:
    """The schema of an answer's body, or of its events.

    Where the document says nothing of it, the component that vLLM names for it. Where it does not
    hold that either there is nothing to judge by: Unsupported, for that is told once for the route
    (schema.routes.answer-declared).
    """
    sent = answer.request
    content_type = STREAM if answer.is_event_stream else JSON
    try:
        return document.answer(kind.path, answer.status, content_type)
    except Undeclared:
        if answer.status != 200:
            raise
    try:
        return _named(document, kind, sent)
    except Undeclared as gap:
        raise Unsupported(f"{kind.path} has no declared answer, and {gap}") from None


def _named(document: Document, kind: Kind, sent: Mapping) -> Any:
    """The components that vLLM names for an answer; Undeclared where the document lacks one."""
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
    schema = document.component(*NAMES[kind.route, level])
    return {"anyOf": [schema, document.component("ErrorResponse")]} if streamed else schema


def parts(answer: Exchange) -> list[Any]:
    """The bodies that an answer is made of: one, or one an event."""
    return answer.chunks if answer.is_event_stream else [answer.json]
