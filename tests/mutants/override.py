"""Lies about who decides return_tokens_as_token_ids: at render, in derender mode, at derender."""

from tests.mutants.tools import (
    CHAT_DERENDER,
    CHAT_RENDER,
    COMPLETIONS_RENDER,
    GENERATE,
    answers,
    replace,
    requests,
)

KEY = "return_tokens_as_token_ids"


def _derender_decides(app, decide) -> None:
    """At derender `decide(value, flag)` says whether to name tokens by placeholder."""
    from impl.derender import ServingDerender

    def wants(honest, handler, client_request):
        return decide(getattr(client_request, KEY, None), handler.return_tokens_as_token_ids)

    replace(app, ServingDerender, _wants_placeholders=wants)


def _derender_mode_value(app, change) -> None:
    """In derender mode `change(value, request)` replaces the value of the parse context."""
    from impl.serving_tokens import ServingTokens

    def form(honest, handler, request):
        context = request.parse_context
        if request.output_mode == "derender" and context is not None:
            setattr(context, KEY, change(getattr(context, KEY), request))
        return honest(handler, request)

    replace(app, ServingTokens, _with_token_form_of=form)


# Who wins, at derender


def true_ignored(app) -> None:
    """At derender an explicit true is taken as absent."""
    _derender_decides(app, lambda value, flag: flag if value is None or value else False)


def false_ignored(app) -> None:
    """At derender an explicit false is taken as absent."""
    _derender_decides(app, lambda value, flag: bool(value or flag))


def null_is_false(app) -> None:
    """At derender null is taken as false."""
    _derender_decides(app, lambda value, flag: bool(value))


def server_flag_wins(app) -> None:
    """At derender the server's flag decides alone."""
    _derender_decides(app, lambda value, flag: flag)


def completions_ignore_it(app) -> None:
    """Completions derender follows the server's flag alone."""
    from impl.derender import ServingDerender

    def wants(honest, handler, client_request):
        if client_request is not None and not hasattr(client_request, "messages"):
            return handler.return_tokens_as_token_ids
        return honest(handler, client_request)

    replace(app, ServingDerender, _wants_placeholders=wants)


def streamed_derender_ignores_it(app) -> None:
    """Streamed chat derender follows the server's flag alone."""
    _value_in_streams(app, lambda request: None)


def only_the_first_call_of_a_stream(app) -> None:
    """Of a stream's derender calls only the first follows the value."""
    _value_in_streams(
        app,
        lambda request: None if request.stream_state else getattr(request.chat_request, KEY, None),
    )


def _value_in_streams(app, value_of) -> None:
    from impl.derender import ServingDerender

    async def respond(honest, handler, request):
        if request.chat_request is not None:
            setattr(request.chat_request, KEY, value_of(request))
        return await honest(handler, request)

    replace(app, ServingDerender, derender_chat_stream_response=respond)


# Who wins, in derender mode


def accepted_and_ignored(app) -> None:
    """Generate accepts an explicit value in derender mode and ignores it."""
    _derender_mode_value(app, lambda value, request: None)


def false_ignored_in_derender_mode(app) -> None:
    """Generate takes an explicit false in derender mode as absent."""
    _derender_mode_value(app, lambda value, request: value or None)


def null_is_false_in_derender_mode(app) -> None:
    """Generate takes null in derender mode as false."""
    _derender_mode_value(app, lambda value, request: bool(value))


def streams_ignore_it(app) -> None:
    """A derender-mode stream follows the server's flag alone."""
    _derender_mode_value(app, lambda value, request: None if request.stream else value)


def only_the_first_chunk(app) -> None:
    """Of a derender-mode stream only the first chunk has placeholders."""
    from impl.derender_stream import _DerenderStream

    def chunk(honest, stream, *arguments):
        event = honest(stream, *arguments)
        stream.tokenizer = stream.serving.renderer.tokenizer
        return event

    replace(app, _DerenderStream, chunk=chunk)


def leaks_into_other_requests(app) -> None:
    """A value in one derender-mode request is the server's flag from then on."""
    from impl.serving_tokens import ServingTokens

    def form(honest, handler, request):
        handler.return_tokens_as_token_ids = honest(handler, request).return_tokens_as_token_ids
        return handler

    replace(app, ServingTokens, _with_token_form_of=form)


def text_mode_follows_it(app) -> None:
    """Text mode follows the value in the parse context."""
    from impl.serving_tokens import ServingTokens

    def form(honest, handler, request):
        if request.output_mode == "text":
            request = request.model_copy(update={"output_mode": "derender"})
        return honest(handler, request)

    replace(app, ServingTokens, _with_token_form_of=form)


def hidden_reasoning_comes_back(app) -> None:
    """In a derender-mode stream include_reasoning: false does not hide logprobs and ids."""
    from impl.derender_stream import _DerenderStream

    def processor(honest, stream, chat_request):
        made = honest(stream, chat_request)
        made.hide_metadata = False
        return made

    replace(app, _DerenderStream, _processor=processor)


