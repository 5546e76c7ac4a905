"""The bodies that differ from vLLM's: generate requests, chunks of a streamed derender mode."""

import functools
from collections.abc import Callable
from typing import Any, Literal, get_args

from pydantic import (
    BaseModel,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    StrictBool,
    create_model,
    field_serializer,
    model_serializer,
    model_validator,
)

from impl import compat, older_derender

HAS_DERENDER_MODE = compat.has("ParseContext")
# Whether vLLM's body remembers that max_tokens was omitted (0.22.1 and later).
FILLS_CONTEXT = hasattr(compat.GenerateRequest, "is_sampling_param_provided")

if HAS_DERENDER_MODE:

    class ParseContext(compat.ParseContext):
        """vLLM's parse context with the tri-state key; null means "as the server is set"."""

        # Strict: "yes" or 1 must not be read as an explicit true.
        return_tokens_as_token_ids: StrictBool | None = None

        @model_serializer(mode="wrap")
        def _leave_out_null(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
            # A stock generate server refuses keys it does not know, so a null that says nothing is
            # not sent.
            body = handler(self)
            if body.get("return_tokens_as_token_ids") is None:
                body.pop("return_tokens_as_token_ids", None)
            return body

    class GenerateDerenderStreamChoice(compat.GenerateStreamChoiceBase):
        """A choice of a derender-mode chunk: text mode's with a chat `delta` instead of `text`."""

        routed_experts: str | dict[str, Any] | None = None
        delta: compat.DeltaMessage
        logprobs: compat.ChatCompletionLogProbs | None = None

        @field_serializer("delta")
        def _leave_out_absent(self, delta: BaseModel) -> dict[str, Any]:
            # Clients join deltas key by key; a null is not something to join.
            return delta.model_dump(exclude_none=True)

    class GenerateDerenderStreamResponse(compat.GenerateStreamResponseBase):
        """A chunk of a streamed derender mode: one choice, or none in the usage chunk."""

        output_mode: Literal["derender"] = "derender"
        choices: list[GenerateDerenderStreamChoice]


class GenerateRequest(compat.GenerateRequest):
    """vLLM's generate request; `max_tokens` survives rendering, the tri-state key is known."""

    if HAS_DERENDER_MODE:
        parse_context: ParseContext | None = compat.GenerateRequest.model_fields["parse_context"]

    if not FILLS_CONTEXT:
        _omits_max_tokens: bool = PrivateAttr(default=False)

        @model_validator(mode="wrap")
        @classmethod
        def _note_max_tokens(cls, data: Any, handler: ModelWrapValidatorHandler) -> Any:
            request = handler(data)
            given = data.get("sampling_params") if isinstance(data, dict) else None
            request._omits_max_tokens = isinstance(given, dict) and "max_tokens" not in given
            return request

    # Set on the copy that vLLM's checks see of a streamed derender-mode request.
    _streams_derender: bool = PrivateAttr(default=False)

    @model_serializer(mode="wrap")
    def _keep_max_tokens(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # msgspec leaves out a value equal to its default (16), and generate reads an absent key as
        # "fill the context".
        body = handler(self)
        if isinstance(sampling_params := body.get("sampling_params"), dict):
            sampling_params.setdefault("max_tokens", self.sampling_params.max_tokens)
        return body

    @classmethod
    def rendered(
        cls, stock: Any, *, return_tokens_as_token_ids: bool | None = None
    ) -> "GenerateRequest":
        """A request vLLM has rendered, as one of ours; it shares the values, unvalidated."""
        values = dict(stock)
        if (context := values.get("parse_context")) is not None:
            values["parse_context"] = ParseContext.model_construct(
                context.model_fields_set,
                **(dict(context) | {"return_tokens_as_token_ids": return_tokens_as_token_ids}),
            )
        return cls.model_construct(stock.model_fields_set, **values)


def streamed_derender_answer() -> list[type[BaseModel]]:
    """The class of a chunk of a streamed derender mode, where the release has such a mode."""
    return [GenerateDerenderStreamResponse] if HAS_DERENDER_MODE else []


def with_encoded_experts(response: Any, encode: Callable[[str], str | dict[str, Any]]) -> BaseModel:
    """A full generate answer with every choice's `routed_experts`, as vLLM wrote it, re-encoded."""
    if all(choice.routed_experts is None for choice in response.choices):
        return response
    return with_experts(
        response,
        {
            choice.index: encode(choice.routed_experts)
            for choice in response.choices
            if choice.routed_experts is not None
        },
    )


def with_experts(response: Any, experts: dict[int, str | dict[str, Any]]) -> BaseModel:
    """A full generate answer with `routed_experts`: by choice index as given, else as it was."""
    if not response.choices:
        return response
    response_type, choice_type = _types_with_open_experts(type(response), type(response.choices[0]))
    choices = []
    for choice in response.choices:
        values = dict(choice)
        if choice.index in experts:
            values["routed_experts"] = experts[choice.index]
        choices.append(choice_type.model_construct(choice.model_fields_set, **values))
    return response_type.model_construct(
        response.model_fields_set, **(dict(response) | {"choices": choices})
    )


def derender_body(derender_request: type[BaseModel]) -> type[BaseModel]:
    """A derender body that takes generate's answers in whichever encoding their experts are.

    Derender does not read them, but vLLM's body refuses an answer whose experts are no string.
    In releases that drop logprobs of a stream, its state is ours too.
    """
    fields: dict[str, Any] = {}
    for name, field in derender_request.model_fields.items():
        if name in ("generate_response", "generate_chunk"):
            fields[name] = (answer_with_open_experts(field.annotation), field)
        elif name == "generate_responses":
            (answer,) = get_args(field.annotation)
            fields[name] = (list[answer_with_open_experts(answer)], field)
        elif name == "stream_state" and older_derender.DROPS_LOGPROBS:
            fields[name] = (older_derender.DerenderStreamState | None, field)
    return create_model(derender_request.__name__, __base__=derender_request, **fields)


def answer_with_open_experts(answer: Any) -> Any:
    """A class of generate's answers whose choices take experts in any encoding."""
    (choice,) = get_args(answer.model_fields["choices"].annotation)
    return _types_with_open_experts(answer, choice)[0]


@functools.cache
def _types_with_open_experts(response: Any, choice: Any) -> tuple[Any, Any]:
    # vLLM types the field as a string; an object in it would be serialised with a warning for every
    # answer.
    open_choice: Any = create_model(
        choice.__name__, __base__=choice, routed_experts=(str | dict[str, Any] | None, None)
    )
    return create_model(
        response.__name__, __base__=response, choices=(list[open_choice], ...)
    ), open_choice
