"""max_tokens: left out or null it is the remaining context, given it is exact, and it never passes
the context.
"""

import pytest

from conformance.generate import PROMPT, joined, refused, still_answers, stop_reason
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

ENDLESS = {"temperature": 0.0, "ignore_eos": True}


def length_and_end(node, choice):
    return len(choice["token_ids"]), choice["finish_reason"], stop_reason(node, choice)


@requirement("generate.max-tokens.omitted-fills-context")
@pytest.mark.parametrize("prompt_length", [1, 16, 480, 511])
async def test_omitted_fills_the_remaining_context(wire, node, prompt_length):
    """Without max_tokens a request runs to the last position of the context."""
    answer = await wire.generate(token_ids=[20] * prompt_length, sampling_params=ENDLESS)
    rest = node.max_model_len - prompt_length
    assert length_and_end(node, answer.expect(200).json["choices"][0]) == (rest, "length", None)


@requirement("generate.max-tokens.null-is-omitted")
@pytest.mark.parametrize("prompt_length", [470, 511])
async def test_null_fills_the_remaining_context(wire, node, prompt_length):
    """max_tokens: null means the same as leaving it out."""
    params = {**ENDLESS, "max_tokens": None}
    answer = await wire.generate(token_ids=[20] * prompt_length, sampling_params=params)
    rest = node.max_model_len - prompt_length
    assert length_and_end(node, answer.expect(200).json["choices"][0]) == (rest, "length", None)


@requirement("generate.max-tokens.stream-follows-the-same-rule")
@pytest.mark.parametrize(
    ("params", "tokens"),
    [({}, 32), ({"max_tokens": None}, 32), ({"max_tokens": 16}, 16), ({"max_tokens": 17}, 17)],
    ids=["omitted", "null", "16", "17"],
)
async def test_stream_has_as_many_tokens(wire, node, params, tokens):
    """A stream runs exactly as far as a full answer would."""
    prompt = [20] * (node.max_model_len - 32)
    answer = await wire.generate_stream(token_ids=prompt, sampling_params={**ENDLESS, **params})
    assert len(joined(answer)[0]) == tokens
    assert answer.chunks[-1]["choices"][0]["finish_reason"] == "length"


@requirement("generate.max-tokens.explicit-is-exact")
@pytest.mark.parametrize("max_tokens", [1, 2, 15, 16, 17, 31])
async def test_explicit_is_exact(wire, node, max_tokens):
    """An explicit max_tokens, the parsed default 16 among them, is the number of tokens
    generated.
    """
    params = {**ENDLESS, "max_tokens": max_tokens}
    answer = await wire.generate(token_ids=PROMPT, sampling_params=params)
    assert length_and_end(node, answer.expect(200).json["choices"][0]) == (
        max_tokens,
        "length",
        None,
    )


@requirement("generate.max-tokens.below-one-refused")
@pytest.mark.parametrize("max_tokens", [0, -1, -(2**31)])
async def test_below_one_is_refused(wire, max_tokens):
    """max_tokens below 1 is a 400 that names the field."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={"max_tokens": max_tokens})
    refused(answer, param="max_tokens")
    await still_answers(wire)


@requirement("generate.max-tokens.non-integer-refused")
@pytest.mark.parametrize(
    "max_tokens", ["many", 1.5, [4], {}], ids=["word", "fraction", "list", "object"]
)
async def test_non_integer_is_refused(wire, max_tokens):
    """max_tokens that is no integer is a 400 that names the field."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={"max_tokens": max_tokens})
    refused(answer)
    assert "max_tokens" in answer.json["error"]["message"]
    await still_answers(wire)


@requirement("generate.max-tokens.never-passes-the-context")
@pytest.mark.parametrize("beyond", [0, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**18])
async def test_beyond_the_context_is_clipped_or_refused(wire, node, beyond):
    """Asked for the limit: that many tokens; asked for more: the limit, or a 400.

    Allowed for more: clipped (every vLLM release seen) or 400 (what /v1/completions does; the
    protocol is silent).
    """
    limit = 20
    params = {**ENDLESS, "max_tokens": limit + beyond}
    answer = await wire.generate(
        token_ids=[20] * (node.max_model_len - limit), sampling_params=params
    )
    if beyond and answer.status != 200:
        refused(answer)
    else:
        assert length_and_end(node, answer.expect(200).json["choices"][0]) == (
            limit,
            "length",
            None,
        )
    await still_answers(wire)


@requirement("generate.max-tokens.full-prompt-refused")
@pytest.mark.parametrize("excess", [0, 1, 100])
@pytest.mark.parametrize("params", [{}, {"max_tokens": 1}], ids=["omitted", "one"])
async def test_prompt_that_leaves_no_room_is_refused(wire, node, excess, params):
    """A prompt as long as the context, or longer, leaves no token to generate: 400; one shorter is
    served.
    """
    full = [20] * node.max_model_len
    refused(await wire.generate(token_ids=full + [20] * excess, sampling_params=params))
    answer = await wire.generate(token_ids=full[1:], sampling_params={**ENDLESS, **params})
    assert length_and_end(node, answer.expect(200).json["choices"][0]) == (1, "length", None)
