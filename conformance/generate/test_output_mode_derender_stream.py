"""Derender mode as a stream, which the protocol does not ask for: where it is served, the deltas
are the message.
"""

import json

import pytest

from conformance.generate import choices_of, refused, still_answers
from conformance.support import IM_END, PARSERS, WEATHER_TOOL, encode
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

PLAIN = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)
PARSED = pytest.mark.parametrize(
    "node", [pytest.param(Node("scripted", *PARSERS), id="qwen3-hermes")], indirect=True
)
SERVED = capability("output-mode.derender.stream")

MESSAGES = [{"role": "user", "content": "weather in Paris?"}]
ARGUMENTS = json.dumps({"city": "Paris", "days": 2})
CALL = f'<tool_call>\n{{"name": "get_weather", "arguments": {ARGUMENTS}}}\n</tool_call>'
TEXTS = {
    "content": "Sunny, 日本 café.",
    "reasoning": "<think>It rains, naïve.</think>Sunny.",
    "call": CALL,
    "reasoning-and-call": f"<think>It rains.</think>{CALL}",
}
EACH_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
EACH_SIZE = pytest.mark.parametrize(
    "size", [1, 3, 1000], ids=["id-each", "three-ids-each", "at-once"]
)


def ids_of(text):
    return [*encode(text), IM_END]


async def script(engine, ids, size):
    steps = [ids[at : at + size] for at in range(0, len(ids), size)]
    last = output(token_ids=steps[-1], finish_reason="stop")
    return await engine.script([*(output(token_ids=step) for step in steps[:-1]), last])


def message_of(choices):
    """The message that a client puts together from deltas; the finish reason; the ids."""
    content, reasoning, calls, ids, finish = "", "", {}, [], None
    for choice in choices:
        assert finish is None, "a chunk after the end"
        delta = choice["delta"]
        content += delta.get("content") or ""
        reasoning += delta.get("reasoning") or ""
        for part in delta.get("tool_calls") or []:
            call = calls.setdefault(part["index"], {"name": "", "arguments": ""})
            function = part.get("function") or {}
            call["name"] += function.get("name") or ""
            call["arguments"] += function.get("arguments") or ""
        ids += choice["token_ids"] or []
        finish = choice["finish_reason"]
    return (
        content,
        reasoning,
        [(call["name"], json.loads(call["arguments"])) for call in calls.values()],
        finish,
        ids,
    )


def full_message(choice):
    message = choice["message"]
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or []
    ]
    return (
        message["content"] or "",
        message["reasoning"] or "",
        calls,
        choice["finish_reason"],
        choice["token_ids"],
    )


@PARSED
@SERVED
@requirement("generate.output-mode.derender.stream-equals-full")
@EACH_TEXT
@EACH_SIZE
async def test_deltas_join_to_the_full_message(wire, engine, text, size):
    """However the ids are cut, the deltas put together are the message of the full answer, ids and
    end too.
    """
    chat = {"messages": MESSAGES, "max_tokens": 200, "tools": [WEATHER_TOOL], "tool_choice": "auto"}
    request = (await wire.render_chat(**chat)).expect(200).json
    sent = {**request, "output_mode": "derender"}
    full = await wire.generate(sent, script=await script(engine, ids_of(text), 1000))
    stream = await wire.generate_stream(sent, script=await script(engine, ids_of(text), size))
    assert message_of(choices_of(stream)) == full_message(full.expect(200).json["choices"][0])
    assert stream.done and {chunk["output_mode"] for chunk in stream.chunks} == {"derender"}


@PLAIN
@SERVED
@requirement("generate.output-mode.derender.stream-equals-full")
@EACH_SIZE
async def test_plain_text_without_a_parser(wire, engine, size):
    """On a server without a parser the content deltas join to the text, the role comes
    once, first.
    """
    ids = ids_of(TEXTS["content"])
    sent = {
        "token_ids": [20, 21],
        "sampling_params": {"max_tokens": 200},
        "output_mode": "derender",
    }
    choices = choices_of(await wire.generate_stream(sent, script=await script(engine, ids, size)))
    assert message_of(choices) == (TEXTS["content"], "", [], "stop", ids)
    roles = [choice["delta"].get("role") for choice in choices]
    assert roles == ["assistant"] + [None] * (len(choices) - 1)


@PLAIN
@requirement("generate.output-mode.derender.stream-served-or-refused")
@pytest.mark.parametrize("context", [None, {}], ids=["no-context", "empty-context"])
async def test_stream_is_served_or_refused(wire, engine, context):
    """A derender stream is either an event stream at that level or a 400: never tokens, never one
    JSON body.
    """
    ids = ids_of("Sunny.")
    sent = {
        "token_ids": [20, 21],
        "sampling_params": {"max_tokens": 200},
        "output_mode": "derender",
    }
    answer = await wire.generate_stream(
        {**sent, "parse_context": context}, script=await script(engine, ids, 1)
    )
    if answer.status == 400:
        refused(answer)
    else:
        modes = {chunk.get("output_mode") for chunk in answer.expect(200).chunks}
        assert modes == {"derender"} and answer.done
        assert message_of(choices_of(answer)) == ("Sunny.", "", [], "stop", ids)
    await still_answers(wire)
