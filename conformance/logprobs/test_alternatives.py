"""The alternatives of a position: how many, in which order, none twice.

Catches a node that returns one too many or too few, lists the sampled token twice or not at all,
sorts it into the others, or ranks them wrongly.
"""

import math

import pytest

from conformance.support import UNDISTURBED, entry_id, since
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED

# Temperature 2 samples far from the top, so that the sampled token is often outside the top k.
HOT = {"temperature": 2.0, "seed": 3, "max_tokens": 40, "ignore_eos": True}
KS = [0, 1, 2, 5, 20]


async def content_of(wire, k: int, **sampling) -> list[dict]:
    """The logprob entries of one seeded answer."""
    sampling_params = {**HOT, "logprobs": k, **sampling}
    answer = await wire.generate(token_ids=[20, 30, 40, 50], sampling_params=sampling_params)
    content = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    assert len(content) == sampling_params["max_tokens"]
    return content


@requirement("logprobs.alternatives.count")
@pytest.mark.parametrize("k", KS)
async def test_count_of_alternatives(wire, node, k):
    """k of them; from 0.33 on k + 1 where the sampled token is outside the top k (CASES 28).

    For k = 0 that is the sampled token alone.
    """
    content = await content_of(wire, k)
    counts = {len(entry["top_logprobs"]) for entry in content}
    if not since(node, "0.33.0"):
        assert counts == {max(k, 1)}
        return
    outside = [entry["rank"] > k for entry in content]
    assert [len(entry["top_logprobs"]) for entry in content] == [k + own for own in outside]
    assert True in outside


@requirement("logprobs.alternatives.sampled-first")
@pytest.mark.parametrize("k", KS)
async def test_sampled_token_comes_first_with_its_own_numbers(wire, k):
    """The first alternative is the entry itself: id, logprob and rank."""
    content = await content_of(wire, k)
    own = [{name: entry[name] for name in entry if name != "top_logprobs"} for entry in content]
    assert [entry["top_logprobs"][0] for entry in content] == own


@requirement("logprobs.alternatives.distinct")
@pytest.mark.parametrize("temperature", [0.0, 2.0])
@pytest.mark.parametrize("k", KS)
async def test_no_token_is_listed_twice(wire, k, temperature):
    """Each position's ids are distinct, the sampled one among them."""
    content = await content_of(wire, k, temperature=temperature)
    ids = [[entry_id(top) for top in entry["top_logprobs"]] for entry in content]
    assert [len(set(own)) for own in ids] == [len(own) for own in ids]


@requirement("logprobs.alternatives.ranked")
@pytest.mark.parametrize("k", [2, 5, 20])
async def test_others_follow_in_rank_order(wire, k):
    """After the sampled token the logprobs fall, from the most likely token on."""
    content = await content_of(wire, k)
    rest = [[top["logprob"] for top in entry["top_logprobs"][1:]] for entry in content]
    assert rest == [sorted(own, reverse=True) for own in rest]


@requirement("logprobs.alternatives.ranked")
@capability("integer-logprobs")
@pytest.mark.parametrize("k", [1, 2, 5, 20])
async def test_ranks_say_the_place_in_the_vocabulary(wire, k):
    """The others' ranks are 1, 2, 3 … without the sampled token's; a better rank is likelier."""
    for entry in await content_of(wire, k):
        own, others = entry["rank"], entry["top_logprobs"][1:]
        places = [place for place in range(1, len(others) + 2) if place != own][: len(others)]
        assert [top["rank"] for top in others] == places
        by_rank = sorted(entry["top_logprobs"], key=lambda top: top["rank"])
        values = [top["logprob"] for top in by_rank]
        assert values == sorted(values, reverse=True)


@requirement("logprobs.alternatives.ranked")
@pytest.mark.parametrize("k", [1, 5])
async def test_greedy_token_is_the_likeliest(wire, k):
    """At temperature 0 no alternative is likelier than the sampled token."""
    for entry in await content_of(wire, k, temperature=0.0):
        assert entry["logprob"] == max(top["logprob"] for top in entry["top_logprobs"])


@requirement("logprobs.values.probabilities")
@pytest.mark.parametrize("k", KS)
async def test_values_are_log_probabilities(wire, k):
    """At most 0, finite, and together no more than certain."""
    content = await content_of(wire, k)
    values = [[top["logprob"] for top in entry["top_logprobs"]] for entry in content]
    assert all(math.isfinite(value) and value <= 1e-6 for own in values for value in own)
    assert max(sum(map(math.exp, own)) for own in values) <= 1 + 1e-5


@requirement("logprobs.alternatives.prefix-of-more")
@pytest.mark.parametrize("k", [1, 2, 5])
async def test_fewer_alternatives_are_the_best_of_more(wire, k):
    """Asking for k gives the k likeliest of twenty, with the same numbers and the same tokens."""
    few, many = await content_of(wire, k), await content_of(wire, 20)
    assert [entry_id(entry) for entry in few] == [entry_id(entry) for entry in many]
    for own, wider in zip(few, many, strict=True):
        best = sorted(wider["top_logprobs"], key=lambda top: -top["logprob"])[:k]
        # the last place may be the sampled token's where a release cuts to exactly k
        others = [top for top in own["top_logprobs"][1:] if top not in best]
        assert others == []
        assert own["top_logprobs"][0] == wider["top_logprobs"][0]
