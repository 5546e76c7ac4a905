"""Encodings of routed_experts beside `.npy`: a value says which one it is, and decodes to the same
array.

prime-rl reads base85 `{data, shape}` and compact `{data, shape, start, dtype}`; vLLM sends base64
`.npy`. A reader must tell them apart by the value alone, so each form has exactly its keys and its
size.
"""

import base64

import numpy
import pytest

from conformance.generate import PROMPT, array_of, choices_of
from fixtures.case import Node, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize(
    "node",
    [
        Node("scripted", env={"TOKENWIRE_ROUTED_EXPERTS": encoding})
        for encoding in ("base85", "compact")
    ],
    indirect=True,
)

IDS = [40, 41, 42, 43]
SHAPE = (len(PROMPT) + len(IDS) - 1, 3, 2)
SMALLEST = {"uint8": 255, "uint16": 65_535, "int32": 100_000}


def decoded(value, start=0):
    """The array of a wire value in any of the three forms; AssertionError for a malformed one."""
    if isinstance(value, str):
        return array_of(value)
    if value.keys() == {"data", "shape"}:
        raw, dtype = base64.b85decode(value["data"]), numpy.dtype("<i4")
    else:
        assert value.keys() == {"data", "shape", "start", "dtype"} and value["start"] == start
        raw, dtype = base64.b64decode(value["data"], validate=True), numpy.dtype(value["dtype"])
        assert value["dtype"] in SMALLEST
        dtype = dtype.newbyteorder("<")
    assert len(raw) == numpy.prod(value["shape"]) * dtype.itemsize, "size is not that of the shape"
    return numpy.frombuffer(raw, dtype).reshape(value["shape"])


@requirement("generate.routed-experts.encoding-is-detectable")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32"])
async def test_value_decodes_to_the_engines_array(wire, engine, stream, dtype):
    """Whatever the encoding, shape and values are the engine's, in full and on the last chunk of a
    stream.
    """
    array = (
        (numpy.arange(int(numpy.prod(SHAPE))) * 2_731 % (SMALLEST[dtype] + 1))
        .astype(dtype)
        .reshape(SHAPE)
    )
    experts = {"shape": list(SHAPE), "dtype": dtype, "data": array.ravel().tolist()}
    name = await engine.script(
        [
            output(token_ids=IDS[:3]),
            output(token_ids=IDS[3:], finish_reason="length", routed_experts=experts),
        ]
    )
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 4, "ignore_eos": True},
        "script": name,
    }
    if stream:
        first, last = choices_of(await wire.generate_stream(**fields))
        assert first["routed_experts"] is None
    else:
        (last,) = (await wire.generate(**fields)).expect(200).json["choices"]
    got = decoded(last["routed_experts"])
    assert got.shape == SHAPE
    numpy.testing.assert_array_equal(got, array)
    assert last["token_ids"] == (IDS[3:] if stream else IDS)


@requirement("generate.routed-experts.encoding-is-detectable")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_start_is_the_first_prompt_token_returned(wire, engine, stream):
    """With routed_experts_prompt_start=2 the engine leaves two rows out, and a start key says 2."""
    array = numpy.arange(24, dtype="uint8").reshape(4, 3, 2)
    experts = {"shape": [4, 3, 2], "dtype": "uint8", "data": array.ravel().tolist()}
    name = await engine.script([output(IDS, finish_reason="length", routed_experts=experts)])
    params = {"max_tokens": 4, "ignore_eos": True, "routed_experts_prompt_start": 2}
    fields = {"token_ids": PROMPT, "sampling_params": params, "script": name}
    if stream:
        (last,) = choices_of(await wire.generate_stream(**fields))
    else:
        (last,) = (await wire.generate(**fields)).expect(200).json["choices"]
    numpy.testing.assert_array_equal(decoded(last["routed_experts"], start=2), array)
