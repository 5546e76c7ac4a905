"""Token and text modes do not read the value: the server's flag alone names tokens in text mode."""

import pytest

from conformance.override.forced import PLAIN, PLAIN_TEXT, SPLIT, SPLIT_TEXT, steps, token_request
from conformance.override.support import (
    KEY,
    TRI_STATE,
    chat_logprobs,
    either_flag,
    empty_bytes_alike,
    server_flag,
    with_value,
)
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")

PLACES = pytest.mark.parametrize("place", ["parse_context", "top-level"])
VALUES = pytest.mark.parametrize("value", ["true", "false", "null"])


def with_value_at(place, value):
    """A generate body with the value where a client could put it."""
    body = token_request((SPLIT, PLAIN), logprobs=5)
    if place == "top-level":
        return with_value(body, TRI_STATE[value])
    # Without a value to send, parse_context itself is null.
    return body | {"parse_context": None if value == "null" else {KEY: TRI_STATE[value]}}


async def both(wire, engine, body):
    """The full answer's choices, and the streamed chunks' choices by index."""
    script = await engine.script(steps((SPLIT, PLAIN), logprobs=5))
    full = (await wire.generate(body, script=script)).expect(200).json["choices"]
    chunks = (await wire.generate_stream(body, script=script)).expect(200).chunks
    streamed = [choice for chunk in chunks for choice in chunk["choices"]]
    return full, [[each for each in streamed if each["index"] == index] for index in (0, 1)]


@requirement("override.modes.tokens-untouched")
@capability("integer-logprobs")
@PLACES
@VALUES
async def test_token_mode_names_no_token(wire, engine, node, place, value):
    """By any value and flag, token mode has integer ids and nothing else to name a token."""
    full, streamed = await both(wire, engine, with_value_at(place, value))
    for told, choice, chunks in zip((SPLIT, PLAIN), full, streamed, strict=True):
        entries = choice["logprobs"]["content"]
        joined = [entry for chunk in chunks for entry in chunk["logprobs"]["content"]]
        assert choice["token_ids"] == told.token_ids
        assert joined == entries
        assert [
            {key: entry[key] for key in entry if key != "top_logprobs"} for entry in entries
        ] == [
            {"token_id": each[0][0], "logprob": each[0][1], "rank": each[0][2]}
            for each in told.rows
        ]
        assert [entry["top_logprobs"] for entry in entries] == [
            [dict(zip(("token_id", "logprob", "rank"), other, strict=True)) for other in each]
            for each in told.rows
        ]


@requirement("override.modes.text-follows-server")
@capability("output-mode.text")
@PLACES
@VALUES
async def test_text_mode_follows_the_server_flag_alone(wire, engine, node, place, value):
    """Text mode has no request value: text stays text, logprobs are named by the server's flag."""
    full, streamed = await both(wire, engine, with_value_at(place, value) | {"output_mode": "text"})
    flag = server_flag(node)
    texts = (SPLIT_TEXT, PLAIN_TEXT)
    for told, text, choice, chunks in zip((SPLIT, PLAIN), texts, full, streamed, strict=True):
        joined = [entry for chunk in chunks for entry in chunk["logprobs"]["content"]]
        assert choice["text"] == "".join(chunk["text"] for chunk in chunks) == text
        assert empty_bytes_alike(choice["logprobs"]) == chat_logprobs(told.content, flag)
        assert empty_bytes_alike({"content": joined}) == chat_logprobs(told.content, flag)
