"""Lies of generate: what it makes of a request and answers in full."""

import asyncio

from tests.mutants.tools import (
    GENERATE,
    answers,
    asked,
    each_choice,
    install_reference,
    module_of,
    replace,
    requests,
)

# max_tokens


def omitted_max_tokens_is_sixteen(app) -> None:
    """A request without max_tokens gets 16 tokens, the parser's own default."""
    from impl.protocol import GenerateRequest

    def provided(honest, request, name):
        return True

    replace(app, GenerateRequest, is_sampling_param_provided=provided)


def explicit_sixteen_is_omitted(app) -> None:
    """An explicit max_tokens of 16 is taken for the parser's default and fills the context."""
    from impl.protocol import GenerateRequest

    def provided(honest, request, name):
        default = name == "max_tokens" and request.sampling_params.max_tokens == 16
        return honest(request, name) and not default

    replace(app, GenerateRequest, is_sampling_param_provided=provided)


def null_max_tokens_is_refused(app) -> None:
    """max_tokens: null is a 400."""
    from impl.serving_tokens import ServingTokens

    async def serve(honest, handler, request, raw_request=None):
        if request.sampling_params.max_tokens is None:
            return handler.create_error_response("max_tokens must be an integer.")
        return await honest(handler, request, raw_request)

    replace(app, ServingTokens, serve_tokens=serve)


# Refusals


def refusals_are_server_errors(app) -> None:
    """What generate refuses is a 500 instead of a 400."""
    from impl.serving_tokens import ServingTokens

    def error(honest, *arguments, **keywords):
        response = honest(*arguments, **keywords)
        response.error.code = 500
        return response

    replace(app, ServingTokens, create_error_response=error)


def unknown_model_is_a_bad_request(app) -> None:
    """A model that nobody serves is a 400 instead of a 404."""
    from impl.serving_tokens import ServingTokens

    async def check(honest, handler, request):
        error = await honest(handler, request)
        if error is not None:
            error.error.code = 400
        return error

    replace(app, ServingTokens, _check_model=check)


def unnamed_model_is_unknown(app) -> None:
    """A request that names no model asks for one called default, which nobody serves."""

    def change(request) -> None:
        request.model = request.model or "default"

    asked(app, change)


def unknown_token_ids_accepted(app) -> None:
    """An id beyond the vocabulary is served as the last id in it."""
    last = app.state.serving_tokens.model_config.get_vocab_size() - 1

    def change(request) -> None:
        request.token_ids = [min(token_id, last) for token_id in request.token_ids]

    asked(app, change)


def empty_prompt_accepted(app) -> None:
    """Empty token_ids are served as the end-of-text token."""

    def change(body: dict) -> dict:
        return {**body, "token_ids": [0]} if body.get("token_ids") == [] else body

    requests(app, GENERATE, change)


def unknown_level_is_tokens(app) -> None:
    """An output_mode that there is not is served as tokens."""

    def change(body: dict) -> dict:
        known = body.get("output_mode", "tokens") in ("tokens", "text", "derender")
        return body if known else {**body, "output_mode": "tokens"}

    requests(app, GENERATE, change)


def context_not_required(app) -> None:
    """In derender mode a missing parse_context is an empty one, also with a parser."""

    def change(body: dict) -> dict:
        return {**body, "parse_context": body.get("parse_context") or {}}

    requests(app, GENERATE, change)


def hidden_reasoning_shown(app) -> None:
    """In derender mode include_reasoning: false is ignored."""

    def change(body: dict) -> dict:
        if body.get("parse_context"):
            body["parse_context"]["include_reasoning"] = True
        return body

    requests(app, GENERATE, change)


def too_many_choices_are_fewer(app) -> None:
    """n above max_num_seqs is lowered to it in silence."""
    most = app.state.engine_client.vllm_config.scheduler_config.max_num_seqs

    def change(request) -> None:
        request.sampling_params.n = min(request.sampling_params.n, most)

    asked(app, change)


def salt_stripped_unseen(app) -> None:
    """White space is stripped from cache_salt before its type is looked at: a list is a 500."""

    def change(body: dict) -> dict:
        salt = body.get("cache_salt")
        return {**body, "cache_salt": salt.strip()} if salt else body

    requests(app, GENERATE, change)


def engine_failure_is_an_answer(app) -> None:
    """A request that failed in the engine is answered 200 with what there is."""
    from impl.serving_tokens import ServingTokens

    replace(app, ServingTokens, _raise_if_error=lambda honest, *arguments: None)


# The answer


def choices_reversed(app) -> None:
    """Choices come last index first."""
    answers(app, GENERATE, lambda body: {**body, "choices": body["choices"][::-1]})


def last_choice_dropped(app) -> None:
    """Of several choices the last one is missing."""
    answers(
        app, GENERATE, lambda body: {**body, "choices": body["choices"][:-1] or body["choices"]}
    )


def finish_reason_always_stop(app) -> None:
    """finish_reason is stop, whatever ended the choice."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(finish_reason="stop")))


def stop_reason_null(app) -> None:
    """stop_reason is always null."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(stop_reason=None)))


def usage_misses_the_last_token(app) -> None:
    """usage does not count the token that ended the answer."""
    from impl.serving_tokens import ServingTokens

    def fields(honest, *arguments):
        built = honest(*arguments)
        built["usage"].completion_tokens -= 1
        built["usage"].total_tokens -= 1
        return built

    replace(app, ServingTokens, _build_response_fields=fields)


