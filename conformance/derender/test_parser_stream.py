"""Streamed through parsers, an output assembles to the same message however it is cut.

Catches a node that leaks markup at chunk borders, breaks a character between reasoning and
content, gives a tool call a new id with each chunk, or loses the call's end.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.support import (
    IM_END,
    OPEN_PROMPT,
    PARSERS,
    REPLACEMENT,
    WEATHER_TOOL,
    assembled,
    chunk,
    chunks,
    derender_each,
    encode,
    partitions,
)
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", *PARSERS), id="real-parsers")], indirect=True
)

REQUEST = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [WEATHER_TOOL],
    "tool_choice": "auto",
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "日é", "days": 3}}\n</tool_call>'
ARGUMENTS = {"city": "日é", "days": 3}
# name: (output, (reasoning, content, arguments of the calls, finish_reason))
OUTPUTS = {
    "reasoning-and-content": (
        "<think>plan é</think>answer 🦊", ("plan é", "answer 🦊", [], "stop"),
    ),
    "reasoning-and-call": (
        f"<think>plan 日</think>{CALL}", ("plan 日", "", [ARGUMENTS], "tool_calls"),
    ),
    "reasoning-content-and-call": (
        f"<think>é</think>é{CALL}", ("é", "é", [ARGUMENTS], "tool_calls"),
    ),
}  # fmt: skip


async def streamed(wire, stream: list[dict], request: dict = REQUEST) -> list[dict]:
    """The derendered chunks of `stream`."""
    answers = await derender_each(
        wire.derender_chat, stream, chat_request=request, prompt_token_ids=OPEN_PROMPT
    )
    return [answer.json["chunk"] for answer in answers]


def read(message: dict) -> tuple:
    """(reasoning, content, arguments of the calls, finish_reason) of an assembled message."""
    calls = message["tool_calls"]
    assert [(call["name"], call["ids"]) for call in calls] == [("get_weather", 1)] * len(calls)
    arguments = [json.loads(call["arguments"]) for call in calls]
    return message["reasoning"], message["content"], arguments, message["finish_reason"]


@requirement("derender.parser.stream-assembles")
@capability("derender.chat.stream")
@pytest.mark.parametrize("name", OUTPUTS)
async def test_token_by_token_assembles_to_the_message(wire, name):
    """One token a chunk: the whole message, one id per call, the role once, no broken character."""
    text, expected = OUTPUTS[name]
    found = await streamed(wire, chunks([[own] for own in [*encode(text), IM_END]], "stop"))
    assert read(assembled(found)) == expected
    roles = [choice["delta"]["role"] for part in found for choice in part["choices"]]
    assert roles == ["assistant"] + [None] * (len(found) - 1)
    assert REPLACEMENT not in json.dumps(found, ensure_ascii=False)


@requirement("derender.parser.stream-assembles")
@capability("derender.chat.stream")
@pytest.mark.parametrize("name", OUTPUTS)
@given(cuts=st.sets(st.integers(1, 60), max_size=8))
async def test_message_does_not_depend_on_the_chunking(wire, name, cuts):
    """Any partition of the ids assembles to the same message."""
    text, expected = OUTPUTS[name]
    pieces = partitions([*encode(text), IM_END], cuts)
    assert read(assembled(await streamed(wire, chunks(pieces, "stop")))) == expected


@requirement("derender.parser.stream-assembles")
@capability("derender.chat.stream")
async def test_finish_only_chunk_ends_the_call(wire):
    """The finish reason may come alone: it still says `tool_calls`, and nothing is lost."""
    text, expected = OUTPUTS["reasoning-and-call"]
    stream = [*(chunk([own]) for own in encode(text)), chunk([], "stop")]
    assert read(assembled(await streamed(wire, stream))) == expected


@requirement("derender.parser.stream-hidden-reasoning")
@capability("derender.chat.stream")
async def test_hidden_reasoning_does_not_stream(wire):
    """include_reasoning=false: content only, while the same stream shows it otherwise."""
    text, _ = OUTPUTS["reasoning-and-content"]
    stream = chunks([[own] for own in encode(text)], "stop")
    shown = assembled(await streamed(wire, stream))
    hidden = assembled(await streamed(wire, stream, {**REQUEST, "include_reasoning": False}))
    assert (shown["reasoning"], hidden["reasoning"]) == ("plan é", "")
    assert shown["content"] == hidden["content"] == "answer 🦊"
