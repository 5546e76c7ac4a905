"""Render reads and writes text; it never runs the model.

Catches a node that generates (and bills) while it renders.
"""

import pytest

from fixtures.case import Node, capabilities, requirement
from fixtures.nodes.script import output

pytestmark = [
    pytest.mark.parametrize("node", [Node("scripted")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

CHAT = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}


@requirement("render.engine.untouched")
async def test_render_makes_no_engine_call(wire, engine):
    """The same script sees no call from either render, and one from generate."""
    script = await engine.script([output(token_ids=[20], finish_reason="stop")])
    rendered = (await wire.render_chat(CHAT, script=script)).expect(200).json
    (await wire.render_completions(prompt="hello", max_tokens=4, script=script)).expect(200)
    assert [call["event"] for call in await engine.calls(script)] == []
    (await wire.generate(rendered, script=script)).expect(200)
    assert "generate" in [call["event"] for call in await engine.calls(script)]
