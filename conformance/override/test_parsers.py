"""With a reasoning and a tool parser: logprobs are renamed, the parsed message is not."""

import json

import pytest

from conformance.override.forced import (
    CHAT_WITH_LOGPROBS,
    Choice,
    derender_chunks,
    generate,
    generate_chunks,
    steps,
)
from conformance.override.support import (
    TRI_STATE,
    by_placeholder,
    byte_ids,
    chat_logprobs,
    either_flag,
    empty_bytes_alike,
    row,
    server_flag,
    with_value,
)
from conformance.support import PARSERS
from fixtures.case import capability, requirement

pytestmark = [
    either_flag("scripted", *PARSERS),
    pytest.mark.parametrize("value", TRI_STATE),
]

THINK, END_THINK, TOOL_CALL, END_TOOL_CALL = 3, 4, 5, 6
ARGUMENTS = {"at": "\u00e9"}
CALL = json.dumps({"name": "look", "arguments": ARGUMENTS}, ensure_ascii=False)
IDS = [
    THINK, *byte_ids("so \u20ac"), END_THINK, *byte_ids("ok\u00e9"),
    TOOL_CALL, *byte_ids(f"\n{CALL}\n"), END_TOOL_CALL,
]  # fmt: skip
WIDTHS = (1, 4, 2, 1, 3, *[1] * 8, *[5] * ((len(IDS) - 19) // 5), (len(IDS) - 19) % 5)
ANSWER = Choice(IDS, [row(i, [40, 41], rank=2) for i in IDS], tuple(w for w in WIDTHS if w))
REQUEST = CHAT_WITH_LOGPROBS | {
    "top_logprobs": 3,
    "max_tokens": 200,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "look",
                "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
            },
        }
    ],
}
HIDDEN = REQUEST | {"include_reasoning": False}


def parsed(message):
    """What the parsers made of the text, without the tool call's random id."""
    calls = [call["function"] for call in message["tool_calls"]]
    return {
        "reasoning": message["reasoning"],
        "content": message["content"],
        "calls": [(call["name"], json.loads(call["arguments"])) for call in calls],
    }


def joined(deltas):
    """A streamed message, from its deltas."""
    calls: dict[int, dict] = {}
    for call in (call for delta in deltas for call in delta.get("tool_calls") or []):
        held = calls.setdefault(call["index"], {"name": "", "arguments": ""})
        for key, part in call["function"].items():
            held[key] += part or ""
    return {
        "reasoning": "".join(delta.get("reasoning") or "" for delta in deltas) or None,
        "content": "".join(delta.get("content") or "" for delta in deltas) or None,
        "tool_calls": [{"function": call} for _, call in sorted(calls.items())],
    }


EXPECTED = {"reasoning": "so \u20ac", "content": "ok\u00e9", "calls": [("look", ARGUMENTS)]}


def expected_chunks(as_ids):
    """The logprobs of each chunk."""
    return [
        chat_logprobs(content, as_ids, top=3, history=history)
        for history, _, content in ANSWER.chunks()
    ]


async def rendered(wire, request, value, **fields):
    """The request with the value, rendered, for derender mode."""
    answer = await wire.render_chat(with_value(request, TRI_STATE[value]), **fields)
    return answer.expect(200).json | {"output_mode": "derender"}


@requirement("override.parsers.derender-chat")
@capability("derender.chat")
async def test_a_parsed_chat_keeps_its_message(wire, engine, node, value):
    """Reasoning, content and tool call are text by any value; the logprobs follow the rule."""
    prompt = (await wire.render_chat(REQUEST)).expect(200).json["token_ids"]
    response = await generate(wire, engine, ANSWER, logprobs=3, return_token_ids=True)
    answer = await wire.derender_chat(
        generate_response=response,
        chat_request=with_value(REQUEST, TRI_STATE[value]),
        prompt_token_ids=prompt,
    )
    choice = answer.expect(200).json["choices"][0]
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    assert parsed(choice["message"]) == EXPECTED
    assert empty_bytes_alike(choice["logprobs"]) == chat_logprobs(ANSWER.content, as_ids, top=3)