def usage_of_the_first_choice(app) -> None:
    """usage counts the first choice alone."""

    def change(body: dict) -> dict:
        if usage := body.get("usage"):
            usage["completion_tokens"] = len(body["choices"][0]["token_ids"])
            usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        return body

    answers(app, GENERATE, change)


def request_id_without_prefix(app) -> None:
    """request_id is the client's own, without generate-tokens-."""

    def change(body: dict) -> dict:
        return {**body, "request_id": body["request_id"].removeprefix("generate-tokens-")}

    answers(app, GENERATE, change)


def one_request_id_for_all(app) -> None:
    """Every answer has the same request_id."""
    answers(app, GENERATE, lambda body: {**body, "request_id": "generate-tokens-0"})


def created_in_milliseconds(app) -> None:
    """created counts milliseconds."""
    answers(app, GENERATE, lambda body: {**body, "created": body["created"] * 1000})


def level_unsaid(app) -> None:
    """An answer does not say its level."""

    def change(body: dict) -> dict:
        return {key: value for key, value in body.items() if key != "output_mode"}

    answers(app, GENERATE, change)


def cached_tokens_uncounted(app) -> None:
    """usage never has prompt_tokens_details."""

    def change(body: dict) -> dict:
        if body.get("usage"):
            body["usage"]["prompt_tokens_details"] = None
        return body

    answers(app, GENERATE, change)


def cached_tokens_always_counted(app) -> None:
    """usage has prompt_tokens_details on every server."""
    install_reference(app)
    app.state.serving_tokens.enable_prompt_tokens_details = True


def model_missing(app) -> None:
    """The answer does not name the model."""
    answers(app, GENERATE, lambda body: {key: body[key] for key in body if key != "model"})


def null_keys_dropped(app) -> None:
    """Keys without a value are left out."""

    def change(body: dict) -> dict:
        return {key: value for key, value in body.items() if value is not None}

    answers(app, GENERATE, change)


def new_null_key(app) -> None:
    """The answer has one more key, which is always null."""
    answers(app, GENERATE, lambda body: {**body, "session_id": None})


def prompt_token_ids_withheld(app) -> None:
    """return_token_ids is ignored."""
    asked(app, lambda request: setattr(request, "return_token_ids", None))


def kv_transfer_params_do_not_come_back(app) -> None:
    """The engine's kv_transfer_params are not in the answer."""
    answers(app, GENERATE, lambda body: {**body, "kv_transfer_params": None})


def sampling_mask_null(app) -> None:
    """sampling_mask is always null."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(sampling_mask=None)))


def weight_versions_null(app) -> None:
    """weight_versions are always null."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(weight_versions=None)))


def tokens_encoded_again(app) -> None:
    """The ids in the answer are those of its text, tokenized anew."""
    tokenizer = app.state.serving_tokens.renderer.get_tokenizer()

    def change(choice: dict) -> None:
        text = tokenizer.decode(choice["token_ids"])
        choice["token_ids"] = tokenizer.encode(text, add_special_tokens=False)

    answers(app, GENERATE, each_choice(change))


def answers_swapped(app) -> None:
    """Two full requests that run at the same time get each other's answers."""
    from impl.serving_tokens import ServingTokens

    waiting: list[tuple] = []

    async def serve(honest, handler, request, raw_request=None):
        answer = await honest(handler, request, raw_request)
        if request.stream:
            return answer
        if waiting:
            others, swapped = waiting.pop()
            swapped.set_result(answer)
            return others
        mine = answer, asyncio.get_running_loop().create_future()
        waiting.append(mine)
        await asyncio.wait([mine[1]], timeout=0.5)
        if mine in waiting:
            waiting.remove(mine)
            return answer
        return mine[1].result()

    replace(app, ServingTokens, serve_tokens=serve)


# Routed experts


def routed_experts_null(app) -> None:
    """routed_experts are always null."""
    answers(app, GENERATE, each_choice(lambda choice: choice.update(routed_experts=None)))


def routed_experts_empty(app) -> None:
    """Where the engine gives no routed experts, or not yet, they are an empty string."""

    def change(choice: dict) -> None:
        choice["routed_experts"] = choice["routed_experts"] or ""

    answers(app, GENERATE, each_choice(change))


def routed_experts_swapped(app) -> None:
    """The first and the last choice have each other's routed experts."""

    def change(body: dict) -> dict:
        first, last = body["choices"][0], body["choices"][-1]
        first["routed_experts"], last["routed_experts"] = (
            last["routed_experts"],
            first["routed_experts"],
        )
        return body

    answers(app, GENERATE, change)


def routed_experts_of_another_dtype(app) -> None:
    """routed_experts are always int32, whatever the engine gave."""
    _experts(app, lambda array: array.astype("int32"))


def routed_experts_transposed(app) -> None:
    """routed_experts have layers before tokens."""
    _experts(app, lambda array: array.swapaxes(0, 1))


def routed_experts_without_the_prompt(app) -> None:
    """routed_experts lack the first row."""
    _experts(app, lambda array: array[1:])


def routed_experts_start_unsaid(app) -> None:
    """The start of compact routed experts is 0, whatever the request leaves out."""
    from impl import serving_tokens

    replace(app, serving_tokens, routed_experts_start=lambda honest, params: 0)


def _experts(app, change) -> None:
    from impl import compat

    def encoded(honest, array):
        return honest(change(array))

    replace(app, module_of(compat.ServingTokens), numpy2base64=encoded)
