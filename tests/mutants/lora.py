"""Lies about a LoRA adapter."""

from tests.mutants.tools import (
    CHAT_RENDER,
    COMPLETIONS_RENDER,
    GENERATE,
    answers,
    replace,
    requests,
)


def adapter_unlisted(app) -> None:
    """/v1/models lists the base model alone."""
    answers(app, "/v1/models", lambda body: {**body, "data": body["data"][:1]})


def adapter_without_parent(app) -> None:
    """/v1/models does not say which model an adapter is for."""

    def change(body: dict) -> dict:
        return {**body, "data": [{**model, "parent": None} for model in body["data"]]}

    answers(app, "/v1/models", change)


def adapter_is_the_base(app) -> None:
    """A request for the adapter runs the base model's weights."""

    def generate(honest, *arguments, lora_request=None, **keywords):
        return honest(*arguments, **keywords)

    replace(app, type(app.state.engine_client), generate=generate)


def generate_for_the_base(app) -> None:
    """Generate runs the base model, and the coupled routes the adapter."""
    requests(app, GENERATE, lambda body: {**body, "model": "tiny"})


def adapter_for_all_that_run(app) -> None:
    """While a request for the adapter runs, the base's get the adapter too."""
    running: list = []

    async def generate(honest, *arguments, lora_request=None, **keywords):
        if lora_request:
            running.append(lora_request)
        try:
            used = lora_request or (running[-1] if running else None)
            async for output in honest(*arguments, lora_request=used, **keywords):
                yield output
        finally:
            if lora_request:
                running.pop()

    replace(app, type(app.state.engine_client), generate=generate)


def prompt_kept_for_its_first_model(app) -> None:
    """A prompt that one model has run is answered by that model again, as from a shared cache."""
    first: dict = {}

    def generate(honest, engine, prompt, *arguments, lora_request=None, **keywords):
        key = tuple(prompt["prompt_token_ids"]), prompt.get("cache_salt")
        return honest(
            engine,
            prompt,
            *arguments,
            lora_request=first.setdefault(key, lora_request),
            **keywords,
        )

    replace(app, type(app.state.engine_client), generate=generate)


def render_knows_no_adapter(app) -> None:
    """Render refuses the name of an adapter that generate takes."""

    def change(body: dict) -> dict:
        unknown = body.get("model") == "tiny-lora"
        return {**body, "model": f"{body['model']}-unknown"} if unknown else body

    requests(app, CHAT_RENDER, change)
    requests(app, COMPLETIONS_RENDER, change)


def unknown_adapter_is_the_base(app) -> None:
    """Generate serves an adapter that nobody loaded as the base model."""

    def change(body: dict) -> dict:
        return body if body.get("model") == "tiny-lora" else {**body, "model": "tiny"}

    requests(app, GENERATE, change)


def rendered_for_the_base(app) -> None:
    """Render hands the adapter's request to generate as one for the base."""
    answers(app, CHAT_RENDER, lambda body: {**body, "model": "tiny"})
