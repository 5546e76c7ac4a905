"""One generate call in text or derender mode equals generate followed by derender.

Catches a generate node whose own text differs from the derender node's, or whose token level
changes with the mode.
"""

import pytest

from conformance.parity.support import GREEDY, PROMPTS, SAMPLED, same_answer
from conformance.support import UNDISTURBED, split_chat, split_completions, without
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED

COMPLETIONS = {"greedy": GREEDY, "seeded-pair": {**SAMPLED, "n": 2}}


async def rendered_completion(wire, **fields) -> dict:
    """A rendered completions request."""
    answer = await wire.render_completions(prompt="the quick brown fox", **fields)
    return answer.expect(200).json[0]


@requirement("parity.text-mode.same-text")
@capability("output-mode.text")
@pytest.mark.parametrize("name", COMPLETIONS)
async def test_text_mode_equals_completions_derender(wire, name):
    """Text, ids, finish reason and usage of both ways."""
    split = await split_completions(wire, {"prompt": "the quick brown fox", **COMPLETIONS[name]})
    body = split.rendered[0]
    inline = (await wire.generate({**body, "output_mode": "text"})).expect(200).json
    names = ("index", "text", "finish_reason", "stop_reason")
    found = [
        [{name: choice[name] for name in names} for choice in answer["choices"]]
        for answer in (inline, split.answer)
    ]
    token_ids = [
        [choice["token_ids"] for choice in answer["choices"]]
        for answer in (inline, split.generated[0])
    ]
    assert (inline["output_mode"], token_ids[0]) == ("text", token_ids[1])
    same_answer(found[0], found[1])
    same_answer(inline["usage"], split.answer["usage"])


@requirement("parity.text-mode.same-logprobs")
@capability("output-mode.text")
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_text_mode_logprobs_equal_derender(wire, prompt):
    """Names, bytes and numbers of every candidate, as derender without a request resolves them."""
    request = {"messages": PROMPTS[prompt], **SAMPLED, "logprobs": True, "top_logprobs": 2}
    body = (await wire.render_chat(request)).expect(200).json
    tokens = (await wire.generate(body)).expect(200).json
    inline = (await wire.generate({**body, "output_mode": "text"})).expect(200).json
    answer = (await wire.derender_chat(generate_response=tokens)).expect(200).json
    same_answer(inline["choices"][0]["logprobs"], answer["choices"][0]["logprobs"])


@requirement("parity.text-mode.same-text")
@capability("output-mode.text")
async def test_text_mode_stream_adds_up_to_its_full_answer(wire):
    """Streamed text and ids join to the full ones; text mode is told on each chunk."""
    body = await rendered_completion(wire, **GREEDY)
    whole = (await wire.generate({**body, "output_mode": "text"})).expect(200).json["choices"][0]
    stream = (await wire.generate_stream({**body, "output_mode": "text"})).expect(200)
    parts = [choice for part in stream.chunks for choice in part["choices"]]
    assert "".join(part["text"] for part in parts) == whole["text"]
    assert [own for part in parts for own in part["token_ids"]] == whole["token_ids"]
    assert {part["output_mode"] for part in stream.chunks} == {"text"}


@requirement("parity.text-mode.same-tokens")
@capability("output-mode.text")
async def test_text_mode_changes_no_token(wire):
    """Ids and finish reasons are those of tokens mode."""
    body = await rendered_completion(wire, **SAMPLED, n=2)
    tokens = (await wire.generate({**body, "output_mode": "tokens"})).expect(200).json
    text = (await wire.generate({**body, "output_mode": "text"})).expect(200).json
    same_answer(
        [without(choice, "text") for choice in text["choices"]],
        tokens["choices"],
    )


@requirement("parity.derender-mode.same-answer")
@capability("output-mode.derender")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("n", [1, 2])
async def test_derender_mode_equals_chat_derender(wire, prompt, n):
    """Messages, logprobs, finish reasons and usage of both ways."""
    request = {"messages": PROMPTS[prompt], **SAMPLED, "n": n, "logprobs": True, "top_logprobs": 2}
    split = await split_chat(wire, request)
    inline = await wire.generate({**split.rendered, "output_mode": "derender"})
    inline = inline.expect(200).json
    names = ("index", "message", "logprobs", "finish_reason", "stop_reason")
    found = [
        [{name: choice[name] for name in names} for choice in answer["choices"]]
        for answer in (inline, split.answer)
    ]
    assert inline["output_mode"] == "derender"
    same_answer(found[0], found[1])
    same_answer(inline["usage"], split.answer["usage"])
