"""A render node without an engine renders what a full node renders.

Catches a tier whose engine-free nodes use another template, tokenizer or default than the
generate nodes behind them.
"""

import pytest

from conformance.support import WEATHER_TOOL, since, without
from fixtures.case import Node, capabilities, own_id, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

USER = {"role": "user", "content": "hello 日本 🦊"}
REQUESTS = {
    "plain": {"messages": [USER]},
    "tools": {"messages": [USER], "tools": [WEATHER_TOOL], "tool_choice": "none"},
    "sampling": {"messages": [USER], "max_tokens": 16, "seed": 0, "stop": ["x"], "n": 2},
    "stream": {"messages": [USER], "stream": True, "stream_options": {"include_usage": True}},
    "offsets": {"messages": [USER], "return_token_offsets": True},
}


@requirement("render.node.engine-free-agrees")
@pytest.mark.parametrize("name", REQUESTS)
async def test_chat_bodies_agree(wire, lease, name):
    """Both nodes' bodies are equal but for the random id."""
    full = await lease(Node("real"))
    await full.needs("render.chat")
    here = (await wire.render_chat(REQUESTS[name])).expect(200).json
    there = (await full.render_chat(REQUESTS[name])).expect(200).json
    assert without(here, "request_id") == without(there, "request_id")


@requirement("render.node.engine-free-agrees")
async def test_completions_bodies_agree(wire, node, lease):
    """The same for a batch of completions prompts; from 0.32 on their ids are the caller's too."""
    full = await lease(Node("real"))
    await full.needs("render.completions")
    request = {
        "prompt": ["hello", "日本"],
        "max_tokens": 16,
        "logprobs": 2,
        "request_id": own_id("own"),
    }
    here = (await wire.render_completions(request)).expect(200).json
    there = (await full.render_completions(request)).expect(200).json
    random = () if since(node, "0.32.0") else ("request_id",)
    assert [without(item, *random) for item in here] == [without(item, *random) for item in there]


@requirement("render.node.has-no-generate")
async def test_generate_is_absent(wire):
    """An engine-free node has no generate route, while its render answers."""
    (await wire.render_chat(REQUESTS["plain"])).expect(200)
    (await wire.generate(token_ids=[20], sampling_params={"max_tokens": 1})).expect(404)
