"""A node that vLLM refuses to start."""

import pytest

from fixtures.case import Node, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("scripted", "--no-such-flag")], indirect=True),
    requirement("generate.full.answers"),
]


async def test_is_an_error(wire):
    pass
