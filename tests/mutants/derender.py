"""Lies of derender about whole answers, and about its bounds."""

import re

from tests.mutants.tools import (
    CHAT_DERENDER,
    COMPLETIONS_DERENDER,
    answers,
    derender_asked,
    derendered,
    each_choice,
    replace,
    requests,
)

# The body


def null_keys_dropped(app) -> None:
    """Keys without a value are left out."""

    def change(body: dict) -> dict:
        return {key: value for key, value in body.items() if value is not None}

    derendered(app, change)


def new_null_key(app) -> None:
    """The answer has one more key, which is always null."""
    derendered(app, lambda body: {**body, "output_mode": None})


def fresh_id(app) -> None:
    """The answer's id is not the generate response's."""
    derendered(app, lambda body: {**body, "id": "chatcmpl-0"})


def unknown_model_served(app) -> None:
    """A model that nobody serves is answered as the served one."""
    from impl.derender import ServingDerender

    async def check(honest, handler, request):
        return None

    replace(app, ServingDerender, _check_model=check)


def choices_reversed(app) -> None:
    """Choices come last index first."""
    derendered(app, lambda body: {**body, "choices": body["choices"][::-1]})


def every_response_counts_from_zero(app) -> None:
    """The choices of each response are numbered from 0."""

    def change(body: dict) -> dict:
        return {**body, "choices": [{**choice, "index": 0} for choice in body["choices"]]}

    answers(app, COMPLETIONS_DERENDER, change)


def usage_counts_the_prompt_ids(app) -> None:
    """usage counts prompt_token_ids, which only seed the decoder."""

    def change(body: dict) -> dict:
        return body if body.get("prompt_tokens") is not None else {**body, "prompt_tokens": 3}

    requests(app, CHAT_DERENDER, change)


def usage_of_the_first_choice(app) -> None:
    """usage counts the first choice alone."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        if usage := getattr(response, "usage", None):
            first = request.generate_response.choices[0]
            usage.completion_tokens = len(first.token_ids)
            usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


def finish_reason_always_stop(app) -> None:
    """finish_reason is stop, whatever ended the output."""
    derendered(app, each_choice(lambda choice: choice.update(finish_reason="stop")))


def tool_calls_end_with_stop(app) -> None:
    """A choice that calls a tool ends with finish_reason stop."""

    def change(choice: dict) -> None:
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "stop"

    derendered(app, each_choice(change))


def kv_transfer_params_lost(app) -> None:
    """kv_transfer_params do not come back."""
    derendered(app, lambda body: {**body, "kv_transfer_params": None})


def prompt_logprobs_lost(app) -> None:
    """prompt_logprobs do not come back."""
    derendered(app, lambda body: {**body, "prompt_logprobs": None})


def token_ids_always_returned(app) -> None:
    """The ids come back also when the client did not ask for them."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        sources = request.generate_response.choices
        for choice, source in zip(getattr(response, "choices", ()), sources, strict=False):
            choice.token_ids = source.token_ids
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


def model_unnamed(app) -> None:
    """The answer names no model where the client named none."""
    derendered(app, lambda body: {**body, "model": ""})


def usage_of_the_first_response(app) -> None:
    """Completions usage counts the first response alone."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        if usage := getattr(response, "usage", None):
            first = request.generate_responses[0].choices
            usage.completion_tokens = sum(len(choice.token_ids) for choice in first)
            usage.total_tokens = usage.prompt_tokens + usage.completion_tokens
        return response

    replace(app, ServingDerender, derender_completion_response=respond)


def null_logprobs_made_empty(app) -> None:
    """An answer without logprobs, or whose content is null, gets an empty list of them."""

    def change(choice: dict) -> None:
        if choice["logprobs"] in (None, {"content": None}):
            choice["logprobs"] = {"content": []}

    derendered(app, each_choice(change))


def token_of_a_stop_uncounted(app) -> None:
    """usage leaves out one token of each output that ends with stop."""

    def change(body: dict) -> dict:
        stopped = sum(choice["finish_reason"] == "stop" for choice in body["choices"])
        if usage := body["usage"]:
            usage["completion_tokens"] -= stopped
            usage["total_tokens"] -= stopped
        return body

    derendered(app, change)


# Text


def broken_bytes_left_out(app) -> None:
    """Bytes that are no text are left out of the content."""

    def change(choice: dict) -> None:
        if content := choice.get("message", {}).get("content"):
            choice["message"]["content"] = content.replace("\N{REPLACEMENT CHARACTER}", "")

    derendered(app, each_choice(change))


def white_space_stripped(app) -> None:
    """White space around the content is left out."""

    def change(choice: dict) -> None:
        if content := choice.get("message", {}).get("content"):
            choice["message"]["content"] = content.strip()

    derendered(app, each_choice(change))


def split_characters_replaced(app) -> None:
    """An output that ends inside a character shows U+FFFD for it."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        tokenizer = handler.online_derenderer.renderer.get_tokenizer()
        sources = request.generate_response.choices
        for choice, source in zip(getattr(response, "choices", ()), sources, strict=False):
            choice.message.content = tokenizer.decode(source.token_ids)
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


