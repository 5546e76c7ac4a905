"""Sampling parameters are obeyed: each one moves what it must, or the request is refused."""

import pytest

from conformance.generate import GREEDY, PROMPT
from conformance.support import UNDISTURBED
from fixtures.case import requirement
from fixtures.models import tokenizer

pytestmark = UNDISTURBED

SAMPLED = {"temperature": 1.0, "ignore_eos": True, "max_tokens": 32}


async def tokens(wire, params):
    answer = await wire.generate(token_ids=PROMPT, sampling_params={"max_tokens": 16, **params})
    return answer.expect(200).json["choices"][0]["token_ids"]


@requirement("generate.sampling.seed-repeats")
@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**63 - 1])
async def test_same_seed_same_ids(wire, seed):
    """The same seed samples the same ids; another seed samples others."""
    first = await tokens(wire, {**SAMPLED, "seed": seed})
    assert first == await tokens(wire, {**SAMPLED, "seed": seed})
    assert first != await tokens(wire, {**SAMPLED, "seed": 77})
    assert len(first) == 32


@requirement("generate.sampling.default-is-sampled")
async def test_unseeded_samples_vary(wire):
    """Without a seed two sampled answers of 32 ids are not the same."""
    assert await tokens(wire, SAMPLED) != await tokens(wire, SAMPLED)


@requirement("generate.sampling.default-is-sampled")
async def test_default_temperature_samples(wire):
    """Empty sampling_params sample at temperature 1: two answers differ, and neither repeats the
    greedy one.
    """
    default = {"ignore_eos": True, "max_tokens": 32}
    one, other = await tokens(wire, default), await tokens(wire, default)
    greedy = await tokens(wire, {**GREEDY, "max_tokens": 32})
    assert one != other and greedy not in (one, other)
    assert greedy == await tokens(wire, {**SAMPLED, "top_k": 1})


@requirement("generate.sampling.fields-are-applied")
@pytest.mark.parametrize(
    "params", [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}], ids=["top-k", "top-p", "min-p"]
)
async def test_narrowed_to_one_candidate_is_greedy(wire, params):
    """Narrowed to its best candidate, sampling at temperature 1 gives the greedy ids."""
    assert await tokens(wire, {**SAMPLED, **params}) == await tokens(
        wire, {**GREEDY, "max_tokens": 32}
    )


@requirement("generate.sampling.fields-are-applied")
@pytest.mark.parametrize("allowed", [[50], [50, 51], [7, 100, 261]], ids=["one", "two", "three"])
async def test_only_allowed_ids(wire, allowed):
    """Sampled hot, only the allowed ids come, and where there are several, more than one of
    them.
    """
    got = await tokens(
        wire, {**SAMPLED, "temperature": 2.0, "seed": 5, "allowed_token_ids": allowed}
    )
    assert set(got) <= set(allowed) and len(got) == 32
    assert len(set(got)) > 1 or len(allowed) == 1


@requirement("generate.sampling.fields-are-applied")
async def test_logit_bias_forces_and_forbids(wire):
    """A bias of +100 makes an id every id; one of -100 makes the greedy first id another one."""
    assert await tokens(wire, {**GREEDY, "logit_bias": {"50": 100}}) == [50] * 16
    plain = await tokens(wire, GREEDY)
    assert plain[0] not in await tokens(wire, {**GREEDY, "logit_bias": {str(plain[0]): -100}})


@requirement("generate.sampling.fields-are-applied")
async def test_bad_words_never_come(wire):
    """A word of one id, the greedy first one, is not generated when it is bad, and something else
    is.
    """
    letters = [tokenizer().token_to_id(letter) for letter in "abcdefgh"]
    allowed = {**GREEDY, "allowed_token_ids": letters}
    plain = await tokens(wire, allowed)
    word = tokenizer().decode(plain[:1])
    got = await tokens(wire, {**allowed, "bad_words": [word]})
    assert plain[0] not in got and set(got) <= set(letters) and len(got) == 16


@requirement("generate.sampling.fields-are-applied")
@pytest.mark.parametrize(
    "penalty",
    [{"frequency_penalty": 2.0}, {"presence_penalty": 2.0}, {"repetition_penalty": 50.0}],
    ids=lambda p: next(iter(p)),
)
async def test_penalties_spread_the_ids(wire, penalty):
    """Under a small bias one id repeats; the largest penalty brings others in."""
    bias = {"logit_bias": {"50": 4}, "allowed_token_ids": [50, 51, 52, 53]}
    assert await tokens(wire, {**GREEDY, **bias}) != (
        got := await tokens(wire, {**GREEDY, **bias, **penalty})
    )
    assert len(got) == 16 and len(set(got)) > 1
