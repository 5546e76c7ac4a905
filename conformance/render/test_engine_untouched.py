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


# name: (path, a body that is refused, what the node must have)
REFUSED = {
    "chat": ("/v1/chat/completions/render", {"messages": []}, "render.chat"),
    "messages": ("/v1/messages/render", {"messages": [], "max_tokens": 4}, "render.messages"),
    "responses": (
        "/v1/responses/render",
        {"input": "hello", "previous_response_id": "resp_1"},
        "render.responses",
    ),
}


@requirement("render.engine.untouched")
@pytest.mark.parametrize("name", REFUSED)
async def test_a_refusal_makes_no_engine_call(wire, engine, name):
    """A 400 is given before the engine is asked anything."""
    path, body, capability = REFUSED[name]
    await wire.needs(capability)
    script = await engine.script([output(token_ids=[20], finish_reason="stop")])
    (await wire.post(path, body, script=script)).expect(400)
    assert await engine.calls(script) == []


@requirement("render.engine.untouched")
@pytest.mark.parametrize("name", ["messages", "responses"])
async def test_messages_and_responses_make_no_engine_call(wire, engine, name):
    """The same for what they render."""
    path, _, capability = REFUSED[name]
    await wire.needs(capability)
    body = {"input": "hello"}
    if name == "messages":
        body = {"messages": CHAT["messages"], "max_tokens": 4}
    script = await engine.script([output(token_ids=[20], finish_reason="stop")])
    assert (await wire.post(path, body, script=script)).expect(200).json["token_ids"]
    assert await engine.calls(script) == []
