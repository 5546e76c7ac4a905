"""Speculative decoding, with a real engine that drafts by n-grams: what the answer says of it.

Catches a node that drops the counts, puts them on every chunk, makes them up for several choices,
or changes the answer where it drafts.
"""

import json

import pytest

from conformance.generate import GREEDY
from conformance.support import entry_id
from fixtures.case import Node, capability, requirement

DRAFTS = {
    "method": "ngram",
    "num_speculative_tokens": 3,
    "prompt_lookup_min": 1,
    "prompt_lookup_max": 3,
}
FLAGS = (
    *("--speculative-config", json.dumps(DRAFTS, separators=(",", ":"))),
    "--per-request-spec-decode-metrics=detailed",
)
pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", *FLAGS), id="real-ngram")], indirect=True
)

PROMPT = [20, 21, 22]
# Few ids to choose from: what repeats is drafted, within few tokens.
LIMITED = {"max_tokens": 20, "allowed_token_ids": list(range(40, 52))}
SENT = {"token_ids": PROMPT, "sampling_params": {**GREEDY, **LIMITED}}
USAGE = {"stream_options": {"include_usage": True}}
TWO = {"temperature": 1.0, "seed": 5, "ignore_eos": True, **LIMITED, "max_tokens": 6, "n": 2}


def checked(metrics: dict) -> dict:
    """The speculative counts of a metrics object, once they add up among themselves."""
    counts = metrics["speculative_decoding"]
    steps, accepted = counts["num_spec_steps"], counts["num_accepted_draft_tokens"]
    assert counts["num_spec_tokens"] == 3 and len(counts["acceptance_histogram"]) == 4
    assert sum(counts["acceptance_histogram"]) == steps
    assert sum(at * own for at, own in enumerate(counts["acceptance_histogram"])) == accepted
    assert counts["per_step_accepted"] and sum(counts["per_step_accepted"]) == accepted
    assert sum(counts["per_step_drafted"]) == counts["num_draft_tokens"]
    assert len(counts["per_step_accepted"]) == len(counts["per_step_drafted"]) == steps
    assert counts["mean_acceptance_length"] == pytest.approx(1 + accepted / steps)
    assert counts["draft_acceptance_rate"] == pytest.approx(accepted / counts["num_draft_tokens"])
    assert 0 < accepted <= counts["num_draft_tokens"]
    return counts


@requirement("generate.metrics.speculative-decoding")
async def test_full_answer_counts_the_drafts(wire):
    """The counts add up, and with one id for each step they are no more than the answer's ids."""
    answer = (await wire.generate(SENT)).expect(200).json
    counts = checked(answer["metrics"])
    made = counts["num_spec_steps"] + counts["num_accepted_draft_tokens"]
    assert made <= len(answer["choices"][0]["token_ids"]) == 20


@requirement("generate.metrics.speculative-decoding")
async def test_stream_counts_on_the_usage_chunk_alone(wire):
    """Only the usage chunk has metrics, those of the full answer; the key is absent elsewhere."""
    whole = (await wire.generate(SENT)).expect(200).json["metrics"]
    *tokens, last = (await wire.generate_stream(SENT, **USAGE)).expect(200).chunks
    assert checked(last["metrics"]) == whole["speculative_decoding"]
    assert last["choices"] == []
    assert tokens and not [chunk for chunk in tokens if "metrics" in chunk]


@requirement("generate.metrics.speculative-decoding")
async def test_stream_without_usage_has_no_metrics(wire):
    """Without include_usage there is no chunk to carry them."""
    chunks = (await wire.generate_stream(SENT)).expect(200).chunks
    assert chunks and not [chunk for chunk in chunks if "metrics" in chunk]


@requirement("generate.metrics.none-for-several-choices")
@capability("parallel-sampling")
async def test_several_choices_have_no_counts(wire):
    """With n=2 the value is null, in a stream absent, where one choice has them."""
    checked((await wire.generate(SENT)).expect(200).json["metrics"])
    sent = {"token_ids": PROMPT, "sampling_params": TWO}
    full = (await wire.generate(sent)).expect(200).json
    assert (full["metrics"], len(full["choices"])) == (None, 2)
    chunks = (await wire.generate_stream(sent, **USAGE)).expect(200).chunks
    assert not [chunk for chunk in chunks if "metrics" in chunk]
    assert chunks[-1]["usage"]["completion_tokens"] == 12


@requirement("generate.speculative.same-answer")
async def test_drafting_changes_no_token(wire, lease):
    """A greedy answer is that of an engine that does not draft."""
    drafted = (await wire.generate(SENT)).expect(200).json["choices"]
    plain = (await (await lease(Node("real"))).generate(SENT)).expect(200).json["choices"]
    assert drafted == plain


@requirement("generate.speculative.same-answer")
async def test_steps_of_several_tokens_are_one_chunk(wire):
    """A step that accepts drafts is one chunk, with one logprob entry for each of its ids."""
    sent = {"token_ids": PROMPT, "sampling_params": {**SENT["sampling_params"], "logprobs": 1}}
    (whole,) = (await wire.generate(sent)).expect(200).json["choices"]
    chunks = (await wire.generate_stream(sent)).expect(200).chunks
    parts = [choice for chunk in chunks for choice in chunk["choices"]]
    for part in parts:
        named = [entry_id(entry) for entry in part["logprobs"]["content"]]
        assert named == part["token_ids"]
    assert [token for part in parts for token in part["token_ids"]] == whole["token_ids"]
    assert max(len(part["token_ids"]) for part in parts) > 1


@requirement("derender.passthrough.metrics")
@capability("derender.chat", "derender.completions")
async def test_derender_passes_the_counts_on(wire):
    """Chat and completions derender return the generate answer's metrics unchanged."""
    body = (await wire.generate(SENT)).expect(200).json
    checked(body["metrics"])
    chat = (await wire.derender_chat(generate_response=body)).expect(200).json
    completion = (await wire.derender_completions(generate_responses=[body])).expect(200).json
    assert [answer["metrics"] for answer in (chat, completion)] == [body["metrics"]] * 2


@requirement("derender.passthrough.metrics")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_streamed_derender_passes_the_counts_on(wire):
    """The usage chunk keeps its metrics through both streamed derender routes."""
    last = (await wire.generate_stream(SENT, **USAGE)).expect(200).chunks[-1]
    counts = checked(last["metrics"])
    for call in (wire.derender_chat, wire.derender_completions):
        answer = (await call(stream=True, generate_chunk=last)).expect(200).json
        assert answer["chunk"]["metrics"]["speculative_decoding"] == counts
