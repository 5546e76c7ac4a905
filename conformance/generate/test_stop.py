"""Where generation ends: a stop id, a stop string, the end token or the length, and what each of
them reports.
"""

import pytest

from conformance.generate import (
    GREEDY,
    PROMPT,
    choices_of,
    joined,
    refused,
    still_answers,
    stop_reason,
)
from conformance.support import UNDISTURBED
from fixtures.case import capability, requirement
from fixtures.models import tokenizer

pytestmark = UNDISTURBED

END = 2  # <|im_end|>, the model's end token
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
# Ids of one ASCII letter each: every id is one character, so that text and ids have the same
# positions.
LETTERS = [tokenizer().token_to_id(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
SPELLED = {**GREEDY, "max_tokens": 40, "allowed_token_ids": LETTERS, "repetition_penalty": 1.5}


async def end(wire, stream, params):
    """(ids, finish reason, stop reason) of a request; in a stream each end is told on the last
    chunk only.
    """
    if not stream:
        (choice,) = (
            (await wire.generate(token_ids=PROMPT, sampling_params=params))
            .expect(200)
            .json["choices"]
        )
        return choice["token_ids"], choice["finish_reason"], stop_reason(wire.node, choice)
    answer = await wire.generate_stream(token_ids=PROMPT, sampling_params=params)
    *earlier, last = choices_of(answer)
    for choice in earlier:
        assert choice["finish_reason"] is stop_reason(wire.node, choice) is None
    return joined(answer)[0], last["finish_reason"], stop_reason(wire.node, last)


async def unstopped(wire, params):
    """The ids without any stop, to know what a stop must cut."""
    ids, finish, reason = await end(wire, False, params)
    assert (len(ids), finish, reason) == (params["max_tokens"], "length", None)
    return ids


@requirement("generate.stop.token-id")
@capability("stop-reason")
@FULL_OR_STREAM
@pytest.mark.parametrize("position", [0, 3, 17])
async def test_stop_token_id_ends_the_answer_with_itself(wire, stream, position):
    """The first stop id to be sampled is the last id of the answer, and stop_reason is that
    integer.
    """
    whole = await unstopped(wire, {**GREEDY, "max_tokens": 24})
    stop = whole[position]
    expected = whole[: whole.index(stop) + 1]
    params = {**GREEDY, "max_tokens": 24, "stop_token_ids": [stop]}
    assert await end(wire, stream, params) == (expected, "stop", stop)


@requirement("generate.stop.string")
@capability("stop-strings", "stop-reason")
@FULL_OR_STREAM
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("keep", [False, True], ids=["cut", "include-stop"])
async def test_stop_string_ends_the_answer(wire, stream, length, keep):
    """The ids go up to the one that completes the string, cut or not, and stop_reason is that
    string.
    """
    whole = await unstopped(wire, SPELLED)
    text = tokenizer().decode(whole)
    stop = text[5 : 5 + length]
    expected = whole[: text.index(stop) + length]
    params = {**SPELLED, "stop": ["never-there", stop], "include_stop_str_in_output": keep}
    assert len(text) == len(whole)
    assert await end(wire, stream, params) == (expected, "stop", stop)


@requirement("generate.stop.string")
@capability("stop-strings", "stop-reason")
async def test_stop_may_be_one_string(wire):
    """A stop that is a string and not a list means that one string; null and an empty list mean
    none.
    """
    whole = await unstopped(wire, SPELLED)
    stop = tokenizer().decode(whole)[4]
    expected = whole[: tokenizer().decode(whole).index(stop) + 1]
    assert await end(wire, False, {**SPELLED, "stop": stop}) == (expected, "stop", stop)
    for none in (None, []):
        assert await end(wire, False, {**SPELLED, "stop": none}) == (whole, "length", None)


@requirement("generate.stop.string-needs-detokenize")
@pytest.mark.parametrize("stop", [["a"], "a"], ids=["list", "string"])
async def test_stop_string_without_detokenize_is_refused(wire, stop):
    """stop with detokenize=false cannot be obeyed: 400, not a silent run to the length."""
    refused(
        await wire.generate(
            token_ids=PROMPT, sampling_params={**SPELLED, "stop": stop, "detokenize": False}
        )
    )
    await still_answers(wire)


@requirement("generate.stop.end-token")
@FULL_OR_STREAM
async def test_end_token_ends_the_answer(wire, stream):
    """The model's end token is kept as the last id; finish_reason stop, stop_reason null."""
    params = {"temperature": 0.0, "max_tokens": 8, "allowed_token_ids": [END]}
    assert await end(wire, stream, params) == ([END], "stop", None)


@requirement("generate.stop.ignore-eos")
@FULL_OR_STREAM
async def test_ignore_eos_goes_on(wire, stream):
    """With ignore_eos the end token is one like any other and the length ends the answer."""
    params = {
        "temperature": 0.0,
        "max_tokens": 8,
        "logit_bias": {str(END): 100},
        "ignore_eos": True,
    }
    assert await end(wire, stream, params) == ([END] * 8, "length", None)


@requirement("generate.stop.min-tokens")
@FULL_OR_STREAM
@pytest.mark.parametrize("min_tokens", [1, 3, 7])
async def test_min_tokens_holds_the_end_back(wire, stream, min_tokens):
    """With min_tokens=m the end token, however likely, is not among the first m ids, and comes
    right after.
    """
    params = {
        "temperature": 0.0,
        "max_tokens": 8,
        "logit_bias": {str(END): 100},
        "min_tokens": min_tokens,
    }
    ids, finish, reason = await end(wire, stream, params)
    assert (len(ids), finish, reason) == (min_tokens + 1, "stop", None)
    assert ids[-1] == END and END not in ids[:-1]


@requirement("generate.stop.min-tokens")
async def test_min_tokens_holds_a_stop_id_back(wire):
    """min_tokens holds back the client's own stop ids too."""
    whole = await unstopped(wire, {**GREEDY, "max_tokens": 24})
    params = {**GREEDY, "max_tokens": 24, "stop_token_ids": [whole[0]], "min_tokens": 5}
    ids, _, _ = await end(wire, False, params)
    assert len(ids) > 5 and whole[0] not in ids[:5]
