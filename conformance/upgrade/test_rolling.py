"""Chat goes on while render, generate and derender nodes are replaced one by one, up and down.

Catches a release that cannot be mixed in while traffic runs: an answer lost, cut short, given twice
or to another request, other tokens or text than unmixed, an error where nothing is wrong.
"""

import pytest

from conformance.upgrade.rolling import ORDERS, pair, roll, wrong
from conformance.upgrade.traffic import CHAT
from fixtures.case import requirement

RULES = requirement(
    "upgrade.rolling.one-ending",
    "upgrade.rolling.same-answer",
    "upgrade.rolling.no-error-of-drained-nodes",
)


@RULES
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("order", ORDERS)
async def test_chat_goes_on(own_node, case_record, settings, order, direction):
    """Each request ends once, as it ends where all nodes are of a release that took part."""
    releases = pair(settings, direction)
    run = await roll(own_node, case_record, ORDERS[order], releases, CHAT)
    found = wrong(run)
    assert not found, found


@RULES
@pytest.mark.parametrize("direction", ["up", "down"])
async def test_a_stream_goes_from_one_derender_node_to_the_next(
    own_node, case_record, settings, direction
):
    """The same where each chunk goes to another derender node, with the state of the one before."""
    releases, order = pair(settings, direction), ORDERS["derender-first"]
    run = await roll(own_node, case_record, order, releases, CHAT, spread=True)
    found = wrong(run)
    assert not found, found
