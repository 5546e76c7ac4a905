"""max_tokens means the same by way of render and generate as on the coupled route.

Catches a render node that leaves out a value equal to some default (16), and a generate node
that then fills the context; and the opposite, a node that caps an omitted limit at 16.
"""

import pytest

from conformance.support import encode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

MESSAGES = [{"role": "user", "content": "hello world"}]
GREEDY = {"temperature": 0, "ignore_eos": True}


async def produced(wire, rendered: dict) -> tuple[int, str]:
    """(tokens generated, finish_reason) of a rendered request."""
    (choice,) = (await wire.generate(rendered)).expect(200).json["choices"]
    return len(choice["token_ids"]), choice["finish_reason"]


@requirement("render.max-tokens.explicit-kept")
@pytest.mark.parametrize("max_tokens", [1, 15, 16, 17])
async def test_explicit_chat_limit_is_kept(wire, max_tokens):
    """Exactly as many tokens as the caller asked for, coupled and in steps."""
    request = {"messages": MESSAGES, "max_tokens": max_tokens, **GREEDY}
    coupled = (await wire.chat(request)).expect(200).json["usage"]["completion_tokens"]
    rendered = (await wire.render_chat(request)).expect(200).json
    assert coupled == max_tokens
    assert await produced(wire, rendered) == (max_tokens, "length")


@requirement("render.max-tokens.explicit-kept")
@pytest.mark.parametrize("max_tokens", [1, 15, 16, 17])
async def test_explicit_completions_limit_is_kept(wire, max_tokens):
    """The same for completions."""
    request = {"prompt": "hello world", "max_tokens": max_tokens, **GREEDY}
    coupled = (await wire.completions(request)).expect(200).json["usage"]["completion_tokens"]
    rendered = (await wire.render_completions(request)).expect(200).json[0]
    assert coupled == max_tokens
    assert await produced(wire, rendered) == (max_tokens, "length")


@requirement("render.max-tokens.omitted-as-coupled")
async def test_omitted_chat_limit_fills_the_context(wire, node):
    """Chat without a limit runs to the end of the context on both routes."""
    request = {"messages": MESSAGES, **GREEDY}
    coupled = (await wire.chat(request)).expect(200).json["usage"]
    rendered = (await wire.render_chat(request)).expect(200).json
    room = node.max_model_len - len(rendered["token_ids"])
    assert coupled["completion_tokens"] == room
    assert await produced(wire, rendered) == (room, "length")


@requirement("render.max-tokens.omitted-as-coupled")
async def test_omitted_completions_limit_is_sixteen(wire):
    """Completions without a limit give OpenAI's default of 16 tokens on both routes."""
    request = {"prompt": "hello world", **GREEDY}
    coupled = (await wire.completions(request)).expect(200).json["usage"]["completion_tokens"]
    rendered = (await wire.render_completions(request)).expect(200).json[0]
    assert coupled == 16
    assert await produced(wire, rendered) == (16, "length")


@requirement("render.max-tokens.within-the-context")
@pytest.mark.parametrize("short", [0, 1])
async def test_limit_within_the_context_is_kept(wire, node, short):
    """A limit up to the whole rest of the context is produced on both routes."""
    prompt = encode("hello world")
    limit = node.max_model_len - len(prompt) - short
    request = {"prompt": prompt, "max_tokens": limit, **GREEDY}
    coupled = (await wire.completions(request)).expect(200).json["usage"]["completion_tokens"]
    rendered = (await wire.render_completions(request)).expect(200).json[0]
    assert coupled == limit
    assert await produced(wire, rendered) == (limit, "length")


@requirement("render.max-tokens.within-the-context")
async def test_limit_beyond_the_context_is_treated_alike(wire, node):
    """One more than the rest of the context is cut to it, or refused, by both routes alike.

    The protocol leaves the choice: releases up to 0.28 refuse, later ones cut.
    """
    prompt = encode("hello world")
    room = node.max_model_len - len(prompt)
    request = {"prompt": prompt, "max_tokens": room + 1, **GREEDY}
    coupled, rendered = await wire.completions(request), await wire.render_completions(request)
    if coupled.status == 400:
        rendered.expect(400)
    else:
        assert coupled.expect(200).json["usage"]["completion_tokens"] == room
        assert await produced(wire, rendered.expect(200).json[0]) == (room, "length")


@requirement("render.max-tokens.within-the-context")
async def test_limit_beyond_the_model_is_refused(wire, node):
    """More than the model's whole context is a 400 on both routes; what fits is taken."""
    request = {"prompt": "hello world", **GREEDY}
    for limit, status in ((node.max_model_len - 20, 200), (node.max_model_len + 1, 400)):
        (await wire.completions(request, max_tokens=limit)).expect(status)
        (await wire.render_completions(request, max_tokens=limit)).expect(status)
