"""The split path names tokens as the coupled routes of the same server do (CASES N10)."""

import pytest

from conformance.override.support import (
    TRI_STATE,
    either_flag,
    empty_bytes_alike,
    with_value,
)
from conformance.support import since, split_chat, split_completions, without
from fixtures.case import capability, requirement

pytestmark = [
    either_flag("real", exclusive=True),  # two samples are compared, as in UNDISTURBED
    pytest.mark.parametrize("value", TRI_STATE),
]

SAMPLING = {"max_tokens": 24, "temperature": 1.6, "seed": 5}
CHAT = {
    "messages": [{"role": "user", "content": "the quick brown fox"}],
    "logprobs": True,
    "top_logprobs": 3,
    **SAMPLING,
}
COMPLETION = {"prompt": "the quick brown fox", "logprobs": 3, **SAMPLING}


def names(logprobs):
    """Tokens, values and alternatives, without bytes: coupled chat gives placeholders some."""
    return [
        (
            entry["token"],
            entry["logprob"],
            [(other["token"], other["logprob"]) for other in entry["top_logprobs"]],
        )
        for entry in logprobs["content"]
    ]


@requirement("override.coupled.chat-agrees")
@capability("derender.chat")
async def test_chat_derender_names_tokens_as_coupled_chat_does(wire, node, value):
    """Same request, same server: the same names and values, whichever way it takes."""
    request = with_value(CHAT, TRI_STATE[value])
    coupled = (await wire.chat(request)).expect(200).json["choices"][0]["logprobs"]
    split = (await split_chat(wire, request)).answer["choices"][0]["logprobs"]
    assert len(coupled["content"]) == SAMPLING["max_tokens"]
    assert names(split) == names(coupled)
    if not split["content"][0]["token"].startswith("token_id:"):
        assert empty_bytes_alike(split) == empty_bytes_alike(coupled)


@requirement("override.coupled.derender-mode-agrees")
@capability("output-mode.derender")
async def test_derender_mode_names_tokens_as_coupled_chat_does(wire, node, value):
    """The same in generate's derender mode."""
    request = with_value(CHAT, TRI_STATE[value])
    coupled = (await wire.chat(request)).expect(200).json["choices"][0]["logprobs"]
    rendered = (await wire.render_chat(request)).expect(200).json
    answer = await wire.generate(rendered, output_mode="derender")
    split = answer.expect(200).json["choices"][0]["logprobs"]
    assert len(coupled["content"]) == SAMPLING["max_tokens"]
    assert names(split) == names(coupled)


@requirement("override.coupled.completion-agrees")
@capability("derender.completions")
async def test_completions_derender_names_tokens_as_coupled_completions_do(wire, node, value):
    """Tokens, values, alternatives and offsets of a completion are the coupled ones."""
    request = with_value(COMPLETION, TRI_STATE[value])
    coupled = (await wire.completions(request)).expect(200).json["choices"][0]["logprobs"]
    split = (await split_completions(wire, request)).answer["choices"][0]["logprobs"]
    assert len(coupled["tokens"]) == SAMPLING["max_tokens"]
    # Before 0.33 generate cut the sampled token's extra alternative (CASES 28).
    cut = [] if since(node, "0.33.0") else ["top_logprobs"]
    assert without(split, *cut) == without(coupled, *cut)
