"""output_mode="derender": the value render put into parse_context, else the server's flag."""

import pytest

from conformance.override.forced import (
    CHAT_WITH_LOGPROBS,
    PLAIN,
    PLAIN_TEXT,
    PROMPT,
    SPLIT,
    SPLIT_TEXT,
    steps,
    token_request,
)
from conformance.override.support import (
    KEY,
    TRI_STATE,
    by_placeholder,
    chat_logprobs,
    either_flag,
    empty_bytes_alike,
    server_flag,
    with_value,
)
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")


async def check(wire, engine, node, body, value):
    """The body, answered with two choices in derender mode: logprobs by the rule, text as text."""
    body["sampling_params"]["n"] = 2
    script = await engine.script(steps((SPLIT, PLAIN), logprobs=5))
    answer = await wire.generate({**body, "output_mode": "derender"}, script=script)
    choices = answer.expect(200).json["choices"]
    as_ids = by_placeholder(value, server_flag(node))
    assert [choice["message"]["content"] for choice in choices] == [SPLIT_TEXT, PLAIN_TEXT]
    assert [choice["token_ids"] for choice in choices] == [SPLIT.token_ids, PLAIN.token_ids]
    assert [empty_bytes_alike(choice["logprobs"]) for choice in choices] == [
        chat_logprobs(SPLIT.content, as_ids),
        chat_logprobs(PLAIN.content, as_ids),
    ]


async def rendered(wire, value):
    """The chat request with the value, rendered by the node itself."""
    answer = await wire.render_chat(with_value(CHAT_WITH_LOGPROBS, TRI_STATE[value]))
    return answer.expect(200).json


@requirement("override.derender-mode.explicit-wins")
@capability("output-mode.derender")
@pytest.mark.parametrize("value", ["true", "false"])
async def test_an_explicit_value_travels_and_wins(wire, engine, node, value):
    """The rendered value decides, whatever the generate server's flag says."""
    await check(wire, engine, node, await rendered(wire, value), TRI_STATE[value])


@requirement("override.derender-mode.unset-follows-server")
@capability("output-mode.derender")
@pytest.mark.parametrize("value", ["null", "absent"])
async def test_a_request_without_a_value_follows_the_server_flag(wire, engine, node, value):
    """A rendered request that says nothing falls back to the generate server's flag."""
    await check(wire, engine, node, await rendered(wire, value), TRI_STATE[value])


HAND_MADE = {
    "no-parse-context": {},
    "null-parse-context": {"parse_context": None},
    "empty-parse-context": {"parse_context": {}},
}


@requirement("override.derender-mode.no-context-follows-server")
@capability("output-mode.derender")
@pytest.mark.parametrize("fields", HAND_MADE)
async def test_without_the_key_in_parse_context_the_server_flag_decides(wire, engine, node, fields):
    """A client that renders by itself may leave parse_context out: the server has no parser."""
    body = token_request((SPLIT, PLAIN), logprobs=5) | HAND_MADE[fields]
    await check(wire, engine, node, body, value=None)


@requirement("override.parse-context.null-is-absent")
@capability("output-mode.derender")
async def test_an_explicit_null_in_parse_context_is_as_absent(wire, engine, node):
    """An upgraded generate server takes the key's null from a client that does not omit it."""
    body = token_request((SPLIT, PLAIN), logprobs=5) | {"parse_context": {KEY: None}}
    await check(wire, engine, node, body, value=None)


@requirement("override.derender-mode.no-logprobs-stay-null")
@capability("output-mode.derender")
@pytest.mark.parametrize("value", TRI_STATE)
async def test_a_value_does_not_make_logprobs(wire, engine, node, value):
    """A request without logprobs has none, whatever the value."""
    body = token_request((PLAIN,), logprobs=None)
    body["parse_context"] = with_value({}, TRI_STATE[value])
    if value == "null":
        # Null in parse_context is its own rule, above.
        body["parse_context"] = None
    script = await engine.script(steps((PLAIN,), logprobs=None))
    answer = await wire.generate({**body, "output_mode": "derender"}, script=script)
    choice = answer.expect(200).json["choices"][0]
    assert (choice["message"]["content"], choice["logprobs"]) == (PLAIN_TEXT, None)


@requirement("override.derender-mode.other-keys-do-not-decide")
@capability("output-mode.derender")
@pytest.mark.parametrize("place", ["top-level", "sampling_params", "extra_args"])
async def test_a_value_outside_parse_context_does_not_decide(wire, engine, node, place):
    """The value travels in parse_context alone; elsewhere the key is unknown, and ignored."""
    body = token_request((SPLIT, PLAIN), logprobs=5)
    opposite = {KEY: not server_flag(node)}
    if place == "top-level":
        body |= opposite
    elif place == "sampling_params":
        body["sampling_params"] |= opposite
    else:
        body["sampling_params"]["extra_args"] = opposite
    assert body["token_ids"] == PROMPT
    await check(wire, engine, node, body, value=None)
