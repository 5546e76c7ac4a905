"""A node that dies of a probe is an error of its case, not a node that is wrong."""

import pytest

from fixtures.node_wire import require
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
