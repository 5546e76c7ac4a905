"""Through parsers the state holds what another node needs to go on: every id, chunk by chunk.

Catches a node that keeps ids to itself, forgets where the chunks ended, or lets the context of
logprobs grow.
"""

import pytest

from conformance.support import (
    IM_END,
    OPEN_PROMPT,
    PARSERS,
    WEATHER_TOOL,
    assembled,
    chunk,
    chunks,
    derender_each,
    encode,
    logprob_entry,
)
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", *PARSERS), id="real-parsers")], indirect=True
)

REQUEST = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [WEATHER_TOOL],
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "é", "days": 3}}\n</tool_call>'
NAMED = {"type": "function", "function": {"name": "get_weather"}}


async def states(wire, stream: list[dict], **fields) -> list[dict]:
    """The state after each chunk."""
    answers = await derender_each(
        wire.derender_chat, stream, chat_request={**REQUEST, **fields}, prompt_token_ids=OPEN_PROMPT
    )
    return [answer.json["stream_state"] for answer in answers]


@requirement("derender.parser.stream-state")
@capability("derender.chat.stream")
@capability("integer-logprobs")  # the lengths of the chunks are in the state from that release on
async def test_state_has_every_id_and_the_chunk_lengths(wire):
    """Chunks of one, three and the remaining ids; a chunk without ids leaves no length."""
    ids = encode("<think>plan é</think>answer")
    pieces = [ids[:1], ids[1:4], ids[4:]]
    found = await states(wire, [*map(chunk, pieces), chunk([], "stop")])
    sofar = [ids[:1], ids[:4], ids, ids]
    assert [state["output_token_ids"] for state in found] == sofar
    lengths = [1, 3, len(ids) - 4]
    assert [state["output_chunk_lens"] for state in found] == [
        lengths[:1], lengths[:2], lengths, lengths,
    ]  # fmt: skip


@requirement("derender.parser.stream-logprob-context")
@capability("derender.chat.stream")
@capability("integer-logprobs")
async def test_context_of_logprobs_stays_at_four_ids(wire, node):
    """However long the stream, its logprobs need the last four ids only."""
    ids = encode("<think>plan é🦊</think>answer")
    stream = chunks([[token_id] for token_id in ids])
    for part, token_id in zip(stream, ids, strict=True):
        entry = logprob_entry(node, token_id, [(token_id, -0.5)])
        part["choices"][0]["logprobs"] = {"content": [entry]}
    found = await states(wire, stream, logprobs=True)
    assert [state["logprob_context_token_ids"] for state in found] == [
        ids[max(0, end - 4) : end] for end in range(1, len(ids) + 1)
    ]


@requirement("derender.parser.stream-finish-reason")
@capability("derender.chat.stream")
@pytest.mark.parametrize(("choice", "finish"), [("auto", "tool_calls"), (NAMED, "stop")])
async def test_named_tool_choice_keeps_stop(wire, choice, finish):
    """A call nobody forced ends with tool_calls; of a named one the finish reason stays stop."""
    stream = chunks([[own] for own in [*encode(f"<think>a</think>{CALL}"), IM_END]], "stop")
    answers = await derender_each(
        wire.derender_chat,
        stream,
        chat_request={**REQUEST, "tool_choice": choice},
        prompt_token_ids=OPEN_PROMPT,
    )
    message = assembled([answer.json["chunk"] for answer in answers])
    assert message["finish_reason"] == finish
    assert [call["name"] for call in message["tool_calls"]] == ["get_weather"]
