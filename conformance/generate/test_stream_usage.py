"""Usage in a stream: null unless asked for, then one last chunk without choices, or a running count
on each.
"""

import pytest

from conformance.generate import GREEDY, choices_of
from conformance.support import since
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

PROMPT = list(range(30, 41))
PARAMS = {**GREEDY, "max_tokens": 9}
TWO = {"temperature": 1.0, "seed": 4, "ignore_eos": True, "max_tokens": 5, "n": 2}


def counts(prompt, completion):
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


async def stream(wire, options, params=PARAMS):
    answer = await wire.generate_stream(
        token_ids=PROMPT, sampling_params=params, stream_options=options
    )
    assert answer.expect(200).done
    assert all("error" not in chunk for chunk in answer.chunks), answer.chunks[-1]
    return answer.chunks


@requirement("generate.usage.stream-silent-by-default")
@pytest.mark.parametrize(
    "options", [None, {}, {"include_usage": False}], ids=["null", "empty", "false"]
)
async def test_no_usage_unless_asked_for(wire, options):
    """Without include_usage every chunk has usage null, and no chunk is without choices."""
    chunks = await stream(wire, options)
    assert [chunk["usage"] for chunk in chunks] == [None] * len(chunks)
    assert all(len(chunk["choices"]) == 1 for chunk in chunks) and chunks


@requirement("generate.usage.stream-last-chunk")
@pytest.mark.parametrize(("params", "completion"), [(PARAMS, 9), (TWO, 10)], ids=["n1", "n2"])
async def test_include_usage_adds_one_last_chunk(wire, node, params, completion):
    """include_usage adds one chunk after the end: no choices, the totals over all choices, no null
    keys.
    """
    if "n" in params:
        await wire.needs("parallel-sampling")
    *chunks, last = await stream(wire, {"include_usage": True}, params)
    assert last == {
        "request_id": chunks[0]["request_id"],
        "usage": counts(len(PROMPT), completion),
        **({"output_mode": "tokens"} if since(node, "0.32.0") else {}),
        "choices": [],
    }
    assert [chunk["usage"] for chunk in chunks] == [None] * len(chunks)
    assert chunks[-1]["choices"][0]["finish_reason"] == "length"


@requirement("generate.usage.stream-running-count")
async def test_continuous_usage_counts_up(wire):
    """continuous_usage_stats puts the count so far on every token chunk, and the totals on the last
    one.
    """
    *chunks, last = await stream(wire, {"include_usage": True, "continuous_usage_stats": True})
    expected, so_far = [], 0
    for chunk in chunks:
        so_far += len(chunk["choices"][0]["token_ids"])
        expected.append(counts(len(PROMPT), so_far))
    got = [{key: chunk["usage"][key] for key in expected[0]} for chunk in chunks]
    assert got == expected and so_far == 9
    assert last["usage"] == counts(len(PROMPT), 9) and last["choices"] == []


@requirement("generate.usage.stream-running-count")
@capability("parallel-sampling")
async def test_continuous_usage_counts_each_choice(wire):
    """With n=2 a chunk's running count is its own choice's, or that of both choices so far.

    Allowed: either; vLLM counts the choice, the protocol does not say which.
    """
    *chunks, last = await stream(wire, {"include_usage": True, "continuous_usage_stats": True}, TWO)
    own = {0: 0, 1: 0}
    for chunk in chunks:
        choice = chunk["choices"][0]
        own[choice["index"]] += len(choice["token_ids"])
        assert chunk["usage"]["completion_tokens"] in (own[choice["index"]], sum(own.values()))
        assert chunk["usage"]["prompt_tokens"] == len(PROMPT)
    assert own == {0: 5, 1: 5} and last["usage"] == counts(len(PROMPT), 10)


@requirement("generate.usage.stream-equals-full")
@pytest.mark.parametrize("params", [PARAMS, TWO], ids=["n1", "n2"])
async def test_stream_counts_what_full_counts(wire, params):
    """The usage chunk has the counts of the same request answered in full."""
    if "n" in params:
        await wire.needs("parallel-sampling")
    chunks = await stream(wire, {"include_usage": True}, params)
    full = (await wire.generate(token_ids=PROMPT, sampling_params=params)).expect(200).json
    assert {key: full["usage"][key] for key in counts(0, 0)} == chunks[-1]["usage"]
    assert (
        sum(len(choice["token_ids"]) for choice in full["choices"])
        == full["usage"]["completion_tokens"]
    )


@requirement("generate.usage.stream-last-chunk")
@capability("output-mode.text")
async def test_text_mode_counts_ids(wire):
    """A text-mode stream counts ids, not characters, and its usage chunk says output_mode text."""
    answer = await wire.generate_stream(
        token_ids=PROMPT,
        sampling_params=PARAMS,
        output_mode="text",
        stream_options={"include_usage": True},
    )
    assert sum(len(choice["token_ids"]) for choice in choices_of(answer)) == 9
    assert answer.chunks[-1] == {
        "request_id": answer.chunks[0]["request_id"],
        "usage": counts(len(PROMPT), 9),
        "output_mode": "text",
        "choices": [],
    }