def unknown_context_keys_accepted(app) -> None:
    """In derender mode a key of parse_context that generate does not know is ignored."""
    from impl.protocol import ParseContext

    def change(body: dict) -> dict:
        if isinstance(context := body.get("parse_context"), dict):
            known = {key: context[key] for key in context if key in ParseContext.model_fields}
            return {**body, "parse_context": known}
        return body

    requests(app, GENERATE, change)


def unknown_context_keys_refused_everywhere(app) -> None:
    """A key of parse_context that generate does not know is refused in every mode."""
    from impl.protocol import ParseContext

    def change(body: dict) -> dict:
        context = body.get("parse_context")
        unknown = isinstance(context, dict) and set(context) - set(ParseContext.model_fields)
        # Where the field is read, an unknown key is refused.
        return {**body, "output_mode": "derender"} if unknown else body

    requests(app, GENERATE, change)


def any_type_is_true(app) -> None:
    """In derender mode any value but false and null is taken as true."""

    _any_type_is_true(app, GENERATE, "parse_context")


def any_type_is_true_at_derender(app) -> None:
    """At chat derender any value but false and null is taken as true."""
    _any_type_is_true(app, CHAT_DERENDER, "chat_request")


def any_type_is_true_at_render(app) -> None:
    """At render any value but false and null is taken as true."""

    def change(body: dict) -> dict:
        return body if body.get(KEY) is None else {**body, KEY: bool(body[KEY])}

    requests(app, CHAT_RENDER, change)


def _any_type_is_true(app, path: str, place: str) -> None:
    def change(body: dict) -> dict:
        inner = body.get(place)
        if isinstance(inner, dict) and inner.get(KEY) is not None:
            return {**body, place: {**inner, KEY: bool(inner[KEY])}}
        return body

    requests(app, path, change)


def no_context_is_false(app) -> None:
    """In derender mode a request without parse_context never has placeholders."""

    def change(body: dict) -> dict:
        return {**body, "parse_context": body.get("parse_context") or {KEY: False}}

    requests(app, GENERATE, change)


def top_level_value_decides(app) -> None:
    """In derender mode the key decides also where it stands beside parse_context."""

    def change(body: dict) -> dict:
        if KEY in body:
            body["parse_context"] = {**(body.get("parse_context") or {}), KEY: body[KEY]}
        return body

    requests(app, GENERATE, change)


def token_mode_follows_it(app) -> None:
    """Token mode names tokens by placeholder when the value is true."""
    wanted = []

    def remember(body: dict) -> dict:
        wanted[:] = [(body.get("parse_context") or {}).get(KEY) is True]
        return body

    def change(body: dict) -> dict:
        for choice in body.get("choices", ()):
            for entry in (choice["logprobs"] or {}).get("content") or ():
                if wanted[0] and "token_id" in entry:
                    entry["token"] = f"token_id:{entry.pop('token_id')}"
        return body

    answers(app, GENERATE, change)
    requests(app, GENERATE, remember)


# Render


def render_emits_null(app) -> None:
    """Render sends the key as null when the client did not set it."""
    _context(app, lambda context: context.setdefault(KEY, None))


def render_drops_false(app) -> None:
    """Render leaves out an explicit false."""

    def change(context: dict) -> None:
        if not context.get(KEY):
            context.pop(KEY, None)

    _context(app, change)


def render_drops_the_value(app) -> None:
    """Render never carries the value."""
    _context(app, lambda context: context.pop(KEY, None))


def render_resolves_it(app) -> None:
    """Render puts its own server's flag where the client set nothing."""
    flag = app.state.args.return_tokens_as_token_ids
    _context(app, lambda context: context.setdefault(KEY, flag))


def render_names_it_twice(app) -> None:
    """Render carries the value beside parse_context too."""

    def change(body: dict) -> dict:
        return {**body, KEY: (body.get("parse_context") or {}).get(KEY)}

    answers(app, CHAT_RENDER, change)


def render_turns_text_off(app) -> None:
    """Where placeholders are asked for, render turns detokenizing off."""

    def change(body: dict) -> dict:
        if (body.get("parse_context") or {}).get(KEY):
            body["sampling_params"]["detokenize"] = False
        return body

    answers(app, CHAT_RENDER, change)


def _context(app, change) -> None:
    def changed(body: dict) -> dict:
        if body.get("parse_context") is not None:
            change(body["parse_context"])
        return body

    answers(app, CHAT_RENDER, changed)


def render_of_completions_carries_it(app) -> None:
    """A rendered completion has a parse_context with the key."""

    def change(bodies: list[dict]) -> list[dict]:
        return [{**body, "parse_context": {KEY: True}} for body in bodies]

    answers(app, COMPLETIONS_RENDER, change)


def render_of_messages_carries_it(app) -> None:
    """A rendered Anthropic message has the key."""
    answers(
        app,
        "/v1/messages/render",
        lambda body: {**body, "parse_context": {**body["parse_context"], KEY: False}},
    )
