"""One request's features do not end the node for everybody else.

Each node is started for one case and may die of it: the next request tells. So these cases look
at nodes of their own, not at the chapter's.
"""

import pytest

from conformance.multimodal import ALONE, item, outlives, rendered, transfers, with_features
from conformance.multimodal.images import RED, chat, grid
from fixtures.case import requirement

GRID = item.encode({"image_grid_thw": grid()})
FATAL = {
    "no-pixels": {"kwargs_data": {"image": [GRID]}},
    "range-longer-than-the-image": {"mm_placeholders": {"image": [{"offset": 3, "length": 6}]}},
    "unknown-modality": {},
    "transfer-that-nobody-makes": {"kwargs_data": None, "mm_metadata": {"image": [GRID]}},
}


@requirement("multimodal.features.engine-survives")
@pytest.mark.parametrize("wrong", FATAL)
async def test_features_that_cannot_run_are_refused(lease, wrong):
    """Features of the right form that do not fit the model are a 4xx, and the next request is
    served.
    """
    wire = await lease(ALONE)
    request = await rendered(wire, chat(RED))
    sent = with_features(request, **{"mm_hashes": {"image": [wrong]}, **FATAL[wrong]})
    if wrong == "unknown-modality":
        sent["features"] = {
            name: own and {"smell": own["image"]} for name, own in sent["features"].items()
        }
    answer = await wire.generate({**sent, "ec_transfer_params": {"a": {}}})
    assert (400 <= answer.status < 500, await outlives(wire, request)) == (True, True)


@requirement("multimodal.transfer.missing-embeddings-are-survived")
async def test_embeddings_that_never_came_are_survived(lease):
    """A prefill server to which no encoder sent the image answers with an error, and then serves."""
    wire = await lease(transfers("ec_consumer", exclusive=True))
    request = await rendered(wire, chat(RED))
    never = {"mm_hashes": {"image": ["never-sent"]}, "kwargs_data": None}
    sent = with_features(request, **never, mm_metadata={"image": [GRID]})
    answer = await wire.generate({**sent, "ec_transfer_params": {"never-sent": {}}})
    assert (answer.status >= 400, await outlives(wire, request)) == (True, True)
