"""An item that cannot be read is a 400, as everything is that a client got wrong."""

import base64

import pytest

from conformance.generate import refused
from conformance.multimodal import ON_VISION, ids, item, rendered, with_features
from conformance.multimodal.images import RED, chat, fields, pixels
from fixtures.case import requirement

pytestmark = ON_VISION

WHOLE = base64.b64decode(item.encode(fields(RED)))
TENSOR = pixels(RED)["data"]


def packed(value: bytes) -> str:
    """Bytes as an item's base64."""
    return base64.b64encode(value).decode()


def with_pixels(**parts) -> str:
    """The item with another "data" or "field" of its pixel_values."""
    return item.encode({**fields(RED), "pixel_values": {**pixels(RED), **parts}})


UNREADABLE = {
    "empty": "",
    "no-base64": "!!!!",
    "garbage": packed(b"\xc1\xff\x00hello"),
    "cut-off": packed(WHOLE[:-40]),
    "more-than-an-item": packed(WHOLE + b"xx"),
    # Extension 1 is a pickle, which would run whatever it says.
    "pickle": packed(WHOLE.replace(b"\xc9\x00\x00\x0c\x00\x03", b"\xc9\x00\x00\x0c\x00\x01")),
    "number": item.encode(7),
    "list": item.encode([1, 2]),
    "null": item.encode(None),
    "field-of-text": item.encode({"pixel_values": "x"}),
    "field-without-kind": item.encode({"pixel_values": {"data": TENSOR}}),
    "unknown-kind": with_pixels(field=["nosuch", {}]),
    "private-kind": with_pixels(field=["__init__", {}]),
    "unknown-argument": with_pixels(field=["batched", {"other": 1}]),
    "unknown-dtype": with_pixels(data=["nosuch", *TENSOR[1:]]),
    "function-for-dtype": with_pixels(data=["load", *TENSOR[1:]]),
    "shape-of-another-size": with_pixels(data=["float32", [7, 7], TENSOR[2]]),
    "buffer-that-is-not-there": with_pixels(data=["float32", [1], 5]),
    "tensor-elsewhere": with_pixels(data=["float32", [1], {"handle": 1}]),
}


@requirement("multimodal.features.malformed-item-refused")
@pytest.mark.parametrize("wrong", UNREADABLE)
async def test_an_unreadable_item_is_refused(wire, wrong):
    """Each of these is a 400 with a reason, and the request that it was made from is served."""
    request = await rendered(wire, chat(RED))
    broken = with_features(request, kwargs_data={"image": [UNREADABLE[wrong]]})
    refused(await wire.generate(broken))
    assert ids(await wire.generate(request))


@requirement("multimodal.features.malformed-item-refused")
async def test_unreadable_metadata_is_refused(wire):
    """Metadata that cannot be read is a 400, even beside whole tensors."""
    request = await rendered(wire, chat(RED))
    refused(await wire.generate(with_features(request, mm_metadata={"image": ["!!!!"]})))
    assert ids(await wire.generate(request))
