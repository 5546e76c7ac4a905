"""Lies of the render routes beside chat and completions, and about templates in a request."""

from tests.mutants.tools import CHAT_RENDER, answers, install_reference, replace, requests

MESSAGES = "/v1/messages/render"
RESPONSES = "/v1/responses/render"

# Messages


def system_lost(app) -> None:
    """The system text of a messages request is left out."""
    requests(app, MESSAGES, lambda body: {**body, "system": None})


def tools_lost(app) -> None:
    """The tools of a messages or Responses request are left out."""
    for path in (MESSAGES, RESPONSES):
        requests(app, path, lambda body: {key: body[key] for key in body if key != "tools"})


def stop_sequences_lost(app) -> None:
    """The stop strings of a messages request are left out."""
    requests(app, MESSAGES, lambda body: {**body, "stop_sequences": None})


def stream_lost(app) -> None:
    """The rendered messages request is never a streamed one."""
    answers(app, MESSAGES, lambda body: {**body, "stream": False, "stream_options": None})


def limits_lost(app) -> None:
    """The limit of a messages or Responses request is not carried."""

    def change(body: dict) -> dict:
        body["sampling_params"].pop("max_tokens", None)
        return body

    answers(app, MESSAGES, change)
    answers(app, RESPONSES, change)


def limit_not_required(app) -> None:
    """A messages request without max_tokens gets 16."""
    requests(app, MESSAGES, lambda body: {"max_tokens": 16, **body})


def unknown_model_rendered(app) -> None:
    """A model that nobody serves is rendered as the served one."""
    for path in (MESSAGES, RESPONSES):
        requests(app, path, lambda body: {**body, "model": "tiny"})


def inline_system_always_merged(app) -> None:
    """An inline system message is merged, whatever the template takes."""
    install_reference(app)
    app.state.serving_render._merge_inline_system = True


def inline_system_never_merged(app) -> None:
    """An inline system message is left where the template refuses it."""
    install_reference(app)
    app.state.serving_render._merge_inline_system = False


# Responses


def instructions_lost(app) -> None:
    """The instructions of a Responses request are left out."""
    requests(app, RESPONSES, lambda body: {**body, "instructions": None})


def earlier_items_lost(app) -> None:
    """Of several input items only the last is rendered."""

    def change(body: dict) -> dict:
        items = body.get("input")
        return {**body, "input": items[-1:]} if isinstance(items, list) else body

    requests(app, RESPONSES, change)


def priority_lost(app) -> None:
    """The priority of a Responses request is not carried."""
    answers(app, RESPONSES, lambda body: {**body, "priority": 0})


def new_null_key(app) -> None:
    """A rendered Responses request has one more key, which is always null."""
    answers(app, RESPONSES, lambda body: {**body, "session_id": None})


def id_without_prefix(app) -> None:
    """The id of a rendered Responses request does not name its route."""
    answers(
        app,
        RESPONSES,
        lambda body: {**body, "request_id": body["request_id"].removeprefix("resp_")},
    )


def transfer_params_lost(app) -> None:
    """ec_transfer_params of a Responses request are not carried."""
    answers(app, RESPONSES, lambda body: {**body, "ec_transfer_params": None})


def previous_response_ignored(app) -> None:
    """previous_response_id is ignored."""
    requests(app, RESPONSES, lambda body: {**body, "previous_response_id": None})


def not_implemented_undocumented(app) -> None:
    """The OpenAPI document does not say that a render route may answer 501."""

    def change(body: dict) -> dict:
        for path in (MESSAGES, RESPONSES):
            del body["paths"][path]["post"]["responses"]["501"]
        return body

    answers(app, "/openapi.json", change)


# Templates


def untrusted_template_used(app) -> None:
    """A request's template is used on every server."""
    install_reference(app)
    app.state.online_renderer.trust_request_chat_template = True


def trusted_template_ignored(app) -> None:
    """A request's template is ignored on every server."""
    for path in (CHAT_RENDER, MESSAGES, RESPONSES):
        requests(app, path, lambda body: _without_template(body))


def empty_template_ignored(app) -> None:
    """A template that writes nothing is taken for none."""

    def change(body: dict) -> dict:
        empty = (body.get("chat_template_kwargs") or {}).get("chat_template") == "{{ '' }}"
        return _without_template(body) if empty else body

    for path in (CHAT_RENDER, MESSAGES, RESPONSES):
        requests(app, path, change)


def _without_template(body: dict) -> dict:
    return {**body, "chat_template": None, "chat_template_kwargs": None} if body else body


# The engine


def engine_warmed_up_first(app) -> None:
    """Render has the engine run one token before it looks at the request."""
    from vllm import SamplingParams

    from impl.render import ServingRender

    async def warmed(honest, handler, *arguments, **keywords):
        params = SamplingParams(max_tokens=1)
        prompt = {"prompt_token_ids": [20]}
        async for _ in app.state.engine_client.generate(prompt, params, "warm-up"):
            break
        return await honest(handler, *arguments, **keywords)

    replace(app, ServingRender, render_chat_request=warmed, render_responses_request=warmed)
