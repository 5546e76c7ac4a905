"""One request's features do not end the node for everybody else.

Each node is started for one case and may die of it: the next request tells. So these cases look
at nodes of their own, not at the chapter's.
"""

import pytest

from conformance.multimodal import GREEDY, item, transfers
from conformance.multimodal.images import RED, fields
from fixtures.case import Node, requirement
from fixtures.wire import WireError

ALONE = Node("real", model="tiny-vision", exclusive=True)
# What chat render makes of "hello " and an image of 16 by 16 pixels.
TOKENS = [1, 338, 205, 496, 497, 497, 497, 497, 498, 205, 265, 390, 227, 2, 205, 1, 341, 205]
WHOLE = {
    "mm_hashes": {"image": ["tokenwire"]},
    "mm_placeholders": {"image": [{"offset": 4, "length": 4}]},
    "kwargs_data": {"image": [item.encode(fields(RED))]},
}
GRID = item.encode({"image_grid_thw": fields(RED)["image_grid_thw"]})
OTHER_GRID = {**fields(RED), "image_grid_thw": fields(RED, 80, 80)["image_grid_thw"]}

FATAL = {
    "no-pixels": {"kwargs_data": {"image": [GRID]}},
    "grid-of-another-image": {"kwargs_data": {"image": [item.encode(OTHER_GRID)]}},
    "range-longer-than-the-image": {"mm_placeholders": {"image": [{"offset": 3, "length": 6}]}},
    "unknown-modality": {name: {"smell": own["image"]} for name, own in WHOLE.items()},
    "transfer-that-nobody-makes": {"kwargs_data": None, "mm_metadata": {"image": [GRID]}},
}


@requirement("multimodal.features.engine-survives")
@pytest.mark.parametrize("wrong", FATAL)
async def test_features_that_cannot_run_are_refused(lease, wrong):
    """Features of the right form that do not fit the model are a 4xx, and the next request is
    served.
    """
    wire = await lease(ALONE)
    sent = {"token_ids": TOKENS, "sampling_params": GREEDY, "ec_transfer_params": {"a": {}}}
    answer = await wire.generate(sent, features=WHOLE | FATAL[wrong])
    assert (400 <= answer.status < 500, await still_serves(wire)) == (True, True)


@requirement("multimodal.transfer.missing-embeddings-are-survived")
async def test_embeddings_that_never_came_are_survived(lease):
    """A prefill server to which no encoder sent the image answers with an error, and then serves."""
    wire = await lease(transfers("ec_consumer", exclusive=True))
    bare = {"mm_hashes": {"image": ["never-sent"]}, "kwargs_data": None}
    sent = {"token_ids": TOKENS, "sampling_params": GREEDY, "ec_transfer_params": {"a": {}}}
    answer = await wire.generate(sent, features={**WHOLE, **bare, "mm_metadata": {"image": [GRID]}})
    assert (answer.status >= 400, await still_serves(wire)) == (True, True)


async def still_serves(wire) -> bool:
    """Whether a good request is answered; a node that died is put away, for the case to judge it."""
    sent = {"token_ids": TOKENS, "sampling_params": GREEDY, "features": WHOLE}
    try:
        if (await wire.generate(sent)).status == 200:
            return True
    except WireError:
        pass
    wire.node.end()
    return False
