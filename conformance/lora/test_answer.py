"""The adapter's answer: its own, the same by way of every route.

Catches a generate that runs the base model under the adapter's name, and a split route that ends
elsewhere than the coupled one.
"""

import pytest

from conformance.lora import ADAPTER, BASE, GREEDY, MESSAGES, PROMPT, WITH_ADAPTER, generated
from conformance.parity.support import same_answer
from fixtures.case import requirement

pytestmark = WITH_ADAPTER

FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
LOGPROBS = {**GREEDY, "max_tokens": 4, "logprobs": 2}


async def coupled(wire, model):
    """The ids of the coupled completions route for PROMPT."""
    answer = await wire.completions(model=model, prompt=PROMPT, return_token_ids=True, **GREEDY)
    return answer.expect(200).json["choices"][0]["token_ids"]


@requirement("lora.answer.own-weights")
@FULL_OR_STREAM
async def test_the_adapter_answers_otherwise_than_the_base(wire, stream):
    """The first greedy ids differ: rank 8 on queries and values moves every position."""
    base = await generated(wire, BASE, stream=stream)
    adapter = await generated(wire, ADAPTER, stream=stream)
    assert len(base) == len(adapter) == GREEDY["max_tokens"]
    assert base != adapter


@requirement("lora.answer.equal-coupled")
@FULL_OR_STREAM
@pytest.mark.parametrize("model", [BASE, ADAPTER])
async def test_generate_is_the_coupled_answer(wire, model, stream):
    """The same ids from generate and from /v1/completions, for the base and for the adapter."""
    assert await generated(wire, model, stream=stream) == await coupled(wire, model)


@requirement("lora.answer.named")
async def test_the_answer_names_the_adapter(wire):
    """The model of a full answer is the one that was asked for; a chunk has none."""
    answer = await wire.generate(model=ADAPTER, token_ids=PROMPT, sampling_params=GREEDY)
    assert answer.expect(200).json["model"] == ADAPTER


@requirement("lora.answer.own-weights")
async def test_logprobs_are_the_adapters(wire):
    """Generate's logprobs for the adapter are not the base's of the same prompt."""

    async def values(model):
        answer = await wire.generate(model=model, token_ids=PROMPT, sampling_params=LOGPROBS)
        content = answer.expect(200).json["choices"][0]["logprobs"]["content"]
        return [entry["logprob"] for entry in content]

    base, adapter = await values(BASE), await values(ADAPTER)
    assert len(base) == len(adapter) == 4
    assert all(one != other for one, other in zip(base, adapter, strict=True))


@requirement("lora.answer.split-equals-coupled")
@pytest.mark.parametrize("model", [BASE, ADAPTER])
async def test_chat_in_three_steps_is_the_coupled_chat(wire, model):
    """Render, generate and derender give the whole coupled answer, the model's name in it."""
    await wire.needs("render.chat", "derender.chat")
    request = {"model": model, "messages": MESSAGES, **GREEDY}
    rendered = (await wire.render_chat(request)).expect(200).json
    answer = await wire.derender_chat(
        model=model,
        generate_response=(await wire.generate(rendered)).expect(200).json,
        chat_request=request,
        prompt_tokens=len(rendered["token_ids"]),
        prompt_token_ids=rendered["token_ids"],
    )
    same_answer(answer.expect(200).json, (await wire.chat(request)).expect(200).json)


@requirement("lora.answer.split-equals-coupled")
@pytest.mark.parametrize("model", [BASE, ADAPTER])
async def test_completions_in_three_steps_are_the_coupled_ones(wire, model):
    """The same for completions; the last token ends a character."""
    await wire.needs("render.completions", "derender.completions")
    request = {"model": model, "prompt": "hello world", **GREEDY, "max_tokens": 11}
    (rendered,) = (await wire.render_completions(request)).expect(200).json
    answer = await wire.derender_completions(
        model=model,
        generate_responses=[(await wire.generate(rendered)).expect(200).json],
        completion_request=request,
        prompt_tokens=[len(rendered["token_ids"])],
        prompt_token_ids=[rendered["token_ids"]],
    )
    same_answer(answer.expect(200).json, (await wire.completions(request)).expect(200).json)


@requirement("lora.answer.split-equals-coupled")
async def test_derender_mode_answers_for_the_adapter(wire):
    """output_mode: derender gives the coupled chat's message for the adapter."""
    await wire.needs("output-mode.derender", "render.chat")
    request = {"model": ADAPTER, "messages": MESSAGES, **GREEDY}
    rendered = (await wire.render_chat(request)).expect(200).json
    answer = await wire.generate({**rendered, "output_mode": "derender"})
    coupled = (await wire.chat(request)).expect(200).json["choices"][0]
    choice = answer.expect(200).json["choices"][0]
    assert choice["message"]["content"] == coupled["message"]["content"]
    assert answer.json["model"] == ADAPTER
