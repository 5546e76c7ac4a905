"""Whatever a client sends, a generate node answers or refuses: no value of any field is a 5xx."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conformance.generate import GREEDY, refused, still_answers
from conformance.support import UNDISTURBED
from fixtures.case import requirement
from fixtures.models import tokenizer
from fixtures.strategies import sampling_fields

pytestmark = UNDISTURBED

# One field is off: there is nothing to shrink.
UNSHRUNK = settings(phases=[Phase.explicit, Phase.generate])

# Little room, so that a value which means no limit is answered soon.
PROMPT = [20] * 490
TOP = ["request_id", "token_ids", "token_offsets", "features", "content_parts", "model", "stream"]
TOP += ["sampling_params", "stream_options", "cache_salt", "priority", "return_token_ids"]
TOP += ["reasoning_ended", "reasoning_parser_kwargs", "output_mode", "parse_context"]
TOP += ["kv_transfer_params", "ec_transfer_params"]
# Not logprob_token_ids: it changes the candidates of the requests beside it (CASES 22); nor
# trace_decode_token_ids, whose faults are in KNOWN.
SAMPLING = sorted(sampling_fields(tokenizer().get_vocab_size()).keys() - {"logprob_token_ids"})
SAMPLING += ["thinking_token_budget", "repetition_detection", "prompt_logprob_token_ids"]

EDGES = [0, 1, -1, 2**31, 2**63, -(2**63) - 1, 2**70, 0.5, -1.5, 1e300, "", "a", "é\u0000", [], {}]
SCALARS = st.none() | st.booleans() | st.sampled_from(EDGES) | st.text(max_size=8)
KEYS = st.sampled_from(["", "0", "20", "-1", "url", "type", "choice", "regex", "json", "mm_hashes"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


SAMPLED = {"temperature": 1.0, "max_tokens": 2}
# What vLLM 0.33.0 answers with a 500: each reaches an exception that is not one of a refusal.
KNOWN = {
    "request-id-lone-surrogate": {"request_id": "\ud800"},
    "trace-empty": {"sampling_params": {**SAMPLED, "trace_decode_token_ids": []}},
    "trace-negative": {"sampling_params": {**SAMPLED, "trace_decode_token_ids": [-5]}},
    "trace-n2": {"sampling_params": {**SAMPLED, "trace_decode_token_ids": [5], "n": 2}},
    "trace-prompt-logprobs": {
        "sampling_params": {**SAMPLED, "trace_decode_token_ids": [5], "prompt_logprobs": 1}
    },
    "seed-overflows-with-n": {"sampling_params": {**SAMPLED, "seed": 2**64 - 1, "n": 2}},
    "kv-transfer-no-object": {
        "sampling_params": {**SAMPLED, "extra_args": {"kv_transfer_params": 5}}
    },
}


async def answered_or_refused(wire, body):
    answer = await wire.generate(body)
    if answer.status != 200:
        assert 400 <= answer.status < 500, f"status {answer.status}"
        refused(answer, answer.status)
    elif answer.is_event_stream:
        assert answer.done and answer.chunks
        assert all(chunk.get("error", {}).get("code", 0) < 500 for chunk in answer.chunks)
    else:
        assert answer.json["choices"][0]["finish_reason"] in ("stop", "length", "repetition")


@requirement("generate.request.never-5xx")
@pytest.mark.parametrize("field", TOP)
@UNSHRUNK
@given(value=VALUES)
async def test_any_value_of_a_field(wire, field, value):
    """Any JSON value in any field of the request is answered or a 4xx; the node lives on."""
    body = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 2}, field: value}
    await answered_or_refused(wire, body)


@requirement("generate.request.never-5xx")
@pytest.mark.parametrize("field", SAMPLING)
@UNSHRUNK
@given(value=VALUES)
async def test_any_value_of_a_sampling_parameter(wire, field, value):
    """Any JSON value in any sampling parameter is answered or a 4xx; the node lives on."""
    params = {"temperature": 1.0, "max_tokens": 2, field: value}
    await answered_or_refused(wire, {"token_ids": PROMPT, "sampling_params": params})


@requirement("generate.request.never-5xx")
@pytest.mark.parametrize("changes", KNOWN.values(), ids=KNOWN.keys())
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_values_that_were_a_5xx(wire, changes, stream):
    """Values that a server is known to have failed on: each is the client's, so answered or
    a 4xx.
    """
    body = {"token_ids": PROMPT, "sampling_params": SAMPLED, "stream": stream, **changes}
    await answered_or_refused(wire, body)
    await still_answers(wire)
