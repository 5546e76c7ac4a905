"""Images made from nothing, and what the tiny model's processor makes of them."""

import base64
import struct
import zlib

import numpy

from conformance.multimodal import item
from conformance.support import since
from fixtures.models.vision import IMAGE_PLACEHOLDER
from fixtures.nodes.lease import Lease

Colour = tuple[int, int, int]
RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (10, 20, 200)
# The id of an image's tokens, how many an image of 16 by 16 pixels has, and pixels along a patch.
IMAGE_TOKEN, TOKENS, PATCH = IMAGE_PLACEHOLDER, 4, 4


def png(colour: Colour, width: int = 16, height: int = 16) -> bytes:
    """A PNG file of one colour."""

    def part(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(colour) * width) * height)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", rows) + part(b"IEND", b"")


def url(colour: Colour, width: int = 16, height: int = 16) -> str:
    """The image as a data: URL."""
    return "data:image/png;base64," + base64.b64encode(png(colour, width, height)).decode()


def chat(*colours: Colour, text: str = "hello ") -> list[dict]:
    """Messages of one turn: `text`, then an image of each colour."""
    images = [{"type": "image_url", "image_url": {"url": url(colour)}} for colour in colours]
    return [{"role": "user", "content": [{"type": "text", "text": text}, *images]}]


def fields(node: Lease, colour: Colour, width: int = 16, height: int = 16) -> dict:
    """The image's whole item as the node's release makes it, not yet encoded."""
    return {
        "image_grid_thw": grid(width, height),
        "pixel_values": pixels(node, colour, width, height),
    }


def grid(width: int = 16, height: int = 16) -> dict:
    """The field image_grid_thw: one frame, and the patches down and across."""
    values = item.tensor([1, height // PATCH, width // PATCH], "int64")
    return {"data": values, "field": ["batched", {"keep_on_cpu": True}]}


def pixels(node: Lease, colour: Colour, width: int = 16, height: int = 16) -> dict:
    """The field pixel_values: float32 of (patches, 3, PATCH, PATCH) from -1 to 1.

    Flat from 0.33.0 on, batched before.
    """
    patches = width * height // PATCH**2
    values = (numpy.array(colour) / 255 - 0.5) / 0.5
    spread = numpy.broadcast_to(values[None, :, None, None], (patches, 3, PATCH, PATCH))
    field = ["batched", {"keep_on_cpu": False}]
    if since(node, "0.33.0"):
        field = ["flat", {"slices": [[[0, patches, None]]], "dim": 0, "keep_on_cpu": False}]
    return {"data": item.tensor(spread, "float32"), "field": field}
