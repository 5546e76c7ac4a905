"""Large answers built at the same time do not mix, and a small request is served beside them.

Catches a node that builds answers in a place that two requests share, or cuts what is large.
"""

import asyncio

import pytest

from fixtures.case import Node, requirement
from fixtures.models import tokenizer

pytestmark = pytest.mark.parametrize("node", [Node("real", "--max-logprobs", "-1")], indirect=True)

VOCABULARY = tokenizer().get_vocab_size()
LARGE = {"temperature": 0, "max_tokens": 24, "ignore_eos": True, "logprobs": VOCABULARY}


async def choices_of(wire, first: int) -> list[dict]:
    """The choices of an answer with some 12,000 candidates."""
    answer = await wire.generate(token_ids=[first, 21, 22], sampling_params=LARGE)
    return answer.expect(200).json["choices"]


@requirement("logprobs.large.built-at-once")
async def test_large_answers_at_once_are_as_alone(wire):
    """Three together, and a health check between them: each is what it is alone."""
    alone = [await choices_of(wire, first) for first in (30, 40, 50)]
    *together, health = await asyncio.gather(
        *(choices_of(wire, first) for first in (30, 40, 50)), wire.get("/health")
    )
    assert together == alone
    health.expect(200)
    candidates = [len(entry["top_logprobs"]) for entry in alone[0][0]["logprobs"]["content"]]
    assert candidates == [VOCABULARY] * LARGE["max_tokens"]
    assert alone[0] != alone[1]
