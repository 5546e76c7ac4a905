"""Nodes of every role die with requests open, and are replaced by the other release's.

Catches an answer that was cut short and passes for a whole one, and a request without an ending.
"""

from conformance.upgrade.ledger import faults, told
from conformance.upgrade.rolling import ORDERS, pair, roll
from conformance.upgrade.traffic import LONG_CHAT
from fixtures.case import requirement

GATEWAY = 502


@requirement("upgrade.rolling.one-ending", "upgrade.rolling.same-answer")
async def test_killed_nodes_leave_whole_answers_and_errors(own_node, case_record, settings):
    """What a killed node had open ends in one error; every other request as ever."""
    order, releases = ORDERS["generate-first"], pair(settings, "up")
    run = await roll(own_node, case_record, order, releases, LONG_CHAT, drain=False)
    killed = {one.old for one in run.replacements}

    def may_fail(answer, status):
        return status == GATEWAY and not killed.isdisjoint(node for _, node in answer.nodes)

    found = told(faults(run.answers, run.unmixed, may_fail))
    assert (found, run.gaps(), set(run.errors())) == ("", [], {GATEWAY})
