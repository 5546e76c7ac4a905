"""Base and adapter side by side: neither's answer changes the other's, in a batch or in the cache.

Catches an adapter that is applied to a whole batch, and a prefix cache that two models share.
"""

import asyncio
import uuid

import pytest

from conformance.lora import ADAPTER, BASE, GREEDY, PROMPT, SAMPLED, WITH_ADAPTER, generated
from fixtures.case import requirement

pytestmark = WITH_ADAPTER

# Longer than two blocks of the CPU's prefix cache (128 tokens).
LONG = [30 + at % 200 for at in range(300)]
MIX = [BASE, ADAPTER, ADAPTER, BASE, ADAPTER, BASE, BASE, ADAPTER]


@requirement("lora.isolation.batch")
@pytest.mark.parametrize(
    ("params", "stream"), [(GREEDY, False), (SAMPLED, True)], ids=["greedy-full", "seeded-stream"]
)
async def test_together_is_as_alone(wire, params, stream):
    """Eight requests at once, base and adapter mixed, each get what its model answers alone.

    So many tokens that all eight are in one batch most of the time.
    """
    params = {**params, "max_tokens": 48}
    alone = {model: await generated(wire, model, params=params) for model in (BASE, ADAPTER)}
    assert alone[BASE] != alone[ADAPTER]
    calls = [generated(wire, model, params=params, stream=stream) for model in MIX]
    assert await asyncio.gather(*calls) == [alone[model] for model in MIX]


@requirement("lora.isolation.prefix-cache")
@pytest.mark.parametrize("first", [BASE, ADAPTER])
async def test_the_prefix_cache_is_each_models_own(wire, first):
    """A long prompt that the other model has just run is answered as without it."""
    second = ADAPTER if first == BASE else BASE
    # one id of its own at the front: no other case has put this prompt into the cache
    prompt = [30 + (first == BASE), *LONG]
    alone = await generated(wire, second, prompt, cache_salt=uuid.uuid4().hex)
    other = await generated(wire, first, prompt)
    assert await generated(wire, second, prompt) == alone
    assert other != alone


@requirement("lora.isolation.prefix-cache")
async def test_one_after_another(wire):
    """Base, adapter and both again: each answer is the same before and after."""
    before = await generated(wire, BASE, PROMPT)
    adapter = await generated(wire, ADAPTER, PROMPT)
    assert [await generated(wire, BASE, PROMPT), await generated(wire, ADAPTER, PROMPT)] == [
        before,
        adapter,
    ]
    assert before != adapter
