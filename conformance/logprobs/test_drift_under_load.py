"""In bf16 other requests move a request's log probabilities; how far is measured, not judged.

Catches a node that under load loses entries, or sends what is no log probability. The engine is leased
alone, so that the quiet answer is quiet and the neighbours are known.
"""

import math

import pytest

from conformance.logprobs import neighbours
from fixtures.case import Node, requirement
from fixtures.drift import drift

pytestmark = pytest.mark.parametrize(
    "node", [Node("real", dtype="bfloat16", exclusive=True)], indirect=True
)

GREEDY = {"temperature": 0, "ignore_eos": True, "logprobs": 5}
PROMPT = [20 + (7 * at) % 200 for at in range(24)]
TOKENS = 48


async def content_of(wire) -> list[dict]:
    """The logprob entries of one greedy answer: as many as tokens, each number at most 0."""
    sampling = {**GREEDY, "max_tokens": TOKENS}
    answer = await wire.generate(token_ids=PROMPT, sampling_params=sampling)
    content = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    numbers = [one["logprob"] for entry in content for one in (entry, *entry["top_logprobs"])]
    assert len(content) == TOKENS
    assert all(math.isfinite(number) and -9999.0 < number <= 0.0 for number in numbers), numbers
    return content


@requirement("logprobs.load.bf16-drift")
@pytest.mark.parametrize("others", [1, 8])
async def test_an_answer_under_load_is_whole(wire, others):
    """Three times beside others: every position is there; which token comes may differ."""
    quiet = await content_of(wire)
    for _ in range(3):
        async with neighbours(wire, GREEDY, count=others):
            drift(await content_of(wire), quiet)
