"""A node that dies of a probe is an error of its case, not a node that is wrong."""

import pytest

from fixtures import verdict
from fixtures.node_wire import require
from fixtures.nodes.leasing import NO_KERNEL
from fixtures.outcome import CaseRecord
from fixtures.wire.errors import WireError


class Dying:
    """A lease whose server is gone."""

    name, url = "dying #1", "http://127.0.0.1:9"

    def url_for(self, path):
        return self.url


async def test_the_node_is_noted_before_it_is_asked():
    record, node = CaseRecord(), Dying()
    with pytest.raises(WireError):
        await require("generate", node, record)
    assert record.nodes == [node]


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ("", verdict.FAILED),
        ("node dying #1 ended with signal 9", verdict.ERROR),
        (f"{NO_KERNEL} dying #1: Cannot inspect kernel parameters", verdict.UNSUPPORTED),
    ],
)
def test_how_the_node_ended_decides(ending, outcome):
    def case():
        raise AssertionError("500 is not 200")

    record, node = CaseRecord(), Dying()
    node.ending = lambda: ending
    record.used(node)
    record.saw(pytest.CallInfo.from_call(case, "call"), None)
    assert record.outcome == outcome
    assert record.message.endswith(ending or "500 is not 200")
