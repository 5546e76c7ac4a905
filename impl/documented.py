"""What the OpenAPI document says of the answers that vLLM's own leaves out: a model for each.

Nothing is validated by these models; a route answers with a finished response, as vLLM's does.
"""

import functools
import operator
from typing import Any

from pydantic import RootModel

from impl import compat
from impl.protocol import answer_with_open_experts, streamed_derender_answer

_FULL = ("GenerateTokensResponse", "GenerateTextResponse", "GenerateDerenderResponse")
_STREAMED = ("GenerateTokensStreamResponse", "GenerateTextStreamResponse")
# Name of a route in `compat` -> a whole answer, and the answer to one chunk of a stream.
_DERENDERED = {
    "derender_chat_route": ("ChatCompletionResponse", "DerenderChatStreamResponse"),
    "derender_completions_route": ("CompletionResponse", "DerenderCompletionStreamResponse"),
}
_EMPTY = {"description": "No body: the requests are aborted in the background."}
_IDS = {"type": "array", "items": {"type": "string"}}
_ABORT_BODY = {"type": "object", "properties": {"request_ids": _IDS}, "required": ["request_ids"]}


def answers_of(name: str) -> dict[str, Any]:
    """Keywords of APIRoute that declare the answers of `compat`'s route `name`; empty where the
    release has no models for them.
    """
    if name == "abort_route":
        return _abort()
    if name == "generate_route":
        return _generate()
    models = [getattr(compat, model) for model in _DERENDERED[name] if compat.has(model)]
    return {"responses": {200: {"model": functools.reduce(operator.or_, models)}}} if models else {}


def _generate() -> dict[str, Any]:
    if not all(map(compat.has, (*_FULL[:2], *_STREAMED))):
        return {}
    full = [getattr(compat, name) for name in _FULL if compat.has(name)]
    streamed = [getattr(compat, name) for name in _STREAMED]
    answer = _one_of("GenerateAnswer", map(answer_with_open_experts, full))
    events = [*map(answer_with_open_experts, streamed), *streamed_derender_answer()]
    event = _one_of("GenerateEvent", [*events, compat.ErrorResponse])
    data = {"contentMediaType": "application/json", "contentSchema": _reference(event)}
    content = {
        "type": "object",
        "properties": {"data": {"type": "string", "anyOf": [{"const": "[DONE]"}, data]}},
        "required": ["data"],
    }
    return {
        "response_model": answer,
        # FastAPI learns a second model only as that of a response, whose schema it then is; the
        # document has the last word.
        "responses": {200: {"model": event, "content": {"text/event-stream": {"schema": content}}}},
        "openapi_extra": {
            "responses": {"200": {"content": {"application/json": {"schema": _reference(answer)}}}}
        },
    }


def _abort() -> dict[str, Any]:
    body = {"required": True, "content": {"application/json": {"schema": _ABORT_BODY}}}
    return {
        "responses": {200: _EMPTY, 400: {"model": compat.ErrorResponse}},
        "openapi_extra": {"requestBody": body},
    }


def _one_of(name: str, models: Any) -> type[RootModel]:
    return type(name, (RootModel[functools.reduce(operator.or_, models)],), {})


def _reference(model: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}
