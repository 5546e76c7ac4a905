"""Streamed in steps, an answer adds up to the coupled one, whole or streamed.

Catches a split stream that loses a chunk's text, repeats the role, breaks a character, drops the
logprobs or the last chunk.
"""

import pytest

from conformance.parity.support import GREEDY, PROMPTS, SAMPLED, same_answer
from conformance.support import UNDISTURBED, assembled, derender_each, joined_text, without
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED

DETAILS = ("prompt_tokens_details", "completion_tokens_details")
USAGE = {"stream_options": {"include_usage": True}}


async def split_stream(wire, request: dict) -> list:
    """Chat render, streamed generate, and one derender per chunk."""
    rendered = (await wire.render_chat(request, stream=True, **USAGE)).expect(200).json
    generated = (await wire.generate_stream(rendered)).expect(200)
    assert generated.done
    return await derender_each(
        wire.derender_chat,
        generated.chunks,
        chat_request={"model": "tiny", **request},
        prompt_tokens=len(rendered["token_ids"]),
        prompt_token_ids=rendered["token_ids"],
    )


def logprobs(parts: list[dict]) -> list[dict]:
    """Every logprob entry of chat chunks."""
    found = [choice["logprobs"] for part in parts for choice in part["choices"]]
    return [entry for own in found if own for entry in own["content"]]


@requirement("parity.stream.same-message")
@capability("derender.chat.stream")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "seeded"])
async def test_split_stream_adds_up_to_the_coupled_stream(wire, prompt, sampling):
    """Content, finish reason and usage of both streams, and the whole answer's text."""
    request = {"messages": PROMPTS[prompt], **sampling}
    whole = (await wire.chat(request)).expect(200).json
    coupled = (await wire.chat_stream(request, **USAGE)).expect(200).chunks
    split = [answer.json["chunk"] for answer in await split_stream(wire, request)]
    assert assembled(split) == assembled(coupled)
    assert assembled(split)["content"] == whole["choices"][0]["message"]["content"]
    # the last coupled chunk leaves its null details out (EVOLUTION 4.1)
    counts = [without(own[-1]["usage"], *DETAILS) for own in (split, coupled)]
    same_answer(counts[0], counts[1])


@requirement("parity.stream.same-logprobs")
@capability("integer-logprobs", "derender.chat.stream")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("k", [0, 2])
async def test_split_stream_has_the_coupled_logprobs(wire, prompt, k):
    """Entry by entry, bit for bit, over all chunks."""
    request = {"messages": PROMPTS[prompt], **SAMPLED, "logprobs": True, "top_logprobs": k}
    coupled = logprobs((await wire.chat_stream(request)).expect(200).chunks)
    split = logprobs([answer.json["chunk"] for answer in await split_stream(wire, request)])
    assert len(coupled) == SAMPLED["max_tokens"]
    same_answer(split, coupled)


@requirement("parity.stream.same-message")
@capability("derender.completions.stream")
async def test_split_completions_stream_adds_up(wire):
    """The same for completions, against the whole coupled text."""
    request = {"prompt": "the quick brown fox", **GREEDY}
    coupled = (await wire.completions(request)).expect(200).json["choices"][0]
    rendered = (await wire.render_completions(request, stream=True)).expect(200).json[0]
    generated = (await wire.generate_stream(rendered)).expect(200)
    answers = await derender_each(
        wire.derender_completions,
        generated.chunks,
        completion_request={"model": "tiny", **request},
        prompt_token_ids=rendered["token_ids"],
    )
    reasons = [part["finish_reason"] for own in answers for part in own.json["chunk"]["choices"]]
    assert joined_text(answers) == coupled["text"]
    assert reasons == [None] * (len(reasons) - 1) + [coupled["finish_reason"]]
