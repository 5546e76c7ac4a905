"""Features that contradict themselves or the prompt are refused before anything runs.

Each request differs from one that is served in one thing; the served one follows it.
"""

import pytest

from conformance.generate import refused
from conformance.multimodal import ALONE, item, rendered, tried, with_features
from conformance.multimodal.images import GREEN, RED, chat, grid
from fixtures.case import requirement

ONE = item.encode({"image_grid_thw": grid()})


async def refuses(lease, words: str, **features) -> None:
    """The chat of two images with these features is a 400 that says `words`, and is else served."""
    wire = await lease(ALONE)
    request = await rendered(wire, chat(RED, GREEN))
    answer, alive = await tried(wire, with_features(request, **features), request)
    assert answer, "the server broke the connection"
    refused(answer)
    assert alive and words in answer.json["error"]["message"]


@requirement("multimodal.features.parallel-lists")
@pytest.mark.parametrize(
    "features",
    [
        {"mm_hashes": {"image": ["a"]}},
        {"mm_hashes": {"image": ["a", "b", "c"]}},
        {"mm_placeholders": {"image": [{"offset": 4, "length": 4}]}},
        {"kwargs_data": {"image": [ONE]}},
        {"kwargs_data": {"image": [ONE, ONE, None]}},
        {"kwargs_data": {"image": []}},
        {"mm_metadata": {"image": [None]}},
        {"mm_metadata": {"image": [None, None, None]}},
    ],
    ids=[
        "hash-missing", "hash-more", "range-missing", "item-missing", "item-more", "no-items",
        "metadata-missing", "metadata-more",
    ],
)  # fmt: skip
async def test_lists_of_different_length_are_refused(lease, features):
    """Hashes, ranges, items and metadata of a modality must be as many."""
    await refuses(lease, "must have the same length", **features)


@requirement("multimodal.features.parallel-lists")
@pytest.mark.parametrize("name", ["mm_hashes", "mm_placeholders", "kwargs_data", "mm_metadata"])
async def test_different_modalities_are_refused(lease, name):
    """A modality that one list has and another has not is a 400."""
    await refuses(lease, "must use the same modalities", **{name: {}})


@requirement("multimodal.features.ranges-inside-the-prompt")
@pytest.mark.parametrize(
    ("second", "words"),
    [
        ({"offset": 7, "length": 4}, "non-overlapping"),
        ({"offset": 4, "length": 4}, "non-overlapping"),
        ({"offset": 2, "length": 8}, "non-overlapping"),
        ({"offset": 22, "length": 4}, "within the token_ids"),
        ({"offset": 1000, "length": 4}, "within the token_ids"),
        ({"offset": 2**63, "length": 4}, ""),
        ({"offset": -1, "length": 4}, "greater than or equal to 0"),
        ({"offset": 11, "length": 0}, "greater than 0"),
        ({"offset": 11, "length": -4}, "greater than 0"),
        ({"offset": 11}, "length"),
        ({"offset": "x", "length": 4}, "offset"),
        (None, "image"),
    ],
    ids=[
        "overlap", "twice", "around", "over-the-end", "past-the-end", "huge", "before-the-start",
        "empty", "negative", "no-length", "no-number", "null",
    ],
)  # fmt: skip
async def test_a_wrong_range_is_refused(lease, second, words):
    """A range that overlaps another, leaves the 25 ids of the prompt, or is none at all is a 400."""
    ranges = {"image": [{"offset": 4, "length": 4}, second]}
    await refuses(lease, words, mm_placeholders=ranges)


@requirement("multimodal.features.metadata-needs-a-transfer")
@pytest.mark.parametrize("tensors", ["absent", "null", "one-of-two"])
async def test_metadata_alone_is_refused(lease, tensors):
    """An item with metadata and no tensors is a 400 without ec_transfer_params, whatever its
    neighbour has.
    """
    first = (await rendered(await lease(ALONE), chat(RED)))["features"]["kwargs_data"]["image"]
    data = {
        "absent": None,
        "null": {"image": [None, None]},
        "one-of-two": {"image": [*first, None]},
    }
    metadata = {"image": [ONE, ONE]}
    await refuses(
        lease, "require ec_transfer_params", kwargs_data=data[tensors], mm_metadata=metadata
    )
