"""With the whole vocabulary asked for, the probabilities sum to one.

Catches a node whose numbers are not normalised, are cut to a few candidates, or repeat tokens:
the one check that needs no second implementation.
"""

import math

import pytest

from conformance.support import entry_id, since
from fixtures.case import Node, requirement
from fixtures.models import tokenizer

pytestmark = pytest.mark.parametrize("node", [Node("real", "--max-logprobs", "-1")], indirect=True)

VOCABULARY = tokenizer().get_vocab_size()
SAMPLING = {"temperature": 0, "max_tokens": 4, "ignore_eos": True}


@requirement("logprobs.values.probabilities")
@pytest.mark.parametrize("k", [-1, VOCABULARY], ids=["minus-one", "vocabulary-size"])
async def test_all_candidates_sum_to_one(wire, node, k):
    """Every token of the vocabulary once, probabilities summing to 1 within float32."""
    if k == -1 and not since(node, "0.31.0"):
        k = VOCABULARY  # -1 gave one alternative up to 0.30 (EVOLUTION 4.1)
    answer = await wire.generate(
        token_ids=[20, 30, 40], sampling_params={**SAMPLING, "logprobs": k}
    )
    content = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    assert len(content) == SAMPLING["max_tokens"]
    for entry in content:
        ids = sorted(entry_id(top) for top in entry["top_logprobs"])
        assert ids == list(range(VOCABULARY))
        total = math.fsum(math.exp(top["logprob"]) for top in entry["top_logprobs"])
        assert total == pytest.approx(1.0, abs=1e-5)


@requirement("logprobs.values.probabilities")
async def test_all_prompt_candidates_sum_to_one(wire):
    """The same for a prompt position."""
    answer = await wire.generate(
        token_ids=[20, 30, 40], sampling_params={**SAMPLING, "prompt_logprobs": VOCABULARY}
    )
    first, *rest = answer.expect(200).json["prompt_logprobs"]
    assert (first, [sorted(map(int, own)) for own in rest]) == (None, [list(range(VOCABULARY))] * 2)
    sums = [math.fsum(math.exp(item["logprob"]) for item in own.values()) for own in rest]
    assert sums == pytest.approx([1.0, 1.0], abs=1e-5)
