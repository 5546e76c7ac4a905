"""A --tokens-only server has no tokenizer: ids work, what needs text is refused and says so."""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, refused_in_stream, still_answers
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real", "--tokens-only")], indirect=True)

PARAMS = {**GREEDY, "max_tokens": 8}
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])


@requirement("generate.tokens-only.serves-ids")
@pytest.mark.parametrize(
    "extra", [{}, {"logprobs": 2}, {"prompt_logprobs": 1}], ids=["plain", "logprobs", "prompt"]
)
async def test_ids_are_the_same_as_with_a_tokenizer(wire, lease, extra):
    """The ids and logprobs are those of a server that has a tokenizer."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**PARAMS, **extra})
    other = await lease(Node("real"))
    expected = await other.generate(token_ids=PROMPT, sampling_params={**PARAMS, **extra})
    assert answer.expect(200).json["choices"] == expected.expect(200).json["choices"]
    assert len(answer.json["choices"][0]["token_ids"]) == 8


@requirement("generate.tokens-only.serves-ids")
@capability("stop-reason")
async def test_stop_token_ids_work(wire):
    """A stop id needs no tokenizer."""
    whole = (
        (await wire.generate(token_ids=PROMPT, sampling_params=PARAMS))
        .expect(200)
        .json["choices"][0]["token_ids"]
    )
    stop = whole[3]
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params={**PARAMS, "stop_token_ids": [stop]}
    )
    (choice,) = answer.expect(200).json["choices"]
    expected = (whole[: whole.index(stop) + 1], "stop", stop)
    assert (choice["token_ids"], choice["finish_reason"], choice["stop_reason"]) == expected


@requirement("generate.tokens-only.stop-strings-refused")
@FULL_OR_STREAM
async def test_stop_strings_are_refused(wire, stream):
    """A stop string cannot be seen without text: 400 that says so, not a run to the length."""
    send = wire.generate_stream if stream else wire.generate
    answer = await send(token_ids=PROMPT, sampling_params={**PARAMS, "stop": ["x"]})
    refused(answer)
    assert "stop" in answer.json["error"]["message"]
    await still_answers(wire)


@requirement("generate.tokens-only.bad-words-refused")
@FULL_OR_STREAM
async def test_bad_words_are_refused(wire, stream):
    """bad_words cannot be turned into ids without a tokenizer: 400, not an answer with the banned
    word.
    """
    send = wire.generate_stream if stream else wire.generate
    answer = await send(token_ids=PROMPT, sampling_params={**PARAMS, "bad_words": ["dog"]})
    refused_in_stream(answer) if stream else refused(answer)
    await still_answers(wire)


@requirement("generate.tokens-only.text-refused")
@pytest.mark.parametrize("mode", ["text", "derender"])
@FULL_OR_STREAM
async def test_text_levels_are_refused(wire, mode, stream):
    """A level that needs text is a 400 before the engine is asked, never a 200 with empty text."""
    refused(
        await wire.generate(
            token_ids=PROMPT, sampling_params=PARAMS, output_mode=mode, stream=stream
        )
    )
    await still_answers(wire)


@requirement("generate.tokens-only.end-token-reason")
@capability("stop-reason")
async def test_end_token_has_no_stop_reason(wire):
    """The model's own end token reports stop_reason null, as on a server with a tokenizer."""
    params = {"temperature": 0.0, "max_tokens": 4, "logit_bias": {"2": 100}}
    (choice,) = (
        (await wire.generate(token_ids=PROMPT, sampling_params=params)).expect(200).json["choices"]
    )
    assert (choice["token_ids"], choice["finish_reason"], choice["stop_reason"]) == (
        [2],
        "stop",
        None,
    )
