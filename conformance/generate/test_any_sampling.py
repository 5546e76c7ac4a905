"""Whatever valid sampling parameters a client sends, full answer and stream are whole and agree."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conformance.generate import choices_of, joined
from conformance.support import UNDISTURBED, since
from fixtures.case import requirement
from fixtures.models import tokenizer
from fixtures.strategies import prompts, sampling_fields, sampling_params

pytestmark = UNDISTURBED

# One field is off: there is nothing to shrink.
UNSHRUNK = settings(phases=[Phase.explicit, Phase.generate])

VOCABULARY = tokenizer().get_vocab_size()
MAX_TOKENS = 6
# What a node must have for a field; the Rust frontend refuses these.
NEEDS = {
    "n": "parallel-sampling",
    "stop": "stop-strings",
    "include_stop_str_in_output": "stop-strings",
    "prompt_logprobs": "prompt-logprobs.stream",
}
# Not logprob_token_ids: it changes the candidates of the requests beside it (CASES 22).
FIELDS = sorted(
    sampling_fields(VOCABULARY).keys() - {"logprob_token_ids", "max_tokens", "seed", "min_tokens"}
)


def fixed(node) -> dict:
    """What every request holds beside the one field."""
    params = {"max_tokens": MAX_TOKENS, "seed": 1}
    if since(node, "0.30.0") and not since(node, "0.32.0"):
        params["watermarking"] = True  # it takes no null there (EVOLUTION 2)
    return params


@requirement("generate.stream.equals-full")
@pytest.mark.parametrize("field", FIELDS)
@UNSHRUNK
@given(data=st.data())
async def test_stream_and_full_agree(wire, node, field, data):
    """With any one field off its default: the same ids and ends, indices 0 to n-1."""
    if field in NEEDS:
        await wire.needs(NEEDS[field])
    prompt = data.draw(prompts(VOCABULARY, min_size=4, max_size=12))
    params = data.draw(sampling_params(VOCABULARY, only=(field,), fixed=fixed(node)))
    n = params.get("n", 1)
    full = (await wire.generate(token_ids=prompt, sampling_params=params)).expect(200).json
    stream = await wire.generate_stream(token_ids=prompt, sampling_params=params)
    ids = {choice["index"]: choice["token_ids"] for choice in full["choices"]}
    ends = {choice["index"]: choice["finish_reason"] for choice in full["choices"]}
    assert list(ids) == list(range(n)) and joined(stream) == ids
    told = [(c["index"], end) for c in choices_of(stream) if (end := c.get("finish_reason"))]
    assert sorted(told) == sorted(ends.items()) and stream.done
    for index, one in ids.items():
        assert 1 <= len(one) <= MAX_TOKENS and all(0 <= token < VOCABULARY for token in one)
        assert ends[index] == "stop" or len(one) == MAX_TOKENS


@requirement("generate.usage.full")
@pytest.mark.parametrize("field", FIELDS)
@settings(UNSHRUNK, max_examples=5)
@given(data=st.data())
async def test_usage_adds_up(wire, node, field, data):
    """With any one field off its default, usage counts the prompt and the ids of all choices."""
    if field in NEEDS:
        await wire.needs(NEEDS[field])
    prompt = data.draw(prompts(VOCABULARY, min_size=4, max_size=12))
    params = data.draw(sampling_params(VOCABULARY, only=(field,), fixed=fixed(node)))
    full = (await wire.generate(token_ids=prompt, sampling_params=params)).expect(200).json
    assert full["usage"]["prompt_tokens"] == len(prompt)
    answered = sum(len(choice["token_ids"]) for choice in full["choices"])
    assert full["usage"]["completion_tokens"] == answered
