"""The rendered body has exactly its release's keys, each null unless it has something to say.

Catches a node that drops a null key (absent and null differ for a strict reader), sends a key of
another release, or fills one by default.
"""

import pytest

from conformance.support import since, without
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

MESSAGES = [{"role": "user", "content": "hello"}]
# What every release says of a plain request (EVOLUTION 3.1).
COMMON = {
    "features": None,
    "model": "tiny",
    "stream": False,
    "stream_options": None,
    "cache_salt": None,
    "priority": 0,
    "kv_transfer_params": None,
}
# release: the keys that came with it
LATER = {
    "0.25.1": {"token_offsets": None, "assistant_tokens_mask": None},
    "0.26.0": {"ec_transfer_params": None},
    "0.28.0": {"content_parts": None},
    "0.30.0": {"return_token_ids": None},
    "0.32.0": {"output_mode": "tokens", "reasoning_ended": None, "reasoning_parser_kwargs": None},
    "0.33.0": {"parse_context": None},
}


def expected(node) -> dict:
    """The whole body but for what varies by request."""
    body = dict(COMMON)
    for release, keys in LATER.items():
        if since(node, release):
            body |= keys
    if since(node, "0.31.0"):
        del body["assistant_tokens_mask"]  # CASES 65
    return body


@requirement("render.body.exact-keys")
async def test_completions_body_is_exact(wire, node):
    """Nothing but the known keys, compared as a whole."""
    body = (await wire.render_completions(prompt="hello")).expect(200).json[0]
    assert without(body, "request_id", "token_ids", "sampling_params") == expected(node)


@requirement("render.body.exact-keys")
async def test_chat_body_is_exact(wire, node):
    """The same for chat; from 0.33 on with the context that derender mode needs."""
    body = (await wire.render_chat(messages=MESSAGES)).expect(200).json
    context = body.pop("parse_context", None)
    assert without(body, "request_id", "token_ids", "sampling_params") == without(
        expected(node), "parse_context"
    )
    if since(node, "0.33.0"):
        assert without(context, "chat_template_kwargs") == {
            "tools": None,
            "tool_choice": "none",
            "parallel_tool_calls": True,
            "include_reasoning": True,
            "history_tool_call_cnt": 0,
        }
        assert isinstance(context["chat_template_kwargs"], dict)
    else:
        assert context is None


@requirement("render.transfer-params.carried")
@pytest.mark.parametrize("route", ["chat", "completions"])
async def test_transfer_params_are_carried_once(wire, node, route):
    """kv_transfer_params arrive unchanged, at the place the release has for them, and nowhere else.

    From 0.33 on that is the top level; before, sampling_params.extra_args (EVOLUTION 4.2).
    """
    params = {"do_remote_decode": True, "blocks": [1, None, {"é": 0.5}]}
    if route == "chat":
        body = (
            (await wire.render_chat(messages=MESSAGES, kv_transfer_params=params)).expect(200).json
        )
    else:
        answer = await wire.render_completions(prompt="hello", kv_transfer_params=params)
        body = answer.expect(200).json[0]
    places = (body["kv_transfer_params"], body["sampling_params"].get("extra_args"))
    if since(node, "0.33.0"):
        assert places == (params, None)
    else:
        assert places == (None, {"kv_transfer_params": params})
