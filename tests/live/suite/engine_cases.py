"""The engine process of a real node dies while its server lives."""

import os
import signal
from pathlib import Path

import pytest

from fixtures.case import Node, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    requirement("generate.full.answers"),
]


async def test_engine_dies(wire, node):
    children = Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    answer = await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    assert answer.expect(200)


async def test_its_node_is_replaced(wire):
    answer = await wire.generate(token_ids=[20], sampling_params={"max_tokens": 2})
    assert answer.expect(200)
