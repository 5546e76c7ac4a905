"""Completions in three steps equal coupled completions, in every bit (float32).

Catches a split route that mixes up prompts and choices, cuts the alternatives by chat's rule, or
loses the echo or the prompt's logprobs.
"""

import pytest

from conformance.parity.support import GREEDY, SAMPLED, same_answer
from conformance.support import UNDISTURBED, split_completions, without
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED

PROMPTS = {"text": "hello world", "unicode": "日本 é 🦊", "ids": [20, 30, 40, 50]}


async def both(wire, request: dict) -> tuple[dict, dict]:
    """(split, coupled) answers to one request."""
    coupled = (await wire.completions(request)).expect(200).json
    return (await split_completions(wire, request)).answer, coupled


@requirement("parity.completions.same-answer")
@capability("derender.completions")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "seeded"])
async def test_plain_answers_are_the_same(wire, prompt, sampling):
    """The whole body, and the very tokens."""
    request = {"prompt": PROMPTS[prompt], **sampling}
    coupled = (await wire.completions(request)).expect(200).json
    told = (await wire.completions(request, return_token_ids=True)).expect(200).json
    split = await split_completions(wire, request)
    token_ids = told["choices"][0]["token_ids"]
    assert len(token_ids) == sampling["max_tokens"]
    assert split.generated[0]["choices"][0]["token_ids"] == token_ids
    same_answer(split.answer, coupled)


@requirement("parity.token-ids.same-ids")
@capability("derender.completions")
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_returned_ids_are_the_same(wire, prompt):
    """return_token_ids gives the prompt's and the output's ids on both routes."""
    request = {"prompt": PROMPTS[prompt], **SAMPLED, "return_token_ids": True}
    split, coupled = await both(wire, request)
    assert len(coupled["choices"][0]["token_ids"]) == SAMPLED["max_tokens"]
    same_answer(split, coupled)


@requirement("parity.completions.same-logprobs")
@capability("derender.completions")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "seeded"])
@pytest.mark.parametrize("k", [0, 1, 2, 5])
async def test_logprobs_are_the_same(wire, prompt, sampling, k):
    """The whole body with k alternatives, the sampled one among or beside them."""
    split, coupled = await both(wire, {"prompt": PROMPTS[prompt], **sampling, "logprobs": k})
    logprobs = coupled["choices"][0]["logprobs"]
    assert len(logprobs["token_logprobs"]) == sampling["max_tokens"]
    same_answer(split, coupled)


@requirement("parity.completions.same-choices")
@capability("derender.completions")
@pytest.mark.parametrize("n", [1, 2])
async def test_prompts_and_choices_are_the_same(wire, n):
    """Three prompts with n choices each: 3n choices in the same order."""
    request = {"prompt": ["hello", "the fox", "é"], **SAMPLED, "n": n, "logprobs": 2}
    split, coupled = await both(wire, request)
    assert [choice["index"] for choice in coupled["choices"]] == list(range(3 * n))
    same_answer(split, coupled)


@requirement("parity.completions.echo")
@capability("derender.completions")
async def test_echo_is_the_same_or_refused(wire):
    """echo=true: the split text begins with the prompt too, or render says that it cannot."""
    request = {"prompt": "hello world", **GREEDY, "echo": True}
    coupled = (await wire.completions(request)).expect(200).json
    assert coupled["choices"][0]["text"].startswith("hello world")
    # The protocol has no place for the prompt's text: a 400 at render is as honest as the text.
    if (await wire.render_completions(request)).status != 400:
        same_answer((await split_completions(wire, request)).answer, coupled)


@requirement("parity.completions.prompt-logprobs")
@capability("derender.completions")
@pytest.mark.parametrize("k", [0, 2])
async def test_prompt_logprobs_are_the_same(wire, k):
    """The prompt's logprobs reach the choice, equal to the coupled ones."""
    request = {"prompt": "the quick brown fox", **GREEDY, "prompt_logprobs": k}
    split, coupled = await both(wire, request)
    found = [answer["choices"][0]["prompt_logprobs"] for answer in (split, coupled)]
    assert found[1][0] is None and len(found[1]) > 2
    same_answer(found[0], found[1])


@requirement("parity.completions.same-answer")
@capability("derender.completions")
async def test_the_rest_is_the_same_beside_prompt_logprobs(wire):
    """Asking for the prompt's logprobs changes nothing else of the answer."""
    request = {"prompt": "the quick brown fox", **GREEDY, "prompt_logprobs": 1, "logprobs": 1}
    split, coupled = await both(wire, request)
    same_answer(
        [without(choice, "prompt_logprobs") for choice in split["choices"]],
        [without(choice, "prompt_logprobs") for choice in coupled["choices"]],
    )