def chunks_decoded_alone(app) -> None:
    """Each chunk's text is its ids decoded alone, so a split character is U+FFFD."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        tokenizer = handler.online_derenderer.renderer.get_tokenizer()
        if isinstance(response, tuple):
            for choice, source in zip(
                response[0].choices, request.generate_chunk.choices, strict=True
            ):
                choice.delta.content = tokenizer.decode(source.token_ids)
        return response

    replace(app, ServingDerender, derender_chat_stream_response=respond)


def prompt_in_the_text(app) -> None:
    """prompt_token_ids are decoded into the text."""
    tokenizer = app.state.serving_derender.online_derenderer.renderer.get_tokenizer()

    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        for choice in getattr(response, "choices", ()):
            choice.message.content = (
                tokenizer.decode(request.prompt_token_ids or []) + choice.message.content
            )
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


def stop_string_kept(app) -> None:
    """The string that stopped an output stays in its text."""

    def change(body: dict) -> dict:
        request = body.get("chat_request")
        if request is None:
            return body
        return {**body, "chat_request": {**request, "include_stop_str_in_output": True}}

    requests(app, CHAT_DERENDER, change)


def stop_in_a_stream_accepted(app) -> None:
    """Stop strings in a streamed derender are ignored."""

    def change(body: dict) -> dict:
        for name in ("chat_request", "completion_request"):
            if body.get("stream") and body.get(name):
                body[name]["stop"] = None
        return body

    derender_asked(app, change)


def special_tokens_never_kept(app) -> None:
    """At derender skip_special_tokens: false is ignored."""

    def change(body: dict) -> dict:
        for name in ("chat_request", "completion_request"):
            if body.get(name):
                body[name].pop("skip_special_tokens", None)
        return body

    derender_asked(app, change)


def markup_of_special_tokens_removed(app) -> None:
    """What looks like a special token is taken out of chat's text, also where it is asked for."""

    def change(choice: dict) -> None:
        if content := choice.get("message", {}).get("content"):
            choice["message"]["content"] = re.sub(r"<\|\w+\|>", "", content)

    derendered(app, each_choice(change))


# Parsers


def markup_in_the_content(app) -> None:
    """The content is the whole output, reasoning and tool calls included."""
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        response = await honest(handler, request)
        tokenizer = handler.online_derenderer.renderer.get_tokenizer()
        sources = request.generate_response.choices
        for choice, source in zip(getattr(response, "choices", ()), sources, strict=False):
            choice.message.content = tokenizer.decode(source.token_ids)
        return response

    replace(app, ServingDerender, derender_chat_response=respond)


def hidden_reasoning_shown(app) -> None:
    """include_reasoning: false is ignored."""

    def change(body: dict) -> dict:
        if body.get("chat_request"):
            body["chat_request"]["include_reasoning"] = True
        return body

    requests(app, CHAT_DERENDER, change)


def request_not_required(app) -> None:
    """With a parser a missing chat_request is an empty one."""

    def change(body: dict) -> dict:
        if body.get("chat_request") is None:
            body["chat_request"] = {"model": "tiny", "messages": []}
        return body

    requests(app, CHAT_DERENDER, change)


# Bounds


def negative_ids_accepted(app) -> None:
    """A negative token id is taken as 0."""

    def change(body: dict) -> dict:
        for choice in (body.get("generate_response") or {}).get("choices") or ():
            choice["token_ids"] = [max(one, 0) for one in choice.get("token_ids") or ()]
        return body

    requests(app, CHAT_DERENDER, change)


def prompt_ids_unbounded(app) -> None:
    """prompt_token_ids are bounded by nothing."""
    from impl.derender import ServingDerender

    replace(app, ServingDerender, _validate_prompt_token_ids=lambda honest, *arguments: None)


def bounds_unchecked(app) -> None:
    """Ids, choices, logprobs and responses are bounded by nothing."""
    from impl.derender import ServingDerender

    replace(app, ServingDerender, _validate_derender_bounds=lambda honest, *arguments: None)


def context_refused_at_its_end(app) -> None:
    """An output as long as the context is refused."""
    from impl.derender import ServingDerender

    def check(honest, handler, responses):
        most = handler.model_config.max_model_len
        for choice in (choice for response in responses for choice in response.choices):
            if len(choice.token_ids or ()) >= most:
                return handler.create_error_response("token_ids are too long.")
        return honest(handler, responses)

    replace(app, ServingDerender, _validate_derender_bounds=check)
