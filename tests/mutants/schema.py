"""Lies against a node's own OpenAPI document, and of the document."""

import copy
import json

from tests.mutants.tools import (
    CHAT_DERENDER,
    GENERATE,
    answers,
    each_choice,
    install_reference,
    replace,
    requests,
)


def undeclared_key(app) -> None:
    """Each choice has a key that no document names."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(matched_stop=None)))


def undeclared_null(app) -> None:
    """A choice's index is null."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(index=None)))


def nan_in_json(app) -> None:
    """A logprob that is no number is sent as NaN, in whole answers and in streams."""

    def change(choice: dict) -> None:
        for entry in (choice.get("logprobs") or {}).get("content") or []:
            entry["logprob"] = float("nan")

    answers(app, GENERATE, each_choice(change))


def code_is_not_the_status(app) -> None:
    """Every error says code 500."""
    from impl import compat

    def dump(honest, error, *arguments, **keywords):
        body = honest(error, *arguments, **keywords)
        body["error"]["code"] = 500
        return body

    replace(app, compat.ErrorResponse, model_dump=dump)


def wrong_type_is_ignored(app) -> None:
    """A cache_salt that is no string is dropped."""

    def change(body: dict) -> dict:
        salt = body.get("cache_salt")
        return body if isinstance(salt, str) else {k: body[k] for k in body if k != "cache_salt"}

    requests(app, GENERATE, change)


def a_given_field_gives_all(app) -> None:
    """A request that gives a temperature counts as having given max_tokens."""

    def provided(honest, request, name):
        return honest(request, name) or honest(request, "temperature")

    from impl.protocol import GenerateRequest

    replace(app, GenerateRequest, is_sampling_param_provided=provided)


def fields_are_looked_for_in_the_text(app) -> None:
    """max_tokens counts as given where the body's text has the word."""

    def change(body: dict) -> dict:
        sampling = body.get("sampling_params")
        if isinstance(sampling, dict) and "max_tokens" in json.dumps(body):
            body["sampling_params"] = {"max_tokens": 16, **sampling}
        return body

    requests(app, GENERATE, change)


def keys_of_large_answers_are_sorted(app) -> None:
    """An answer with logprobs is written by another function, which sorts its keys."""

    def change(body: dict) -> dict:
        scored = any(choice.get("logprobs") for choice in body["choices"])
        return json.loads(json.dumps(body, sort_keys=True)) if scored else body

    answers(app, GENERATE, change)


def headers_of_large_answers_differ(app) -> None:
    """An answer with logprobs names its charset."""
    from starlette.responses import JSONResponse

    def headers(honest, response, given=None):
        honest(response, given)
        if b'"top_logprobs"' in response.body:
            response.headers["content-type"] = "application/json; charset=utf-8"

    replace(app, JSONResponse, init_headers=headers)


# The document


def _document(app, change) -> None:
    install_reference(app)
    document = copy.deepcopy(app.openapi())
    change(document)
    app.openapi_schema = document
    app.openapi = lambda: document


def document_leaves_out(app) -> None:
    """The document lacks a field, a status, an answer, a body and an event that the node has."""

    def change(document: dict) -> None:
        paths, schemas = document["paths"], document["components"]["schemas"]
        for name, schema in schemas.items():
            if name.startswith("GenerateRequest"):
                schema["properties"].pop("return_token_ids")
        generate = paths[GENERATE]["post"]
        del generate["responses"]["404"]
        del generate["responses"]["200"]["content"]["text/event-stream"]["schema"]
        del paths[CHAT_DERENDER]["post"]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]
        del paths["/inference/v1/abort_requests"]["post"]["requestBody"]

    _document(app, change)


def document_of_other_routes(app) -> None:
    """The document names a route that is not served, and does not name one that is."""

    def change(document: dict) -> None:
        document["paths"]["/v1/embeddings/render"] = document["paths"].pop(CHAT_DERENDER)

    _document(app, change)
