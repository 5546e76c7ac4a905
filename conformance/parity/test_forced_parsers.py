"""Reasoning and tool calls, forced: both routes make the same message of them.

Catches a split route that leaks markup, calls a tool call "stop", loses half a call, or shows
reasoning that the caller hid.
"""

import pytest

from conformance.parity.forced import streamed, whole
from conformance.parity.support import same_answer
from conformance.support import IM_END, PARSERS, WEATHER_TOOL, assembled, encode, without
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("scripted", *PARSERS), id="scripted-parsers")], indirect=True
)

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "日é", "days": 3}}\n</tool_call>'
AUTO = {"tools": [WEATHER_TOOL], "tool_choice": "auto"}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
HIDDEN = {"include_reasoning": False}
# name: (forced text, finish_reason, request fields, whether coupled sees a call)
FORCED = {
    "reasoning-and-content": ("<think>plan é</think>answer 🦊", "stop", {}, False),
    "reasoning-only": ("<think>plan é</think>", "stop", {}, False),
    "unclosed-reasoning": ("<think>plan é", "length", {}, False),
    "no-reasoning-tags": ("answer", "stop", {}, False),
    "tool-call": (f"<think>a</think>{CALL}", "stop", AUTO, True),
    "content-and-two-calls": (f"<think>a</think>b{CALL}\n{CALL}", "stop", AUTO, True),
    "unfinished-call": (f"<think>a</think>{CALL[:40]}", "length", AUTO, False),
    "call-cut-by-length": (f"<think>a</think>{CALL}", "length", AUTO, True),
    "call-nobody-asked-for": (f"<think>a</think>{CALL}", "stop", {}, False),
    "hidden-reasoning": ("<think>plan</think>answer", "stop", HIDDEN, False),
    "hidden-reasoning-and-call": (f"<think>a</think>{CALL}", "stop", {**AUTO, **HIDDEN}, True),
    "required-call": (f"<think>a</think>{CALL}", "stop", {**AUTO, "tool_choice": "required"}, True),
    "named-call": (f"<think>a</think>{CALL}", "stop", {**AUTO, "tool_choice": NAMED}, True),
}  # fmt: skip


def ids_of(name: str) -> list[int]:
    """The forced ids: the text and, unless it was cut by length, the end token."""
    text, finish = FORCED[name][:2]
    return encode(text) + ([IM_END] if finish == "stop" else [])


def without_details(answer: dict) -> dict:
    """The answer without the usage details that parity.usage.reasoning-tokens judges."""
    return {**answer, "usage": without(answer["usage"], "completion_tokens_details")}


@requirement("parity.forced.same-message")
@capability("derender.chat")
@pytest.mark.parametrize("name", FORCED)
async def test_forced_output_makes_the_same_answer(wire, name):
    """The whole body of both routes; the coupled one saw what the case is about."""
    _, finish, fields, called = FORCED[name]
    split, coupled = await whole(wire, ids_of(name), finish, **fields)
    assert bool(coupled["choices"][0]["message"].get("tool_calls")) is called
    same_answer(without_details(split), without_details(coupled))


@requirement("parity.forced.same-stream")
@capability("derender.chat.stream")
@pytest.mark.parametrize("name", FORCED)
async def test_forced_stream_assembles_to_the_same(wire, name):
    """Token by token: what the deltas of both streams add up to."""
    _, finish, fields, _ = FORCED[name]
    split, coupled = await streamed(wire, ids_of(name), finish, **fields)
    assert assembled(split) == assembled(coupled)


@requirement("parity.usage.reasoning-tokens")
@capability("derender.chat")
async def test_reasoning_tokens_are_counted_the_same(wire):
    """completion_tokens_details tells the reasoning tokens on both routes."""
    split, coupled = await whole(wire, ids_of("reasoning-and-content"), "stop")
    assert coupled["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    same_answer(split["usage"], coupled["usage"])
