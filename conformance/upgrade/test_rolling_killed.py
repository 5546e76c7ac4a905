"""Nodes of every role die with requests open, and are replaced by the other release's.

Catches an answer that was cut short and passes for a whole one, and a request without an ending.
"""

from conformance.upgrade.rolling import ORDERS, pair, roll, wrong
from conformance.upgrade.traffic import LONG_CHAT
from fixtures.case import requirement

GATEWAY = 502


@requirement("upgrade.rolling.one-ending", "upgrade.rolling.same-answer")
async def test_killed_nodes_leave_whole_answers_and_errors(own_node, case_record, settings):
    """What a killed node had open ends in one error; every other request as ever."""
    order, releases = ORDERS["generate-first"], pair(settings, "up")
    run = await roll(own_node, case_record, order, releases, LONG_CHAT, drain=False)

    def met_a_death(answer, status):
        nodes = {node for _, node in answer.nodes}
        met = [one for one in run.replacements if one.old in nodes and answer not in one.ended]
        return status == GATEWAY and bool(met)

    found = wrong(run, met_a_death)
    assert (found, run.statuses()) == ("", {GATEWAY}), found or run.summary()
