"""routed_experts: the engine's array comes back exactly, per choice, in a stream on the last chunk
alone.
"""

import numpy
import pytest

from conformance.generate import PROMPT, array_of, choices_of
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output, together

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

PARAMS = {"max_tokens": 16, "ignore_eos": True}
IDS = [40, 41, 42, 43]
ROWS = (
    len(PROMPT) + len(IDS) - 1
)  # the last sampled token was not forwarded, so nothing was routed for it
SHAPE = (ROWS, 3, 2)  # tokens, layers, experts per token
DTYPES = pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32"])
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])


def experts(dtype, shape=SHAPE, shift=0):
    """Every cell different, and ids that need the whole dtype."""
    count = int(numpy.prod(shape))
    top = min(numpy.iinfo(dtype).max, 100_000)
    return ((numpy.arange(count) * 7 + shift) % (top + 1)).astype(dtype).reshape(shape)


def as_script(array):
    return {"shape": list(array.shape), "dtype": array.dtype.name, "data": array.ravel().tolist()}


def same(value, array):
    got = array_of(value)
    assert (got.dtype, got.shape) == (array.dtype, array.shape)
    numpy.testing.assert_array_equal(got, array)


def scripted(array, index=0, ids=IDS, finish="length"):
    return [
        output(index=index, token_ids=ids[:2]),
        output(
            index=index, token_ids=ids[2:], finish_reason=finish, routed_experts=as_script(array)
        ),
    ]


async def choices(wire, engine, stream, steps, n=1):
    """The choices of a full answer, or those of every chunk of a stream."""
    name = await engine.script(steps)
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {**PARAMS, "n": n, "temperature": 1.0},
        "script": name,
    }
    if stream:
        return choices_of(await wire.generate_stream(**fields))
    return (await wire.generate(**fields)).expect(200).json["choices"]


@requirement("generate.routed-experts.full")
@DTYPES
async def test_full(wire, engine, dtype):
    """A full answer carries the array: values, shape (tokens - 1, layers, top k) and dtype
    unchanged.
    """
    array = experts(dtype)
    (choice,) = await choices(wire, engine, False, scripted(array))
    same(choice["routed_experts"], array)
    assert (choice["token_ids"], choice["finish_reason"]) == (IDS, "length")


@requirement("generate.routed-experts.stream-taken-together")
async def test_a_stream_that_lags_behind_the_engine(wire, engine):
    """Outputs that the server takes together are one chunk, which has the array of the last."""
    array = experts("uint8")
    (choice,) = await choices(wire, engine, True, [together(*scripted(array))])
    assert (choice["token_ids"], choice["finish_reason"]) == (IDS, "length")
    same(choice["routed_experts"], array)


@requirement("generate.routed-experts.stream-last-chunk-only")
@DTYPES
async def test_stream(wire, engine, dtype):
    """In a stream the last chunk carries the array, and on every earlier one the key is null."""
    array = experts(dtype)
    *earlier, last = await choices(wire, engine, True, scripted(array))
    same(last["routed_experts"], array)
    assert [choice["routed_experts"] for choice in earlier] == [None] and last[
        "finish_reason"
    ] == "length"


@requirement("generate.routed-experts.per-choice")
@FULL_OR_STREAM
async def test_each_choice_has_its_own(wire, engine, stream):
    """With n=2 each index has its own array, of its own length, whichever choice ends first."""
    arrays = [experts("uint8", shift=1), experts("uint8", (len(PROMPT) + 2, 3, 2), shift=90)]
    steps = [
        output(index=0, token_ids=[40]),
        output(
            index=1,
            token_ids=[50, 51, 52],
            finish_reason="stop",
            routed_experts=as_script(arrays[1]),
        ),
        output(
            index=0,
            token_ids=[41, 42, 43],
            finish_reason="length",
            routed_experts=as_script(arrays[0]),
        ),
    ]
    got = [
        choice
        for choice in await choices(wire, engine, stream, steps, n=2)
        if choice["finish_reason"]
    ]
    assert sorted(choice["index"] for choice in got) == [0, 1]
    for choice in got:
        same(choice["routed_experts"], arrays[choice["index"]])


@requirement("generate.routed-experts.null-without")
@FULL_OR_STREAM
async def test_null_where_the_engine_gives_none(wire, engine, stream):
    """Without experts the key is there and null, on every chunk; never an empty string or array."""
    steps = [output(token_ids=[40]), output(token_ids=[41], finish_reason="stop")]
    got = await choices(wire, engine, stream, steps)
    assert [choice["routed_experts"] for choice in got] == [None] * (2 if stream else 1)


async def aborted(wire, engine, stream):
    """(ids, finish reason, experts) of each choice, aborted before the first forward pass."""
    steps = [output(token_ids=[], finish_reason="abort")]
    keys = ("token_ids", "finish_reason", "routed_experts")
    return [
        tuple(choice[key] for key in keys) for choice in await choices(wire, engine, stream, steps)
    ]


@requirement("generate.routed-experts.null-without")
async def test_null_when_aborted_before_any_token(wire, engine):
    """An abort before the first forward pass has no ids and no experts."""
    assert await aborted(wire, engine, stream=False) == [([], "abort", None)]


@requirement("generate.stream.terminal-chunk")
async def test_terminal_chunk_of_an_abort_has_no_experts(wire, engine):
    """The same in a stream, whose only chunk then is the end."""
    assert await aborted(wire, engine, stream=True) == [([], "abort", None)]


@requirement("generate.routed-experts.full")
@capability("output-mode.text")
async def test_text_mode_carries_them_too(wire, engine):
    """A text answer carries the same array."""
    await carried_at(wire, engine, "text")


@requirement("generate.routed-experts.full")
@capability("output-mode.derender")
async def test_derender_mode_carries_them_too(wire, engine):
    """A derender answer carries the same array."""
    await carried_at(wire, engine, "derender")


async def carried_at(wire, engine, mode):
    array = experts("uint16")
    name = await engine.script(scripted(array))
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params=PARAMS, script=name, output_mode=mode
    )
    same(answer.expect(200).json["choices"][0]["routed_experts"], array)
