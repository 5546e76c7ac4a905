"""One request's features do not end the node for everybody else.

Each node is started for one case and may die of it: the next request tells. So these cases look
at nodes of their own, not at the chapter's.
"""

import pytest

from conformance.multimodal import ALONE, item, rendered, transfers, tried, with_features
from conformance.multimodal.images import RED, chat, grid
from fixtures.case import requirement

GRID = item.encode({"image_grid_thw": grid()})
FATAL = {
    "no-pixels": {"kwargs_data": {"image": [GRID]}},
    "range-longer-than-the-image": {"mm_placeholders": {"image": [{"offset": 3, "length": 6}]}},
    "item-of-another-release": {},
    "transfer-that-nobody-makes": {"kwargs_data": None, "mm_metadata": {"image": [GRID]}},
}


def other_kind(request: dict) -> str:
    """The request's item with pixel_values of the kind that they are of across 0.33.0: batched
    before, flat from there on.
    """
    fields = item.decode(request["features"]["kwargs_data"]["image"][0])
    patches = fields["pixel_values"]["data"][1][0]
    kinds = {
        "flat": ["batched", {"keep_on_cpu": False}],
        "batched": ["flat", {"slices": [[[0, patches, None]]], "dim": 0, "keep_on_cpu": False}],
    }
    fields["pixel_values"]["field"] = kinds[fields["pixel_values"]["field"][0]]
    return item.encode(fields)


@requirement("multimodal.features.engine-survives")
@pytest.mark.parametrize("wrong", FATAL)
async def test_features_that_cannot_run_are_refused(lease, wrong):
    """Features of the right form that do not fit the model are a 4xx, and the next request is
    served.
    """
    wire = await lease(ALONE)
    request = await rendered(wire, chat(RED))
    sent = with_features(request, **{"mm_hashes": {"image": [wrong]}, **FATAL[wrong]})
    if wrong == "item-of-another-release":
        sent["features"]["kwargs_data"] = {"image": [other_kind(request)]}
    if wrong == "transfer-that-nobody-makes":
        sent["ec_transfer_params"] = {"a": {}}
    answer, alive = await tried(wire, sent, request)
    assert (answer is not None and 400 <= answer.status < 500, alive) == (True, True)


@requirement("multimodal.transfer.missing-embeddings-are-survived")
async def test_embeddings_that_never_came_are_survived(lease):
    """A prefill server to which no encoder sent the image answers with an error, and then serves."""
    wire = await lease(transfers("ec_consumer", exclusive=True))
    request = await rendered(wire, chat(RED))
    never = {"mm_hashes": {"image": ["never-sent"]}, "kwargs_data": None}
    sent = with_features(request, **never, mm_metadata={"image": [GRID]})
    sent["ec_transfer_params"] = {"never-sent": {}}
    answer, alive = await tried(wire, sent, request)
    assert (answer is not None and answer.status >= 400, alive) == (True, True)
