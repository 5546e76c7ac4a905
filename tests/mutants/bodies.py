"""Lies of generate about what is no generate request, and about keys that it does not know."""

from tests.mutants.tools import GENERATE, install_reference, replace, requests


def invalid_is_unprocessable(app) -> None:
    """A request that cannot be read as one is a 422, as FastAPI has it by default."""
    from vllm.entrypoints.serve.exception_handling.handlers import validation

    def respond(honest, content, status_code):
        return honest(content, status_code=422)

    replace(app, validation, JSONResponse=respond)


def get_is_answered(app) -> None:
    """GET on the route is a 200 with an empty object."""
    app.add_api_route(GENERATE, lambda: {}, methods=["GET"])
    install_reference(app)


def unknown_keys_refused(app) -> None:
    """A key that generate does not know, at the top or in sampling_params, is a 400."""
    from vllm import SamplingParams

    from impl.protocol import GenerateRequest

    def change(body: dict) -> dict:
        unknown = body.keys() - GenerateRequest.model_fields.keys()
        unknown |= set(body["sampling_params"]) - set(SamplingParams.__struct_fields__)
        return {**body, "token_ids": []} if unknown else body

    requests(app, GENERATE, change)
