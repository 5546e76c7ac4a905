"""n > 1 with choices that interleave and end in any order, which only a scripted engine can
force.
"""

import pytest

from conformance.generate import PROMPT, deltas, told
from fixtures.case import Node, requirement
from fixtures.nodes.script import output, step

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

PARAMS = {"temperature": 1.0, "ignore_eos": True, "max_tokens": 64}

# (index, new ids, finish reason) of the choices that take part in each engine step.
ORDERS = {
    "lockstep": [[(0, [40], None), (1, [50], None)], [(0, [41], "stop"), (1, [51], "length")]],
    "one-by-one": [
        [(0, [40], None)],
        [(1, [50], None)],
        [(0, [41], "length")],
        [(1, [51], "length")],
    ],
    "last-starts-first": [
        [(2, [60], None)],
        [(1, [50], None)],
        [(2, [61], "stop")],
        [(0, [40], "stop")],
        [(1, [51, 52], "length")],
    ],
    "ends-backwards": [
        [(0, [40], None), (1, [50], None), (2, [60], None)],
        [(2, [61], "stop")],
        [(1, [51], "length")],
        [(0, [41, 42], "stop")],
    ],
    "one-without-ids": [[(0, [40], None), (1, [], "stop")], [(0, [41], "length")]],
}
EACH_ORDER = pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())


def scripted(order):
    return [
        step(
            *(output(index=index, token_ids=ids, finish_reason=end) for index, ids, end in outputs)
        )
        for outputs in order
    ]


def count(order):
    return 1 + max(index for outputs in order for index, _, _ in outputs)


@requirement("generate.n.stream-keeps-engine-order", "generate.n.stream-has-every-choice")
@EACH_ORDER
async def test_stream_keeps_the_engines_order(wire, engine, node, order):
    """Each choice's step is a chunk of its own under its index, in the engine's order."""
    name = await engine.script(scripted(order))
    params = {**PARAMS, "n": count(order)}
    answer = await wire.generate_stream(token_ids=PROMPT, sampling_params=params, script=name)
    flat = [(index, ids, end, None) for outputs in order for index, ids, end in outputs]
    assert deltas(node, answer) == flat and answer.done
    assert all(len(chunk["choices"]) == 1 for chunk in answer.chunks)


@requirement("generate.n.full-is-sorted-and-complete")
@EACH_ORDER
async def test_full_answer_is_sorted_and_complete(wire, engine, node, order):
    """Whatever the order of the steps, choices come sorted by index, each with all its ids and its
    own end.
    """
    name = await engine.script(scripted(order))
    n = count(order)
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**PARAMS, "n": n}, script=name)
    ids = {index: [] for index in range(n)}
    ends = {}
    for index, new, end in (one for outputs in order for one in outputs):
        ids[index] += new
        ends[index] = end
    got = [told(node, choice) for choice in answer.expect(200).json["choices"]]
    assert got == [(index, ids[index], ends[index], None) for index in range(n)]
    assert answer.json["usage"]["completion_tokens"] == sum(map(len, ids.values()))


@requirement("generate.n.stream-keeps-engine-order")
async def test_two_streams_at_once_do_not_mix(wire, engine):
    """Two interleaved streams of two choices each keep their own ids."""
    first, second = [
        await engine.script(
            [
                step(output(index=0, token_ids=[base]), output(index=1, token_ids=[base + 1])),
                {"wait": "go"},
                step(
                    output(index=1, token_ids=[base + 2], finish_reason="stop"),
                    output(index=0, token_ids=[base + 3], finish_reason="stop"),
                ),
            ]
        )
        for base in (40, 60)
    ]
    params = {**PARAMS, "n": 2}
    path = "/inference/v1/generate"
    async with (
        wire.open_stream(path, token_ids=PROMPT, sampling_params=params, script=first) as one,
        wire.open_stream(path, token_ids=PROMPT, sampling_params=params, script=second) as other,
    ):
        got = {40: [await anext(one)], 60: [await anext(other)]}
        await engine.release(second, "go")
        got[60] += [chunk async for chunk in other]
        await engine.release(first, "go")
        got[40] += [chunk async for chunk in one]
    for base, chunks in got.items():
        ids = [(chunk["choices"][0]["index"], chunk["choices"][0]["token_ids"]) for chunk in chunks]
        assert ids == [(0, [base]), (1, [base + 1]), (1, [base + 2]), (0, [base + 3])]
