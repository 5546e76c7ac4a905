"""The three encodings of routed experts: each decodes to the array that went in."""

import base64
import io
import json

import numpy
import pytest

from impl.routed_experts import encode_routed_experts, reencode, reencode_stream


def experts(high: int, dtype: str = "int32") -> numpy.ndarray:
    """Shape (tokens 3, layers 2, top k 2), with `high` as its highest expert id."""
    return numpy.linspace(0, high, 12).astype(dtype).reshape(3, 2, 2)


def decode(value):
    """What a client does with any of the three, by the shape of the value alone."""
    if isinstance(value, str):
        return numpy.load(io.BytesIO(base64.b64decode(value, validate=True)), allow_pickle=False)
    if "dtype" in value:
        return numpy.frombuffer(
            base64.b64decode(value["data"], validate=True), value["dtype"]
        ).reshape(value["shape"])
    return numpy.frombuffer(base64.b85decode(value["data"]), "<i4").reshape(value["shape"])


@pytest.mark.parametrize("encoding", ["npy", "base85", "compact"])
@pytest.mark.parametrize(
    "dtype, high",
    [("uint8", 7), ("uint8", 255), ("uint16", 300), ("int32", 300), ("int32", 70_000)],
)
def test_every_encoding_decodes_to_the_same_array(encoding, dtype, high):
    array = experts(high, dtype)
    value = json.loads(json.dumps(encode_routed_experts(array, encoding)))
    numpy.testing.assert_array_equal(decode(value), array)


def test_npy_keeps_the_dtype():
    assert decode(encode_routed_experts(experts(7, "uint8"), "npy")).dtype == numpy.uint8


def test_base85_is_data_and_shape_alone():
    value = encode_routed_experts(experts(7), "base85")
    assert set(value) == {"data", "shape"}
    assert len(base64.b85decode(value["data"])) == 3 * 2 * 2 * 4


@pytest.mark.parametrize(
    "high, dtype",
    [(0, "uint8"), (255, "uint8"), (256, "uint16"), (65535, "uint16"), (65536, "int32")],
)
def test_compact_takes_the_smallest_type_that_holds_every_id(high, dtype):
    value = encode_routed_experts(experts(high), "compact", start=4)
    assert (value["dtype"], value["start"], value["shape"]) == (dtype, 4, [3, 2, 2])


def test_compact_keeps_negative_ids():
    array = numpy.full((1, 1, 2), -1, dtype="int32")
    numpy.testing.assert_array_equal(decode(encode_routed_experts(array, "compact")), array)


@pytest.mark.parametrize("encoding", ["npy", "base85", "compact"])
def test_no_rows_keep_their_shape(encoding):
    array = numpy.zeros((0, 2, 2), dtype="uint8")
    assert decode(encode_routed_experts(array, encoding)).shape == (0, 2, 2)


def test_a_transposed_array_is_written_in_c_order():
    array = experts(7).transpose(2, 1, 0)
    for encoding in ("npy", "base85", "compact"):
        numpy.testing.assert_array_equal(decode(encode_routed_experts(array, encoding)), array)


def test_an_unknown_encoding_is_refused():
    with pytest.raises(ValueError, match="npy, base85, compact, not 'zip'"):
        encode_routed_experts(experts(7), "zip")


async def test_a_stream_changes_only_events_with_experts():
    npy = encode_routed_experts(experts(300), "npy")

    async def events():
        choice = '{"index":0,"text":"\\"routed_experts\\":\\"","routed_experts":null}'
        yield f'data: {{"choices":[{choice}]}}\n\n'
        yield f'data: {{"choices":[{{"index":0,"text":"é","routed_experts":"{npy}"}}]}}\n\n'
        yield "data: [DONE]\n\n"

    before = [event async for event in events()]
    after = [
        event
        async for event in reencode_stream(events(), lambda value: reencode(value, "compact", 2))
    ]
    assert after[0] == before[0] and after[2] == before[2] and len(after) == 3
    assert json.loads(after[1].removeprefix("data: ")) == {
        "choices": [
            {
                "index": 0,
                "text": "é",
                "routed_experts": encode_routed_experts(experts(300), "compact", 2),
            }
        ]
    }


async def test_closing_the_stream_early_closes_vllm_s_own():
    closed = []

    async def events():
        try:
            yield "data: {}\n\n"
            yield "data: [DONE]\n\n"
        finally:
            closed.append(True)

    stream = reencode_stream(events(), lambda value: value)
    await anext(stream)
    await stream.aclose()
    assert closed == [True]
