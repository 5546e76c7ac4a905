"""Chunks follow the engine: one per engine step, carrying exactly its new ids, and the end is
always told.
"""

import pytest

from conformance.generate import PROMPT, deltas
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

PARAMS = {"max_tokens": 64, "ignore_eos": True}


async def streamed(wire, engine, steps, **fields):
    name = await engine.script(steps)
    answer = await wire.generate_stream(
        token_ids=PROMPT, sampling_params=PARAMS, script=name, **fields
    )
    assert answer.expect(200).done
    return answer


@requirement("generate.stream.chunk-per-step")
@pytest.mark.parametrize(
    "steps",
    [
        [[40]],
        [[40], [41], [42]],
        [[40, 41], [42, 43, 44]],
        [[i] for i in range(40, 56)],
        [list(range(40, 72)), [5]],
    ],
    ids=["one", "one-id-each", "several-ids-each", "sixteen", "thirty-two-and-one"],
)
async def test_one_chunk_per_step(wire, engine, node, steps):
    """Each step with new ids is one chunk with exactly these, in order; the last carries the finish
    reason.
    """
    scripted = [output(token_ids=ids) for ids in steps[:-1]]
    scripted.append(output(token_ids=steps[-1], finish_reason="length"))
    expected = [(0, ids, None, None) for ids in steps[:-1]] + [(0, steps[-1], "length", None)]
    assert deltas(node, await streamed(wire, engine, scripted)) == expected


@requirement("generate.stream.terminal-chunk")
@pytest.mark.parametrize("finish", ["stop", "length", "abort"])
@pytest.mark.parametrize("before", [[], [[40], [41, 42]]], ids=["nothing-before", "after-tokens"])
async def test_end_without_new_ids_is_still_told(wire, engine, node, finish, before):
    """A last step without new ids gives a chunk with empty token_ids and the finish reason."""
    steps = [output(token_ids=ids) for ids in before] + [output(token_ids=[], finish_reason=finish)]
    expected = [(0, ids, None, None) for ids in before] + [(0, [], finish, None)]
    assert deltas(node, await streamed(wire, engine, steps)) == expected


@requirement("generate.stream.empty-step-is-silent")
async def test_step_without_ids_or_end_gives_no_chunk(wire, engine, node):
    """A step with neither new ids nor an end sends nothing."""
    steps = [
        output(token_ids=[40]),
        output(token_ids=[]),
        output(token_ids=[41], finish_reason="stop"),
    ]
    expected = [(0, [40], None, None), (0, [41], "stop", None)]
    assert deltas(node, await streamed(wire, engine, steps)) == expected


@requirement("generate.stream.terminal-chunk")
async def test_zero_token_end_carries_the_prompt_ids(wire, engine, node):
    """With return_token_ids a completion without any token is one chunk: empty ids, the end, the
    prompt.
    """
    steps = [output(token_ids=[], finish_reason="stop")]
    answer = await streamed(wire, engine, steps, return_token_ids=True)
    assert [chunk["prompt_token_ids"] for chunk in answer.chunks] == [PROMPT]
    assert deltas(node, answer) == [(0, [], "stop", None)]


@requirement("generate.stop-reason.reported")
@capability("stop-reason")
@pytest.mark.parametrize("reason", [None, 41, "stop here"], ids=["null", "id", "string"])
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_stop_reason_is_the_engines(wire, engine, node, reason, stream):
    """stop_reason is what the engine says, with its type; in a stream it is null before the last
    chunk.
    """
    name = await engine.script(
        [output(token_ids=[40]), output(token_ids=[41], finish_reason="stop", stop_reason=reason)]
    )
    send = wire.generate_stream if stream else wire.generate
    answer = await send(token_ids=PROMPT, sampling_params=PARAMS, script=name)
    if stream:
        assert deltas(node, answer) == [(0, [40], None, None), (0, [41], "stop", reason)]
    else:
        choice = answer.expect(200).json["choices"][0]
        assert (choice["token_ids"], choice["finish_reason"]) == ([40, 41], "stop")
        assert choice["stop_reason"] == reason and type(choice["stop_reason"]) is type(reason)
