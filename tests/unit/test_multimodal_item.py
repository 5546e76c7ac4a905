"""The MessagePack of the multimodal chapter: vLLM's bytes read, and what is no item refused."""

import base64

import numpy
import pytest

from conformance.multimodal import item

# What vLLM 0.33.0 wrote of image_grid_thw for an image of 8 by 8 pixels.
WRITTEN = (
    "ga5pbWFnZV9ncmlkX3Rod4KkZGF0YZOlaW50NjSRA8cYAwEAAAAAAAAAAgAAAAAAAAACAAAAAAAAAKVmaWVsZJKnYmF0"
    "Y2hlZIGra2VlcF9vbl9jcHXD"
)


def test_what_vllm_wrote_is_read():
    (name, field), *more = item.decode(WRITTEN).items()
    assert (name, field["field"], more) == (
        "image_grid_thw",
        ["batched", {"keep_on_cpu": True}],
        [],
    )
    assert field["data"][:2] == ["int64", [3]]
    assert item.array(field["data"]).tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, -1, 127, -32, 2**40, -(2**40), "", "a" * 300, [], [1, ["b"]],
        {"a": {"b": None}}, item.Raw(b"123"), list(range(70000)),
    ],
    ids=lambda value: str(value)[:12],
)  # fmt: skip
def test_what_is_written_is_read(value):
    assert item.decode(item.encode(value)) == value


def test_a_tensor_is_its_values():
    values = numpy.arange(6, dtype="float32").reshape(2, 3)
    crossed = item.tensor(values, "float32")
    assert crossed[:2] == ["float32", [2, 3]] and len(crossed[2]) == 24
    assert (item.array(item.decode(item.encode(crossed))) == values).all()


@pytest.mark.parametrize(
    "packed", [b"\x01\x02", b"\xc1", b"\xc7\x02\x01ab", b"\xc7\x05\x03ab", b"\xa5ab"],
    ids=["more", "no-code", "pickle", "cut-off", "cut-off-text"],
)  # fmt: skip
def test_what_is_no_item_is_refused(packed):
    with pytest.raises(ValueError):
        item.decode(base64.b64encode(packed).decode())
