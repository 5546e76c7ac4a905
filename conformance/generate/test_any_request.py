"""Whatever a client sends, a generate node answers or refuses: no value of any field is a 5xx."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.generate import GREEDY, refused, still_answers
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

# Little room, so that a value which means no limit is answered soon.
PROMPT = [20] * 490
TOP = (
    "request_id token_ids token_offsets features content_parts sampling_params model "
    "reasoning_ended reasoning_parser_kwargs return_token_ids output_mode parse_context stream "
    "stream_options cache_salt priority kv_transfer_params ec_transfer_params"
).split()
# Not logprob_token_ids: it changes the candidates of the requests beside it (CASES 22).
SAMPLING = (
    "n presence_penalty frequency_penalty repetition_penalty temperature top_p top_k min_p seed "
    "stop stop_token_ids ignore_eos max_tokens min_tokens logprobs prompt_logprobs flat_logprobs "
    "detokenize skip_special_tokens spaces_between_special_tokens include_stop_str_in_output "
    "output_kind stream_interval structured_outputs logit_bias allowed_token_ids extra_args "
    "bad_words skip_reading_prefix_cache routed_experts_prompt_start thinking_token_budget "
    "repetition_detection prompt_logprob_token_ids prompt_logprob_start trace_decode_token_ids"
).split()

EDGES = [0, 1, -1, 2**31, 2**63, -(2**63) - 1, 2**70, 0.5, -1.5, 1e300, "", "a", "é\u0000", [], {}]
SCALARS = st.none() | st.booleans() | st.sampled_from(EDGES) | st.text(max_size=8)
KEYS = st.sampled_from(["", "0", "20", "-1", "url", "type", "choice", "regex", "json", "mm_hashes"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


async def answered_or_refused(wire, body):
    answer = await wire.generate(body)
    if answer.status != 200:
        refused(answer, *range(400, 500))
    elif answer.is_event_stream:
        assert answer.done and answer.chunks
        assert all(chunk.get("error", {}).get("code", 0) < 500 for chunk in answer.chunks)
    else:
        assert answer.json["choices"][0]["finish_reason"] in ("stop", "length", "repetition")


@requirement("generate.request.never-5xx")
@pytest.mark.parametrize("field", TOP)
@given(value=VALUES)
async def test_any_value_of_a_field(wire, field, value):
    """Any JSON value in any field of the request is answered or a 4xx, and the node goes on."""
    body = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 2}, field: value}
    await answered_or_refused(wire, body)
    await still_answers(wire)


@requirement("generate.request.never-5xx")
@pytest.mark.parametrize("field", SAMPLING)
@given(value=VALUES)
async def test_any_value_of_a_sampling_parameter(wire, field, value):
    """Any JSON value in any sampling parameter is answered or a 4xx, and the node goes on."""
    params = {"temperature": 1.0, "max_tokens": 2, field: value}
    await answered_or_refused(wire, {"token_ids": PROMPT, "sampling_params": params})
    await still_answers(wire)
