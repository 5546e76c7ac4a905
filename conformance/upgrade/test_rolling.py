"""Chat goes on while render, generate and derender nodes are replaced one by one, up and down.

Catches a release that cannot be mixed in while traffic runs: an answer lost, cut short, given twice
or to another request, other tokens or text than unmixed, an error where nothing is wrong.
"""

import pytest

from conformance.support import WEATHER_TOOL
from conformance.upgrade.ledger import faults, told
from conformance.upgrade.rolling import REQUESTS, pair, roll
from fixtures.case import requirement

PROMPTS = ("hello world", "the quick brown fox", "日本 🦊", "one two", "a", "é", "3 4 5", "{}")
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
# The model would never call a tool by itself; thinking stays off, or the call were part of it.
CALL = {
    "tools": [WEATHER_TOOL],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
    "chat_template_kwargs": {"enable_thinking": False},
    "max_tokens": 64,
}
# kind: (the request, how many of the prompts: a streamed call takes ten times the calls of a full chat)
KINDS = {
    "full": ({"max_tokens": 8}, 8),
    "stream": ({"max_tokens": 8, **STREAM}, 4),
    "tools": (CALL, 2),
    "stream of tools": ({**CALL, **STREAM}, 1),
}
TRAFFIC = {
    f"{kind}: {prompt}": {"messages": [{"role": "user", "content": prompt}], "temperature": 0}
    | rest
    for kind, (rest, count) in KINDS.items()
    for prompt in PROMPTS[:count]
}
ORDERS = {
    "render-first": ("render", "generate", "derender"),
    "generate-first": ("generate", "render", "derender"),
    "derender-first": ("derender", "generate", "render"),
}
RULES = requirement(
    "upgrade.rolling.one-ending",
    "upgrade.rolling.same-answer",
    "upgrade.rolling.no-error-of-drained-nodes",
)


def overlapped(run) -> bool:
    """Whether traffic met the replacements: enough requests, every node at work, some in flight."""
    in_flight = all(one.in_flight for one in run.replacements)
    return len(run.answers) >= REQUESTS and in_flight and not run.idle_nodes()


@RULES
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("order", ORDERS)
async def test_chat_goes_on(own_node, case_record, settings, order, direction):
    """Each request ends once, as it ends where all nodes are of a release that took part."""
    releases = pair(settings) if direction == "up" else pair(settings)[::-1]
    run = await roll(own_node, case_record, ORDERS[order], releases, TRAFFIC)
    assert told(faults(run.answers, run.unmixed)) == ""
    assert overlapped(run), run.summary()
