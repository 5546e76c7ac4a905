"""Lies about log probabilities."""

import math
from collections import Counter

from tests.mutants.tools import (
    CHAT_DERENDER,
    GENERATE,
    answers,
    each_choice,
    module_of,
    prompt_logprobs,
    replace,
    requests,
)


def _entries(app, change) -> None:
    """Pass the entries of each choice's logprobs, as generate sends them, through `change`."""

    def changed(choice: dict) -> None:
        if logprobs := choice.get("logprobs"):
            logprobs["content"] = change(logprobs["content"])

    answers(app, GENERATE, each_choice(changed))


def _each_entry(app, change) -> None:
    def changed(entries: list[dict]) -> list[dict]:
        for entry in entries:
            change(entry)
        return entries

    _entries(app, changed)


def _each_number(app, change) -> None:
    """Pass each logprob, of sampled tokens and of alternatives, through `change`."""

    def changed(entry: dict) -> None:
        for one in (entry, *entry["top_logprobs"]):
            one["logprob"] = change(one["logprob"])

    _each_entry(app, changed)


# Numbers


def off_by_two_thousandths(app) -> None:
    """Each logprob is 2e-3 too high."""
    _each_number(app, lambda logprob: logprob + 2e-3)


def rounded(app) -> None:
    """Each logprob is rounded to four digits."""
    _each_number(app, lambda logprob: round(logprob, 4))


def base_two(app) -> None:
    """Logprobs are logarithms to base 2."""
    _each_number(app, lambda logprob: logprob / math.log(2))


def probabilities(app) -> None:
    """Each number is a probability, not its logarithm."""
    _each_number(app, math.exp)


def no_floor_for_infinity(app) -> None:
    """-inf and NaN are sent as null."""
    from impl import compat

    def clamp(honest, logprob):
        return logprob

    def create(honest, *arguments, **keywords):
        logprobs = honest(*arguments, **keywords)
        for entry in logprobs.content:
            for one in (entry, *entry.top_logprobs):
                if not math.isfinite(one.logprob):
                    one.logprob = None
        return logprobs

    replace(app, module_of(compat.ServingTokens), _clamp_logprob=clamp)
    replace(app, compat.ServingTokens, _create_tokens_logprobs=create)


def nan_is_zero(app) -> None:
    """NaN is sent as 0, a certainty."""
    from impl import compat

    def clamp(honest, logprob):
        return 0.0 if math.isnan(logprob) else honest(logprob)

    replace(app, module_of(compat.ServingTokens), _clamp_logprob=clamp)


def rank_missing(app) -> None:
    """Entries have no rank."""

    def change(entry: dict) -> None:
        for one in (entry, *entry["top_logprobs"]):
            del one["rank"]

    _each_entry(app, change)


def ranks_from_zero(app) -> None:
    """Ranks are counted from 0."""

    def change(entry: dict) -> None:
        for one in (entry, *entry["top_logprobs"]):
            one["rank"] = one["rank"] and one["rank"] - 1

    _each_entry(app, change)


# Entries


def shifted_by_one_token(app) -> None:
    """Each token has the entry of the one before."""
    _entries(app, lambda entries: entries[:1] + entries[:-1])


def first_entry_missing(app) -> None:
    """The first token has no entry."""
    _entries(app, lambda entries: entries[1:])


def entries_of_the_first_choice(app) -> None:
    """At generate and at chat derender every choice has the first one's entries."""

    def change(body: dict) -> dict:
        for choice in body.get("choices", []):
            choice["logprobs"] = body["choices"][0]["logprobs"]
        return body

    answers(app, GENERATE, change)
    answers(app, CHAT_DERENDER, change)


def last_alternative_dropped(app) -> None:
    """A position lists one alternative less."""
    _each_entry(app, lambda entry: entry["top_logprobs"].pop())


def sampled_token_not_first(app) -> None:
    """Alternatives come by likelihood, the sampled token among them."""
    _each_entry(app, lambda entry: entry["top_logprobs"].sort(key=lambda one: -one["logprob"]))


def alternatives_by_id(app) -> None:
    """Alternatives come in the order of their ids."""
    _each_entry(app, lambda entry: entry["top_logprobs"].sort(key=lambda one: one["token_id"]))


def sampled_token_listed_twice(app) -> None:
    """The sampled token is listed as an alternative once more."""
    _each_entry(app, lambda entry: entry["top_logprobs"].append(dict(entry["top_logprobs"][0])))


def alternatives_of_the_vocabulary_lost(app) -> None:
    """A position lists 20 candidates of the whole vocabulary, a prompt's as well."""

    def change(entry: dict) -> None:
        entry["top_logprobs"] = entry["top_logprobs"][:20]

    def prompt(positions: list) -> list:
        return [position and dict(list(position.items())[:20]) for position in positions]

    _each_entry(app, change)
    prompt_logprobs(app, prompt)


def made_without_being_asked(app) -> None:
    """A request without logprobs gets an empty list of them."""

    def change(choice: dict) -> None:
        if choice.get("logprobs") is None:
            choice["logprobs"] = {"content": []}

    answers(app, GENERATE, each_choice(change))


# Names


def split_characters_replaced(app) -> None:
    """At generate a token is named by itself, so that a split character is U+FFFD."""
    from impl import compat

    def name(honest, token_id, logprob, tokenizer):
        return honest(token_id, None, tokenizer)

    replace(app, module_of(compat.ServingTokens), _logprob_token=name)


