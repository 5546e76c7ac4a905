"""In bf16, alone on the engine, both routes agree: tokens exactly, log probabilities within 1e-3.

Catches a split route that recomputes, rounds or quantises numbers on its way, at the precision
that is served in production. The engine is leased alone: other traffic moves bf16 numbers.
"""

import pytest

from conformance.parity.support import GREEDY, PROMPTS, SAMPLED, same_answer
from conformance.support import split_chat, split_completions
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node", [Node("real", dtype="bfloat16", exclusive=True)], indirect=True
)

BF16 = 1e-3


@requirement("parity.bf16.within-tolerance")
@capability("derender.chat")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("k", [0, 1, 2, 5])
async def test_chat_agrees(wire, prompt, k):
    """Greedy chat with k alternatives."""
    request = {"messages": PROMPTS[prompt], **GREEDY, "logprobs": True, "top_logprobs": k}
    coupled = (await wire.chat(request)).expect(200).json
    same_answer((await split_chat(wire, request)).answer, coupled, logprob_abs=BF16)


@requirement("parity.bf16.within-tolerance")
@capability("derender.completions")
@pytest.mark.parametrize("k", [0, 1, 2, 5])
async def test_completions_agree(wire, k):
    """Greedy completions with k alternatives."""
    request = {"prompt": "the quick brown fox jumps", **GREEDY, "logprobs": k}
    coupled = (await wire.completions(request)).expect(200).json
    same_answer((await split_completions(wire, request)).answer, coupled, logprob_abs=BF16)


@requirement("parity.bf16.within-tolerance")
@capability("derender.chat")
@pytest.mark.parametrize("seed", [3, 11])
async def test_seeded_choices_agree(wire, seed):
    """Two seeded choices of one prompt."""
    request = {
        "messages": PROMPTS["system"], **SAMPLED,
        "seed": seed, "n": 2, "logprobs": True, "top_logprobs": 2,
    }  # fmt: skip
    coupled = (await wire.chat(request)).expect(200).json
    same_answer((await split_chat(wire, request)).answer, coupled, logprob_abs=BF16)


@requirement("parity.bf16.within-tolerance")
@capability("derender.chat")
async def test_prompt_logprobs_agree(wire):
    """The prompt's own log probabilities, which chat derender passes through."""
    request = {"messages": PROMPTS["turns"], **GREEDY, "prompt_logprobs": 2}
    coupled = (await wire.chat(request)).expect(200).json
    assert len(coupled["prompt_logprobs"]) == coupled["usage"]["prompt_tokens"]
    same_answer((await split_chat(wire, request)).answer, coupled, logprob_abs=BF16)
