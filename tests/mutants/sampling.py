"""Lies of generate about sampling, stopping and their limits."""

from tests.mutants.tools import GENERATE, answers, asked, each_choice, replace, requests


def _params(app, change) -> None:
    """Pass the sampling parameters of each generate request, as sent, through `change`."""

    def changed(body: dict) -> dict:
        if isinstance(body.get("sampling_params"), dict):
            change(body["sampling_params"])
        return body

    requests(app, GENERATE, changed)


# What is applied


def greedy_is_sampled(app) -> None:
    """A temperature of 0 is taken for none, and the ids are sampled."""
    _params(app, lambda params: params.update(temperature=params.get("temperature") or 1.0))


def sampled_is_greedy(app) -> None:
    """Without a temperature the answer is greedy."""
    _params(app, lambda params: params.setdefault("temperature", 0.0))


def logit_bias_ignored(app) -> None:
    """logit_bias is accepted and not applied."""
    asked(app, lambda request: setattr(request.sampling_params, "logit_bias", None))


def candidates_and_penalties_ignored(app) -> None:
    """Fields that narrow the candidates or penalize ids are accepted and not applied."""
    fields = ("top_k", "top_p", "min_p", "allowed_token_ids", "bad_words")
    fields += ("frequency_penalty", "presence_penalty", "repetition_penalty")

    def change(params: dict) -> None:
        for field in fields:
            params.pop(field, None)

    _params(app, change)


def unseeded_is_seeded(app) -> None:
    """Without a seed the seed is 0."""
    _params(app, lambda params: params.setdefault("seed", 0))


def first_prompt_id_ignored(app) -> None:
    """The prompt's first id is replaced by the end-of-text token."""
    asked(app, lambda request: request.token_ids.__setitem__(0, 0))


def min_tokens_ignored(app) -> None:
    """min_tokens does not hold back the end."""
    _params(app, lambda params: params.pop("min_tokens", None))


def ignore_eos_ignored(app) -> None:
    """ignore_eos does not hold back the end."""
    _params(app, lambda params: params.pop("ignore_eos", None))


def stop_token_ids_ignored(app) -> None:
    """stop_token_ids do not end the answer."""
    _params(app, lambda params: params.pop("stop_token_ids", None))


def end_token_cut_off(app) -> None:
    """The end token is not among the answer's ids."""

    def change(choice: dict) -> None:
        if choice["finish_reason"] == "stop" and choice["stop_reason"] is None:
            choice["token_ids"] = choice["token_ids"][:-1]

    answers(app, GENERATE, each_choice(change))


def last_id_lost_without_tokenizer(app) -> None:
    """A server without a tokenizer leaves out the last id of an answer."""

    def change(choice: dict) -> None:
        if app.state.args.tokens_only:
            choice["token_ids"] = choice["token_ids"][:-1]

    answers(app, GENERATE, each_choice(change))


def private_stop_ids_obeyed(app) -> None:
    """_all_stop_token_ids, the engine's own, end the answer when a client sends them."""

    def change(params: dict) -> None:
        if stops := params.pop("_all_stop_token_ids", None):
            params["stop_token_ids"] = stops

    _params(app, change)


def missing_mask_is_empty(app) -> None:
    """Without a sampling mask sampling_mask is an empty list."""

    def change(choice: dict) -> None:
        choice["sampling_mask"] = choice["sampling_mask"] or []

    answers(app, GENERATE, each_choice(change))


def special_tokens_always_skipped(app) -> None:
    """skip_special_tokens: false is ignored."""
    _params(app, lambda params: params.pop("skip_special_tokens", None))


def stop_string_kept(app) -> None:
    """The text keeps the string that stopped it."""
    _params(app, lambda params: params.update(include_stop_str_in_output=True))


def clipped_one_token_short(app) -> None:
    """max_tokens beyond the context is clipped to one token less than its room."""
    longest = app.state.serving_tokens.model_config.max_model_len

    def change(request) -> None:
        room = longest - len(request.token_ids)
        if (request.sampling_params.max_tokens or 0) > room:
            request.sampling_params.max_tokens = room - 1

    asked(app, change)


# What is refused


def default_beyond_the_context_refused(app) -> None:
    """A server's own default for max_tokens that the context has no room for is a 400."""
    from impl.serving_tokens import ServingTokens

    async def serve(honest, handler, request, raw_request=None):
        room = handler.model_config.max_model_len - len(request.token_ids)
        omitted = not request.is_sampling_param_provided("max_tokens")
        if omitted and (handler.override_max_tokens or 0) > room:
            return handler.create_error_response("max_tokens is too large.")
        return await honest(handler, request, raw_request)

    replace(app, ServingTokens, serve_tokens=serve)


def large_seed_wraps_around(app) -> None:
    """A seed that is negative or has more than 63 bits is served as its last 63."""

    def change(params: dict) -> None:
        if isinstance(params.get("seed"), int):
            params["seed"] %= 2**63

    _params(app, change)


def max_tokens_below_one_is_one(app) -> None:
    """max_tokens below 1 is served as 1."""

    def change(params: dict) -> None:
        if isinstance(params.get("max_tokens"), int):
            params["max_tokens"] = max(params["max_tokens"], 1)

    _params(app, change)


def fraction_of_max_tokens_cut(app) -> None:
    """A max_tokens that is no integer is served as the integer below."""

    def change(params: dict) -> None:
        if isinstance(params.get("max_tokens"), float):
            params["max_tokens"] = int(params["max_tokens"])

    _params(app, change)


def n_below_one_is_one(app) -> None:
    """n below 1 is served as 1, and an n that is no number is a 500."""
    _params(app, lambda params: params.update(n=max(params.get("n", 1), 1)))


def temperature_below_zero_is_zero(app) -> None:
    """A temperature below 0 is served as 0."""

    def change(params: dict) -> None:
        if isinstance(params.get("temperature"), float):
            params["temperature"] = max(params["temperature"], 0.0)

    _params(app, change)


def sampling_params_not_required(app) -> None:
    """Missing sampling_params are empty ones."""
    requests(app, GENERATE, lambda body: {"sampling_params": {}, **body})


def long_prompt_truncated(app) -> None:
    """A prompt that fills or passes the context is cut to its last ids."""
    most = app.state.serving_tokens.model_config.max_model_len - 1
    asked(app, lambda request: setattr(request, "token_ids", request.token_ids[-most:]))


def stop_without_text_ignored(app) -> None:
    """A stop string with detokenize: false is dropped instead of refused."""

    def change(params: dict) -> None:
        if params.get("detokenize") is False:
            params.pop("stop", None)

    _params(app, change)


def text_without_detokenizing(app) -> None:
    """detokenize: false is ignored where text is asked for."""

    def change(body: dict) -> dict:
        if body.get("output_mode") in ("text", "derender"):
            body["sampling_params"].pop("detokenize", None)
        return body

    requests(app, GENERATE, change)


def stop_without_tokenizer_ignored(app) -> None:
    """A server without a tokenizer drops stop strings."""
    if app.state.args.tokens_only:
        _params(app, lambda params: params.pop("stop", None))
