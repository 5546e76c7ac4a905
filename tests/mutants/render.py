"""Lies of render."""

from tests.mutants.tools import (
    CHAT_RENDER,
    COMPLETIONS_RENDER,
    answers,
    replace,
    requests,
)


def _rendered(app, change) -> None:
    """Pass every rendered request, of a chat or of each prompt, through `change`, in place."""

    def chat(body: dict) -> dict:
        change(body)
        return body

    def completions(bodies: list[dict]) -> list[dict]:
        for body in bodies:
            change(body)
        return bodies

    answers(app, CHAT_RENDER, chat)
    answers(app, COMPLETIONS_RENDER, completions)


# max_tokens


def explicit_sixteen_lost(app) -> None:
    """A max_tokens of 16 is left out of the rendered request, being the parser's own default."""

    def change(body: dict) -> None:
        if body["sampling_params"].get("max_tokens") == 16:
            del body["sampling_params"]["max_tokens"]

    _rendered(app, change)


def omitted_max_tokens_is_sixteen(app) -> None:
    """A chat without max_tokens is rendered with 16."""

    def change(body: dict) -> dict:
        return {"max_tokens": 16, **body}

    requests(app, CHAT_RENDER, change)


def max_completion_tokens_ignored(app) -> None:
    """A chat's max_completion_tokens is not read."""

    def change(body: dict) -> dict:
        return {key: body[key] for key in body if key != "max_completion_tokens"}

    requests(app, CHAT_RENDER, change)


def whole_context_is_one_less(app) -> None:
    """A limit that reaches the end of the context is rendered one token short of it."""
    context = app.state.serving_render.model_config.max_model_len

    def change(body: dict) -> None:
        room = context - len(body["token_ids"])
        if body["sampling_params"]["max_tokens"] == room:
            body["sampling_params"]["max_tokens"] = room - 1

    _rendered(app, change)


def limit_beyond_the_model_rendered(app) -> None:
    """A completions limit of more than the model's context is cut to the context."""
    context = app.state.serving_render.model_config.max_model_len

    def change(body: dict) -> dict:
        limit = body.get("max_tokens")
        return body if limit is None else {**body, "max_tokens": min(limit, context)}

    requests(app, COMPLETIONS_RENDER, change)


# Ids


def special_token_added(app) -> None:
    """The ids begin with one more special token."""
    _rendered(app, lambda body: body["token_ids"].insert(0, 0))


def last_id_missing(app) -> None:
    """The ids lack the last one, the white space at the end of the template."""
    _rendered(app, lambda body: body["token_ids"].pop())


def tools_ignored(app) -> None:
    """Tool definitions do not reach the chat template."""
    requests(app, CHAT_RENDER, lambda body: {**body, "tools": None, "tool_choice": None})


def truncation_keeps_the_head(app) -> None:
    """truncate_prompt_tokens keeps the first ids of the prompt."""
    requests(app, COMPLETIONS_RENDER, lambda body: {**body, "truncation_side": "right"})


def long_prompt_cut(app) -> None:
    """A prompt of ids that fills or passes the context is cut to its last ids."""
    most = app.state.serving_render.model_config.max_model_len - 1

    def cut(prompt):
        return [cut(one) for one in prompt][-most:] if isinstance(prompt, list) else prompt

    requests(app, COMPLETIONS_RENDER, lambda body: {**body, "prompt": cut(body.get("prompt"))})


def prompts_reversed(app) -> None:
    """The requests of several prompts come last prompt first."""
    answers(app, COMPLETIONS_RENDER, lambda bodies: bodies[::-1])


def prompts_in_one_request(app) -> None:
    """Of several prompts only the first is rendered."""
    answers(app, COMPLETIONS_RENDER, lambda bodies: bodies[:1])


def token_offsets_null(app) -> None:
    """return_token_offsets is ignored."""
    _rendered(app, lambda body: body.update(token_offsets=None))


def token_offsets_of_single_characters(app) -> None:
    """Each id is one character further, whatever it stands for."""

    def change(body: dict) -> None:
        if body["token_offsets"]:
            body["token_offsets"] = [[at, at + 1] for at in range(len(body["token_ids"]))]

    _rendered(app, change)