@requirement("override.parsers.derender-chat.stream")
@capability("derender.chat.stream.logprobs")
async def test_a_parsed_stream_names_tokens_in_every_chunk(wire, engine, node, value):
    """A chunk whose text the parser withholds still names its tokens."""
    prompt = (await wire.render_chat(REQUEST)).expect(200).json["token_ids"]
    chunks = await generate_chunks(wire, engine, ANSWER, logprobs=3)
    request = with_value(REQUEST, TRI_STATE[value])
    answers = await derender_chunks(
        wire.derender_chat, chunks, chat_request=request, prompt_token_ids=prompt
    )
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    choices = [answer["choices"][0] for answer in answers]
    assert [empty_bytes_alike(choice["logprobs"]) for choice in choices] == expected_chunks(as_ids)
    assert parsed(joined([choice["delta"] for choice in choices])) == EXPECTED


@requirement("override.parsers.derender-mode")
@capability("output-mode.derender")
async def test_derender_mode_keeps_its_message(wire, engine, node, value):
    """The same in generate's own derender mode."""
    script = await engine.script(steps((ANSWER,), logprobs=3))
    answer = await wire.generate(await rendered(wire, REQUEST, value), script=script)
    choice = answer.expect(200).json["choices"][0]
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    assert parsed(choice["message"]) == EXPECTED
    assert empty_bytes_alike(choice["logprobs"]) == chat_logprobs(ANSWER.content, as_ids, top=3)


@requirement("override.parsers.derender-mode.stream")
@capability("output-mode.derender.stream")
async def test_streamed_derender_mode_keeps_its_message(wire, engine, node, value):
    """The same chunk by chunk: one for each engine step, also where the parser withholds text."""
    body = await rendered(wire, REQUEST, value, stream=True)
    script = await engine.script(steps((ANSWER,), logprobs=3))
    chunks = (await wire.generate_stream(body, script=script)).expect(200).chunks
    choices = [chunk["choices"][0] for chunk in chunks]
    as_ids = by_placeholder(TRI_STATE[value], server_flag(node))
    assert [choice["token_ids"] for choice in choices] == [ids for _, ids, _ in ANSWER.chunks()]
    assert [empty_bytes_alike(choice["logprobs"]) for choice in choices] == expected_chunks(as_ids)
    assert parsed(joined([choice["delta"] for choice in choices])) == EXPECTED


@requirement("override.parsers.hidden-reasoning-stays-hidden")
@capability("output-mode.derender")
async def test_no_value_brings_hidden_reasoning_back(wire, engine, node, value):
    """With include_reasoning=false there are no logprobs: placeholders spell reasoning too."""
    response = await generate(wire, engine, ANSWER, logprobs=3)
    prompt = (await wire.render_chat(HIDDEN)).expect(200).json["token_ids"]
    request = with_value(HIDDEN, TRI_STATE[value])
    script = await engine.script(steps((ANSWER,), logprobs=3))
    full = await wire.derender_chat(generate_response=response, chat_request=request)
    mode = await wire.generate(await rendered(wire, HIDDEN, value), script=script)
    chunks = await derender_chunks(
        wire.derender_chat,
        await generate_chunks(wire, engine, ANSWER, logprobs=3),
        chat_request=request,
        prompt_token_ids=prompt,
    )
    for answer in (full, mode):
        choice = answer.expect(200).json["choices"][0]
        assert parsed(choice["message"]) == EXPECTED | {"reasoning": None}
        assert choice["logprobs"] is None
    assert [chunk["choices"][0]["logprobs"] for chunk in chunks] == [None] * len(ANSWER.widths)


@requirement("override.parsers.hidden-reasoning-stays-hidden")
@capability("output-mode.derender.stream")
async def test_no_value_brings_hidden_reasoning_back_in_a_stream(wire, engine, node, value):
    """Neither logprobs nor ids in any chunk, and a message without reasoning."""
    body = await rendered(wire, HIDDEN, value, stream=True)
    script = await engine.script(steps((ANSWER,), logprobs=3))
    chunks = (await wire.generate_stream(body, script=script)).expect(200).chunks
    choices = [chunk["choices"][0] for chunk in chunks]
    assert {(choice["logprobs"], choice["token_ids"]) for choice in choices} == {(None, None)}
    message = joined([choice["delta"] for choice in choices])
    assert parsed(message) == EXPECTED | {"reasoning": None}