def derendered_split_characters_replaced(app) -> None:
    """At derender a token is named by itself, so that a split character is U+FFFD."""
    outer = module_of(type(app.state.serving_derender.online_derenderer))

    def corrected(honest, token_id, context_token_ids, tokenizer):
        return tokenizer.decode([token_id])

    replace(app, outer, _correct_decoded_token=corrected)


def candidates_named_as_the_sampled_token(app) -> None:
    """At chat derender each alternative has the sampled token's name."""

    def change(choice: dict) -> None:
        for entry in ((choice.get("logprobs") or {}).get("content")) or ():
            for candidate in entry["top_logprobs"]:
                candidate["token"], candidate["bytes"] = entry["token"], entry["bytes"]

    answers(app, CHAT_DERENDER, each_choice(change))


def derendered_alternatives_uncut(app) -> None:
    """Chat derender keeps more alternatives than the client asked for."""
    outer = module_of(type(app.state.serving_derender.online_derenderer))
    replace(app, outer, _chat_top_logprobs_limit=lambda honest, request: None)


# Prompt


def prompt_null_left_out(app) -> None:
    """prompt_logprobs begin with the second token."""
    prompt_logprobs(app, lambda positions: positions[1:])


def prompt_null_is_empty(app) -> None:
    """The first of prompt_logprobs is an empty map instead of null."""
    prompt_logprobs(app, lambda positions: [{}, *positions[1:]])


def prompt_off_by_one(app) -> None:
    """Each prompt token has the entry of the one after."""
    prompt_logprobs(app, lambda positions: [None, *positions[2:], *positions[-1:]])


def prompt_null_at_the_end(app) -> None:
    """The null of prompt_logprobs stands last."""
    prompt_logprobs(app, lambda positions: [*positions[1:], None])


def prompt_token_not_in_its_entry(app) -> None:
    """An entry of prompt_logprobs holds the best candidates alone, not the prompt's token."""

    def change(positions: list) -> list:
        return [
            position and {key: one for key, one in position.items() if one["rank"] <= 1}
            for position in positions
        ]

    prompt_logprobs(app, change)


def prompt_names_and_ranks_shifted(app) -> None:
    """In an entry of prompt_logprobs each token has the name and rank of the one listed after it."""

    def change(positions: list) -> list:
        for position in filter(None, positions):
            said = [(one["decoded_token"], one["rank"]) for one in position.values()]
            for one, (name, rank) in zip(position.values(), said[1:] + said[:1], strict=True):
                one |= {"decoded_token": name, "rank": rank}
        return positions

    prompt_logprobs(app, change)


def prompt_numbers_drift(app) -> None:
    """Each further scoring of a prompt gives numbers that are 1e-3 lower."""
    scored: Counter = Counter()

    def change(positions: list) -> list:
        own = str(positions)
        for position in filter(None, positions):
            for one in position.values():
                one["logprob"] -= scored[own] / 1000
        scored[own] += 1
        return positions

    prompt_logprobs(app, change)


def prompt_keyed_by_text(app) -> None:
    """prompt_logprobs are keyed by decoded tokens."""

    def change(positions: list) -> list:
        return [
            position and {one["decoded_token"]: one for one in position.values()}
            for position in positions
        ]

    prompt_logprobs(app, change)


def prompt_made_without_being_asked(app) -> None:
    """Without prompt_logprobs in the request the field is an empty list."""

    def change(body: dict) -> dict:
        return {**body, "prompt_logprobs": body.get("prompt_logprobs") or []}

    answers(app, GENERATE, change)


# Counts that are refused


def counts_lowered(app) -> None:
    """A count above max_logprobs is served as max_logprobs, and one beside logprob_token_ids as theirs."""
    most = app.state.serving_tokens.model_config.max_logprobs

    def change(body: dict) -> dict:
        params = body.get("sampling_params") or {}
        for name in ("logprobs", "prompt_logprobs"):
            if isinstance(params.get(name), int):
                params[name] = min(params[name], most)
        if ids := params.get("logprob_token_ids"):
            params["logprobs"] = len(ids)
        return body

    requests(app, GENERATE, change)


# Rows that few engines send


def _rows(app, lie) -> None:
    """`lie(honest, handler, token_ids, top_logprobs)` makes the entries of generate."""
    from impl.serving_tokens import ServingTokens

    replace(app, ServingTokens, _create_tokens_logprobs=lie)


def missing_rows_left_out(app) -> None:
    """A token without a row of logprobs has no entry, and the answer is a 200."""

    def lie(honest, handler, token_ids, top_logprobs):
        rows = top_logprobs or []
        return honest(handler, token_ids=token_ids[: len(rows)], top_logprobs=rows)

    _rows(app, lie)


def entries_counted_by_rows(app) -> None:
    """Each row is an entry, named by its first candidate, whatever was sampled."""

    def lie(honest, handler, token_ids, top_logprobs):
        rows = [row for row in top_logprobs if row]
        return honest(handler, token_ids=[next(iter(row)) for row in rows], top_logprobs=rows)

    _rows(app, lie)


def further_list(app) -> None:
    """logprobs have one more key, which is always null."""

    def change(choice: dict) -> None:
        if choice.get("logprobs"):
            choice["logprobs"]["sampled"] = None

    answers(app, GENERATE, each_choice(change))


def sampled_lost_beside_the_prompts(app) -> None:
    """An answer with prompt_logprobs has no logprobs of its sampled tokens."""

    def change(body: dict) -> dict:
        if body.get("prompt_logprobs"):
            for choice in body["choices"]:
                choice["logprobs"] = None
        return body

    answers(app, GENERATE, change)
