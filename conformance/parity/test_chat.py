"""Chat in three steps equals coupled chat, in every bit (float32).

Catches a split route that loses, rounds, reorders or invents anything on its way: tokens, text,
logprobs, usage, finish reasons, keys.
"""

import pytest

from conformance.parity.support import GREEDY, PROMPTS, SAMPLED, same_answer
from conformance.support import UNDISTURBED, encode, split_chat
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED


async def both(wire, request: dict) -> tuple[dict, dict]:
    """(split, coupled) answers to one request."""
    coupled = (await wire.chat(request)).expect(200).json
    return (await split_chat(wire, request)).answer, coupled


@requirement("parity.chat.same-answer")
@capability("derender.chat")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "seeded"])
async def test_plain_answers_are_the_same(wire, prompt, sampling):
    """The whole body, and the very tokens."""
    request = {"messages": PROMPTS[prompt], **sampling}
    coupled = (await wire.chat(request)).expect(200).json
    told = (await wire.chat(request, return_token_ids=True)).expect(200).json
    split = await split_chat(wire, request)
    token_ids = told["choices"][0]["token_ids"]
    assert len(token_ids) == sampling["max_tokens"]
    assert split.generated["choices"][0]["token_ids"] == token_ids
    same_answer(split.answer, coupled)


@requirement("parity.token-ids.same-ids")
@capability("derender.chat")
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_returned_ids_are_the_same(wire, prompt):
    """return_token_ids gives the prompt's and the output's ids on both routes."""
    request = {"messages": PROMPTS[prompt], **SAMPLED, "return_token_ids": True}
    split, coupled = await both(wire, request)
    assert len(coupled["choices"][0]["token_ids"]) == SAMPLED["max_tokens"]
    same_answer(split, coupled)


@requirement("parity.chat.same-logprobs")
@capability("derender.chat")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "seeded"])
@pytest.mark.parametrize("k", [0, 1, 2, 5])
async def test_logprobs_are_the_same(wire, prompt, sampling, k):
    """The whole body with k alternatives: names, bytes, order and every bit of the numbers."""
    request = {"messages": PROMPTS[prompt], **sampling, "logprobs": True, "top_logprobs": k}
    split, coupled = await both(wire, request)
    content = coupled["choices"][0]["logprobs"]["content"]
    assert [len(entry["top_logprobs"]) for entry in content] == [k] * sampling["max_tokens"]
    same_answer(split, coupled)


@requirement("parity.chat.same-choices")
@capability("derender.chat")
@pytest.mark.parametrize("prompt", ["one-turn", "unicode"])
@pytest.mark.parametrize("n", [2, 3])
async def test_several_choices_are_the_same(wire, prompt, n):
    """n seeded choices, which differ from one another, come back at the same index."""
    request = {"messages": PROMPTS[prompt], **SAMPLED, "n": n, "logprobs": True, "top_logprobs": 2}
    split, coupled = await both(wire, request)
    texts = [choice["message"]["content"] for choice in coupled["choices"]]
    assert (len(texts), len(set(texts))) == (n, n)
    same_answer(split, coupled)


@requirement("parity.chat.same-end")
@capability("derender.chat")
@pytest.mark.parametrize("seed", range(4))
async def test_end_of_turn_is_the_same(wire, seed):
    """An end token, sampled sooner or later: finish reason, stop reason, text and usage agree."""
    request = {
        "messages": PROMPTS["one-turn"], **SAMPLED, "seed": seed, "ignore_eos": False,
        "max_tokens": 200, "logit_bias": {**SAMPLED["logit_bias"], "2": 2.0},
    }  # fmt: skip
    split, coupled = await both(wire, request)
    assert coupled["choices"][0]["finish_reason"] == "stop"
    same_answer(split, coupled)


@requirement("parity.chat.same-end")
@capability("derender.chat")
@pytest.mark.parametrize("kept", [False, True])
async def test_stop_token_is_the_same(wire, kept):
    """A stop token of the caller's ends both answers at the same place, with the same reason."""
    free = (
        await wire.chat({"messages": PROMPTS["system"], **GREEDY, "return_token_ids": True})
    ).json
    token = free["choices"][0]["token_ids"][9]
    request = {
        "messages": PROMPTS["system"], **GREEDY,
        "stop_token_ids": [token], "include_stop_str_in_output": kept,
    }  # fmt: skip
    split, coupled = await both(wire, request)
    choice = coupled["choices"][0]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", token)
    same_answer(split, coupled)


@requirement("parity.chat.same-answer")
@capability("derender.chat")
@pytest.mark.parametrize("flag", [True, False])
async def test_special_token_flag_is_the_same(wire, flag):
    """skip_special_tokens means the same on both routes, with special tokens in the output."""
    request = {
        "messages": PROMPTS["one-turn"], **GREEDY, "skip_special_tokens": flag,
        "logit_bias": {"2": 100.0}, "max_tokens": 3,
    }  # fmt: skip
    split, coupled = await both(wire, request)
    assert coupled["choices"][0]["message"]["content"] == ("" if flag else "<|im_end|>" * 3)
    same_answer(split, coupled)


@requirement("parity.chat.same-answer")
@capability("derender.chat")
async def test_prompt_is_counted_the_same(wire):
    """Usage counts the same prompt: the template's text."""
    split, coupled = await both(wire, {"messages": PROMPTS["turns"], **GREEDY})
    text = (
        "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nthe fox<|im_end|>\n"
        "<|im_start|>user\njumps over<|im_end|>\n<|im_start|>assistant\n"
    )
    counts = {"prompt_tokens": len(encode(text)), "completion_tokens": GREEDY["max_tokens"]}
    assert {name: coupled["usage"][name] for name in counts} == counts
    assert split["usage"] == coupled["usage"]
