"""An image's tensors cross the wire byte for byte, in an encoding that is the same in every release.

Each item is read by the harness's own MessagePack reader and compared with what the processor must
make of the image, worked out here: names, dtypes, shapes, field kinds and bytes.
"""

import pytest

from conformance.multimodal import ON_VISION, item, rendered
from conformance.multimodal.images import BLUE, GREEN, RED, chat, fields, grid, url
from fixtures.case import requirement

pytestmark = ON_VISION

# Red, 8 by 8 pixels: written down once, so that reader and writer cannot drift together.
GOLDEN_GRID = (
    "ga5pbWFnZV9ncmlkX3Rod4KkZGF0YZOlaW50NjSRA8cYAwEAAAAAAAAAAgAAAAAAAAACAAAAAAAAAKVmaWVsZJKn"
    "YmF0Y2hlZIGra2VlcF9vbl9jcHXD"
)


@requirement("multimodal.item.exact")
@pytest.mark.parametrize("colour", [RED, GREEN, BLUE], ids=["red", "green", "blue"])
@pytest.mark.parametrize("size", [(16, 16), (8, 8), (24, 16)], ids="{0[0]}x{0[1]}".format)
async def test_an_item_is_exactly_its_fields(wire, node, colour, size):
    """float32 pixel_values; int64 image_grid_thw, batched and kept on the CPU; no more."""
    content = [{"type": "image_url", "image_url": {"url": url(colour, *size)}}]
    features = (await rendered(wire, [{"role": "user", "content": content}]))["features"]
    (sent,) = features["kwargs_data"]["image"]
    assert kinds(item.decode(sent)) == kinds(fields(node, colour, *size))


def kinds(fields: dict) -> dict:
    """The tensors and their fields' kinds.

    The kinds' arguments say how the batch was cut in which the image was processed first.
    """
    return {name: (own["data"], own["field"][0]) for name, own in fields.items()}


@requirement("multimodal.item.exact")
async def test_each_image_has_its_own_slice(wire, node):
    """In a chat of several images each item holds its own image alone, as if it were the only one."""
    features = (await rendered(wire, chat(GREEN, RED, BLUE)))["features"]
    items = [item.decode(own) for own in features["kwargs_data"]["image"]]
    assert [own["image_grid_thw"]["data"] for own in items] == [grid()["data"]] * 3
    alone = [fields(node, colour)["pixel_values"]["data"] for colour in (GREEN, RED, BLUE)]
    assert [own["pixel_values"]["data"] for own in items] == alone


@requirement("multimodal.item.metadata-is-the-cpu-part")
async def test_metadata_holds_what_stays_on_the_cpu(wire):
    """mm_metadata has the fields that a language model needs beside the embeddings, and no pixels;
    its bytes are the golden ones.
    """
    content = [{"type": "image_url", "image_url": {"url": url(RED, 8, 8)}}]
    request = await rendered(wire, [{"role": "user", "content": [*content, *content]}])
    assert request["features"]["mm_metadata"] == {"image": [GOLDEN_GRID] * 2}
    assert item.decode(GOLDEN_GRID) == {"image_grid_thw": grid(8, 8)}
