"""A generate node that does not know the key: stock vLLM, fed by an upgraded render node."""

import pytest

from conformance.override.forced import CHAT_WITH_LOGPROBS, SPLIT, SPLIT_TEXT, steps
from conformance.override.support import (
    KEY,
    TRI_STATE,
    chat_logprobs,
    either_flag,
    empty_bytes_alike,
    with_value,
)
from fixtures.case import Node, capability, requirement

pytestmark = either_flag("scripted")

OLDER = Node("scripted", implementation="stock")


async def rendered(wire, value):
    """The chat request with the value, rendered by the upgraded node."""
    request = with_value(CHAT_WITH_LOGPROBS, TRI_STATE[value])
    return (await wire.render_chat(request)).expect(200).json


@requirement("override.parse-context.older-node-takes-unset")
@capability("output-mode.derender")
@pytest.mark.parametrize("value", ["null", "absent"])
async def test_an_older_node_takes_a_request_without_a_value(wire, lease, value):
    """Nothing in the default body is new, so the older node answers it by its own flag."""
    older = await lease(OLDER)
    script = await older.engine.script(steps((SPLIT,), logprobs=5))
    body = await rendered(wire, value) | {"output_mode": "derender"}
    choice = (await older.generate(body, script=script)).expect(200).json["choices"][0]
    assert choice["message"]["content"] == SPLIT_TEXT
    assert empty_bytes_alike(choice["logprobs"]) == chat_logprobs(SPLIT.content, as_ids=False)


@requirement("override.parse-context.older-node-refuses-explicit")
@capability("output-mode.derender")
@pytest.mark.parametrize("value", ["true", "false"])
async def test_an_older_node_refuses_an_explicit_value(wire, lease, value):
    """It cannot honour the value and says so before it generates: a 400 with key and cause."""
    older = await lease(OLDER)
    script = await older.engine.script(steps((SPLIT,), logprobs=5))
    body = await rendered(wire, value) | {"output_mode": "derender"}
    answer = (await older.generate(body, script=script)).expect(400)
    message = answer.json["error"]["message"]
    assert KEY in message
    assert "render server is newer than this generate server" in message
    assert await older.engine.calls(script) == []


@requirement("override.parse-context.older-node-ignores-in-other-modes")
@capability("output-mode.derender")
@pytest.mark.parametrize("value", TRI_STATE)
@pytest.mark.parametrize("mode", ["tokens", "text"])
async def test_an_older_node_takes_any_value_in_other_modes(wire, lease, value, mode):
    """parse_context is not read there, so a rendered request can go to a prefill leg unchanged."""
    older = await lease(OLDER)
    script = await older.engine.script(steps((SPLIT,), logprobs=5))
    body = await rendered(wire, value) | {"output_mode": mode}
    choice = (await older.generate(body, script=script)).expect(200).json["choices"][0]
    assert choice["token_ids"] == SPLIT.token_ids
    assert choice.get("text") == (SPLIT_TEXT if mode == "text" else None)


@requirement("override.parse-context.unknown-key-refused")
@capability("output-mode.derender")
@pytest.mark.parametrize("unknown", ["return_tokens_as_ids", "Return_Tokens_As_Token_Ids", "x"])
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_another_unknown_key_is_still_refused(wire, engine, unknown, stream):
    """Knowing one more key must not open the door for the next one: a 400 that names it."""
    script = await engine.script(steps((SPLIT,), logprobs=5))
    body = await rendered(wire, "absent") | {"output_mode": "derender", "stream": stream}
    body["parse_context"][unknown] = True
    message = (await wire.generate(body, script=script)).expect(400).json["error"]["message"]
    assert unknown in message
    assert await engine.calls(script) == []


@requirement("override.parse-context.unknown-key-ignored-in-other-modes")
@capability("output-mode.derender")
@pytest.mark.parametrize("mode", ["tokens", "text"])
async def test_an_unknown_key_is_ignored_in_other_modes(wire, engine, mode):
    """Stock vLLM ignores it there with one warning, and so must a server that knows the new key."""
    script = await engine.script(steps((SPLIT,), logprobs=5))
    body = await rendered(wire, "absent") | {"output_mode": mode}
    body["parse_context"]["of_a_newer_render"] = {"any": ["thing"]}
    answer = (await wire.generate(body, script=script)).expect(200)
    assert answer.json["choices"][0]["token_ids"] == SPLIT.token_ids