def missing_token_offsets_are_empty(app) -> None:
    """Where there are no token offsets the value is an empty list."""
    _rendered(app, lambda body: body.update(token_offsets=body["token_offsets"] or []))


# What the caller asked for


def request_id_without_prefix(app) -> None:
    """The rendered request_id does not name its route."""
    _rendered(app, lambda body: body.update(request_id=body["request_id"].partition("-")[2]))


def caller_id_ignored(app) -> None:
    """The caller's request_id in the body is not kept."""
    requests(app, CHAT_RENDER, lambda body: {**body, "request_id": "0123456789abcdef"})


def one_id_for_all_prompts(app) -> None:
    """The requests of several prompts have one request_id."""

    def change(bodies: list[dict]) -> list[dict]:
        return [{**body, "request_id": bodies[0]["request_id"]} for body in bodies]

    answers(app, COMPLETIONS_RENDER, change)


def seed_lost(app) -> None:
    """The rendered sampling_params have no seed."""
    _rendered(app, lambda body: body["sampling_params"].pop("seed", None))


def zero_temperature_lost(app) -> None:
    """A temperature of 0 is taken for none."""

    def change(body: dict) -> None:
        if not body["sampling_params"].get("temperature"):
            body["sampling_params"].pop("temperature", None)

    _rendered(app, change)


def cache_salt_lost(app) -> None:
    """cache_salt is not carried."""
    _rendered(app, lambda body: body.update(cache_salt=None))


def priority_lost(app) -> None:
    """priority is not carried."""
    _rendered(app, lambda body: body.update(priority=0))


def kv_transfer_params_lost(app) -> None:
    """kv_transfer_params are not carried."""
    _rendered(app, lambda body: body.update(kv_transfer_params=None))


def stream_lost(app) -> None:
    """The rendered request is never a streamed one."""
    _rendered(app, lambda body: body.update(stream=False))


def reasoning_ended_unsaid(app) -> None:
    """Render does not say whether the prompt ended the reasoning."""
    _rendered(app, lambda body: body.update(reasoning_ended=None))


def thinking_always_enabled(app) -> None:
    """The engine's reasoning parser is told that thinking is enabled, whatever the request says."""

    def change(body: dict) -> None:
        if body["reasoning_parser_kwargs"]:
            body["reasoning_parser_kwargs"]["chat_template_kwargs"] = {"enable_thinking": True}

    _rendered(app, change)


def special_tokens_skipped(app) -> None:
    """skip_special_tokens is rendered as true, whatever a parser has to see."""
    _rendered(app, lambda body: body["sampling_params"].update(skip_special_tokens=True))


# The body, refusals, the engine


def new_null_key(app) -> None:
    """A rendered request has one more key, which is always null."""
    _rendered(app, lambda body: body.update(session_id=None))


def null_keys_dropped(app) -> None:
    """Keys without a value are left out of a rendered request."""
    _rendered(app, _drop_null_keys)


def engine_free_node_drops_null_keys(app) -> None:
    """A node without an engine leaves out keys without a value."""
    _rendered(app, (lambda body: None) if app.state.engine_client else _drop_null_keys)


def _drop_null_keys(body: dict) -> None:
    for key in [key for key, value in body.items() if value is None]:
        del body[key]


def negative_temperature_is_zero(app) -> None:
    """A chat's temperature below 0 is rendered as 0."""

    def change(body: dict) -> dict:
        return {**body, "temperature": 0.0} if (body.get("temperature") or 0) < 0 else body

    requests(app, CHAT_RENDER, change)


def unknown_model_rendered(app) -> None:
    """A model that nobody serves is rendered as the served one."""
    requests(app, CHAT_RENDER, lambda body: {**body, "model": "tiny"})
    requests(app, COMPLETIONS_RENDER, lambda body: {**body, "model": "tiny"})


def prompt_sent_ahead(app) -> None:
    """Render has the engine run the prompt ahead, to fill its cache."""
    from impl.render import ServingRender

    async def render(honest, handler, request, *arguments, **keywords):
        rendered = await honest(handler, request, *arguments, **keywords)
        prompt = {"prompt_token_ids": rendered.token_ids}
        params = rendered.sampling_params.clone()
        async for _ in app.state.engine_client.generate(prompt, params, rendered.request_id):
            break
        return rendered

    replace(app, ServingRender, render_chat_request=render)
