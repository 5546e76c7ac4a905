"""prompt_logprobs: null first, then one map per prompt token, keyed by decimal ids.

Catches a node that shifts positions, drops the first null, leaves out the prompt token's own
entry, names ids by text, or gives numbers that depend on the cache.
"""

import math

import pytest

from conformance.support import decode, entry_id
from fixtures.case import Node, requirement
from fixtures.tolerance import assert_same

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

PROMPT = [20, 75, 130, 30, 3, 91, 40]
ONE = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0}


async def scored(wire, token_ids: list[int], k: int, **sampling) -> list:
    """The prompt_logprobs of a scoring call."""
    sampling_params = {**ONE, "prompt_logprobs": k, **sampling}
    answer = await wire.generate(token_ids=token_ids, sampling_params=sampling_params)
    return answer.expect(200).json["prompt_logprobs"]


@requirement("logprobs.prompt.shape")
@pytest.mark.parametrize("k", [0, 1, 5])
async def test_one_map_per_prompt_token(wire, k):
    """As long as the prompt, null first, own id in each map, k or k + 1 entries."""
    first, *rest = await scored(wire, PROMPT, k)
    assert (first, len(rest)) == (None, len(PROMPT) - 1)
    for token_id, own in zip(PROMPT[1:], rest, strict=True):
        assert str(token_id) in own
        assert len(own) == k + (own[str(token_id)]["rank"] > k)
        assert [set(item) for item in own.values()] == [{"logprob", "rank", "decoded_token"}] * len(
            own
        )
        assert [str(int(name)) for name in own] == list(own)


@requirement("logprobs.prompt.shape")
async def test_one_token_prompt_has_the_null_only(wire):
    """There is nothing before the first token to predict it from."""
    assert await scored(wire, PROMPT[:1], 1) == [None]


@requirement("logprobs.prompt.shape")
async def test_decoded_token_is_the_tokens_text(wire):
    """Each entry's name is its id's text where that is whole."""
    for own in (await scored(wire, PROMPT, 5))[1:]:
        names = {name: item["decoded_token"] for name, item in own.items()}
        texts = {name: decode([int(name)], skip_special_tokens=False) for name in own}
        whole = {name for name, text in texts.items() if "\N{REPLACEMENT CHARACTER}" not in text}
        assert {name: names[name] for name in whole} == {name: texts[name] for name in whole}


@requirement("logprobs.prompt.shape")
async def test_ranks_and_values_agree(wire):
    """Ranks 1 … k are the likeliest; every number is a log probability."""
    for own in (await scored(wire, PROMPT, 5))[1:]:
        ranked = sorted(own.values(), key=lambda item: item["rank"])
        assert [item["rank"] for item in ranked[:5]] == [1, 2, 3, 4, 5]
        values = [item["logprob"] for item in ranked]
        assert values == sorted(values, reverse=True)
        assert all(math.isfinite(value) and value <= 1e-6 for value in values)


@requirement("logprobs.prompt.only-on-request")
@pytest.mark.parametrize("asked", [{}, {"prompt_logprobs": None}], ids=["absent", "null"])
async def test_null_unless_asked_for(wire, asked):
    """The key is there and null."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**ONE, **asked})
    assert answer.expect(200).json["prompt_logprobs"] is None
    assert len(await scored(wire, PROMPT, 0)) == len(PROMPT)


@requirement("logprobs.prompt.repeatable")
async def test_cache_does_not_change_the_numbers(wire):
    """Three scorings of a long prompt, two of them with a warm cache, equal bit for bit."""
    prompt = [20 + (7 * at) % 200 for at in range(300)]
    found = [await scored(wire, prompt, 1) for _ in range(3)]
    assert len(found[0]) == 300
    assert found[1:] == [found[0]] * 2


@requirement("logprobs.prompt.teacher-agrees")
async def test_scoring_an_output_gives_its_own_logprobs(wire):
    """The trainer's call: prompt and output scored as one prompt give the sampled numbers."""
    sampling = {"temperature": 1.0, "seed": 9, "max_tokens": 24, "ignore_eos": True, "logprobs": 0}
    answer = await wire.generate(token_ids=PROMPT, sampling_params=sampling)
    choice = answer.expect(200).json["choices"][0]
    sampled = [(entry_id(entry), entry["logprob"]) for entry in choice["logprobs"]["content"]]
    positions = (await scored(wire, PROMPT + choice["token_ids"], 0))[len(PROMPT) :]
    pairs = zip(choice["token_ids"], positions, strict=True)
    teacher = [own[str(token_id)]["logprob"] for token_id, own in pairs]
    assert choice["token_ids"] == [token_id for token_id, _ in sampled]
    # prefill and decode add in another order, so the last bits of a float32 may differ
    assert_same({"token_logprobs": teacher}, {"token_logprobs": [value for _, value in sampled]})


@requirement("logprobs.prompt.beside-sampled")
@pytest.mark.parametrize("k", [0, 3])
async def test_sampled_logprobs_are_whole_beside_those_of_the_prompt(wire, k):
    """Asking for both gives both: the choice is what it is without, to the last bit."""
    sampling = {"max_tokens": 8, "temperature": 0.0, "ignore_eos": True, "logprobs": k}
    plain = await wire.generate(token_ids=PROMPT, sampling_params=sampling)
    both = await wire.generate(token_ids=PROMPT, sampling_params={**sampling, "prompt_logprobs": 2})
    assert both.expect(200).json["choices"] == plain.expect(200).json["choices"]
    assert len(both.json["choices"][0]["logprobs"]["content"]) == 8
    assert (plain.json["prompt_logprobs"], len(both.json["prompt_logprobs"])) == (None, len(PROMPT))
