"""An item that cannot be read is a 400, as everything is that a client got wrong."""

import base64
import re

import pytest

from conformance.generate import refused
from conformance.multimodal import ON_VISION, ids, item, rendered, with_features
from conformance.multimodal.images import RED, chat
from fixtures.case import requirement

pytestmark = ON_VISION


def packed(value: bytes) -> str:
    """Bytes as an item's base64."""
    return base64.b64encode(value).decode()


def unpacked(fields: dict) -> bytes:
    """The bytes of an item."""
    return base64.b64decode(item.encode(fields))


def with_pixels(fields: dict, **parts) -> str:
    """The item with another "data" or "field" of its pixel_values."""
    return item.encode({**fields, "pixel_values": {**fields["pixel_values"], **parts}})


def pickled(fields: dict) -> str:
    """The item with extensions of type 1, which is a pickle that would run whatever it says."""
    head = re.compile(rb"\xc9(....)\x03", re.DOTALL)
    return packed(head.sub(lambda found: b"\xc9" + found[1] + b"\x01", unpacked(fields)))


UNREADABLE = {
    "empty": lambda fields: "",
    "no-base64": lambda fields: "!!!!",
    "garbage": lambda fields: packed(b"\xc1\xff\x00hello"),
    "cut-off": lambda fields: packed(unpacked(fields)[:-40]),
    "more-than-an-item": lambda fields: packed(unpacked(fields) + b"xx"),
    "pickle": pickled,
    "number": lambda fields: item.encode(7),
    "list": lambda fields: item.encode([1, 2]),
    "null": lambda fields: item.encode(None),
    "field-of-text": lambda fields: item.encode({"pixel_values": "x"}),
    "field-without-kind": lambda fields: item.encode({"pixel_values": {"data": None}}),
    "unknown-kind": lambda fields: with_pixels(fields, field=["nosuch", {}]),
    "private-kind": lambda fields: with_pixels(fields, field=["__init__", {}]),
    "unknown-argument": lambda fields: with_pixels(fields, field=["batched", {"other": 1}]),
    "unknown-dtype": lambda fields: with_pixels(fields, data=["nosuch", [1], item.Raw(b"1234")]),
    "function-for-dtype": lambda fields: with_pixels(fields, data=["load", [1], item.Raw(b"1234")]),
    "shape-of-another-size": lambda fields: with_pixels(
        fields, data=["float32", [7, 7], item.Raw(b"1234")]
    ),
    "buffer-that-is-not-there": lambda fields: with_pixels(fields, data=["float32", [1], 5]),
    "tensor-elsewhere": lambda fields: with_pixels(fields, data=["float32", [1], {"handle": 1}]),
}


@requirement("multimodal.features.malformed-item-refused")
@pytest.mark.parametrize("wrong", UNREADABLE)
async def test_an_unreadable_item_is_refused(wire, wrong):
    """Each of these is a 400 with a reason, and the request that it was made from is served."""
    request = await rendered(wire, chat(RED))
    (true,) = request["features"]["kwargs_data"]["image"]
    broken = with_features(request, kwargs_data={"image": [UNREADABLE[wrong](item.decode(true))]})
    refused(await wire.generate(broken))
    assert ids(await wire.generate(request))


@requirement("multimodal.features.malformed-item-refused")
async def test_unreadable_metadata_is_refused(wire):
    """Metadata that cannot be read is a 400, even beside whole tensors."""
    request = await rendered(wire, chat(RED))
    refused(await wire.generate(with_features(request, mm_metadata={"image": ["!!!!"]})))
    assert ids(await wire.generate(request))
