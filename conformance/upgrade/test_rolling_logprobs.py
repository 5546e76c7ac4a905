"""Over the releases that changed how logprobs are written, a mix refuses them and nothing else.

Catches a derender node that takes logprobs it cannot read, and gives an answer without them or with
those of other tokens.
"""

import pytest

from conformance.upgrade.rolling import ORDERS, roll, wrong
from conformance.upgrade.traffic import CHAT_WITH_LOGPROBS
from fixtures.case import requirement

# Between these two `token_id:N` became an integer.
NAMED, INTEGERS = "0.31.0", "0.32.0"
RELEASES = {"up": (NAMED, INTEGERS), "down": (INTEGERS, NAMED)}


def across(answer, status):
    """Whether the request asked for logprobs of one release and a derender node of the other."""
    of = {
        role: {node.spec.release for own, node in answer.nodes if own == role}
        for role, _ in answer.nodes
    }
    return "logprobs" in answer.request and status == 400 and of["generate"] != of["derender"]


@requirement("upgrade.rolling.logprobs-refused-across-the-break")
@pytest.mark.releases(NAMED, INTEGERS)
@pytest.mark.parametrize("direction", RELEASES)
async def test_logprobs_are_refused_across_the_break(own_node, case_record, direction):
    """A 400 between generate and derender of two releases; everything else ends as unmixed."""
    order, releases = ORDERS["generate-first"], RELEASES[direction]
    run = await roll(own_node, case_record, order, releases, CHAT_WITH_LOGPROBS)
    found = wrong(run, across)
    assert (found, run.statuses()) == ("", {400}), found or run.summary()
