"""X-data-parallel-rank: a rank in range reaches the engine, one out of range is refused, other
values are ignored.
"""

import pytest

from conformance.generate import (
    PROMPT,
    choices_of,
    joined,
    refused,
    refused_in_stream,
    still_answers,
)
from fixtures.case import Node, requirement
from fixtures.nodes.script import output, step

# A real engine wants a memory node for each rank; a small machine has one.
TWO = Node("scripted", "--data-parallel-size", "2", env={"VLLM_CPU_SIM_MULTI_NUMA": "1"})
TWO_RANKS = pytest.mark.parametrize(
    "node", [pytest.param(TWO, id="scripted-data-parallel-size-2")], indirect=True
)
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
PARAMS = {"max_tokens": 2, "ignore_eos": True}


async def send(wire, engine, stream, headers):
    """The answer, and the engine's record of what it was asked."""
    name = await engine.script([output(token_ids=[40, 41], finish_reason="length")])
    call = wire.generate_stream if stream else wire.generate
    answer = await call(token_ids=PROMPT, sampling_params=PARAMS, headers=headers, script=name)
    return answer, await engine.calls(name)


def tokens(answer, stream):
    return joined(answer)[0] if stream else answer.expect(200).json["choices"][0]["token_ids"]


def ranks(calls):
    return [
        call["request"]["data_parallel_rank"] for call in calls if call["event"] == "add_request"
    ]


@TWO_RANKS
@requirement("generate.data-parallel-rank.reaches-engine")
@FULL_OR_STREAM
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(
    "header", ["X-data-parallel-rank", "x-DATA-parallel-RANK"], ids=["as-written", "any-case"]
)
async def test_rank_reaches_the_engine(wire, engine, stream, rank, header):
    """The header's rank is the rank the engine is asked to run on, whatever the case of its
    name.
    """
    answer, calls = await send(wire, engine, stream, {header: str(rank)})
    assert tokens(answer, stream) == [40, 41]
    assert ranks(calls) == [rank]


@TWO_RANKS
@requirement("generate.data-parallel-rank.reaches-engine")
@FULL_OR_STREAM
async def test_rank_holds_for_every_choice(wire, engine, stream):
    """With n=2 both choices are asked for on the header's rank."""
    name = await engine.script(
        [step(*(output([40], index=i, finish_reason="length") for i in range(2)))]
    )
    call = wire.generate_stream if stream else wire.generate
    params = {**PARAMS, "n": 2, "temperature": 1.0}
    answer = await call(
        token_ids=PROMPT, sampling_params=params, headers={"X-data-parallel-rank": "1"}, script=name
    )
    choices = choices_of(answer) if stream else answer.expect(200).json["choices"]
    assert [(choice["index"], choice["token_ids"]) for choice in choices] == [(0, [40]), (1, [40])]
    assert ranks(await engine.calls(name)) == [1, 1]


@TWO_RANKS
@requirement("generate.data-parallel-rank.out-of-range-refused")
@FULL_OR_STREAM
@pytest.mark.parametrize("rank", ["-1", "2", "5", "4294967296"])
async def test_rank_out_of_range_is_refused(wire, engine, stream, rank):
    """A rank the server does not have is refused and the engine is not asked; rank 1 is served."""
    answer, calls = await send(wire, engine, stream, {"X-data-parallel-rank": rank})
    refused_in_stream(answer) if stream else refused(answer)
    assert ranks(calls) == []
    served, calls = await send(wire, engine, stream, {"X-data-parallel-rank": "1"})
    assert tokens(served, stream) == [40, 41] and ranks(calls) == [1]


@TWO_RANKS
@requirement("generate.data-parallel-rank.absent-leaves-it-open")
@FULL_OR_STREAM
async def test_without_the_header_no_rank_is_asked_for(wire, engine, stream):
    """Without the header the engine is free to choose."""
    answer, calls = await send(wire, engine, stream, {})
    assert tokens(answer, stream) == [40, 41] and ranks(calls) == [None]


@TWO_RANKS
@requirement("generate.data-parallel-rank.non-integer-pins-nothing")
@FULL_OR_STREAM
@pytest.mark.parametrize("value", ["abc", "", "1.5", "0x1", "1,0"])
async def test_non_integer_is_ignored_or_refused(wire, engine, stream, value):
    """A value that is no integer pins nothing.

    Allowed: served without a rank (vLLM from 0.22.1 on), or a 400 (a strict server); a rank made up
    from it is not.
    """
    answer, calls = await send(wire, engine, stream, {"X-data-parallel-rank": value})
    if answer.status == 400:
        refused(answer)
        assert ranks(calls) == []
    else:
        assert tokens(answer, stream) == [40, 41] and ranks(calls) == [None]


@pytest.mark.parametrize("node", [Node("real")], indirect=True)
@requirement("generate.data-parallel-rank.out-of-range-refused")
@FULL_OR_STREAM
@pytest.mark.parametrize("rank", ["1", "-1"])
async def test_a_single_engine_has_rank_zero_only(wire, stream, rank):
    """On a real server without data parallelism rank 0 is served, every other refused."""
    call = wire.generate_stream if stream else wire.generate
    sent = {"token_ids": PROMPT, "sampling_params": PARAMS}
    answer = await call(sent, headers={"X-data-parallel-rank": rank})
    refused_in_stream(answer) if stream else refused(answer)
    served = await call(sent, headers={"X-data-parallel-rank": "0"})
    assert len(tokens(served, stream)) == 2
    await still_answers(wire)
