"""cache_salt on its way from render: prompts under different salts share nothing in the cache.

Catches a split route that loses the salt, so that one tenant can time another's prompts.
"""

import uuid

import pytest

from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize(
        "node", [Node("real", "--enable-prompt-tokens-details")], indirect=True
    ),
    *capabilities("render.chat", "render.completions"),
]

TEXT = "the quick brown fox jumps over the lazy dog " * 12


async def cached(wire, route: str, salt: str) -> int:
    """How many tokens of the rendered prompt were in the cache."""
    if route == "chat":
        call = wire.render_chat(messages=[{"role": "user", "content": TEXT}], cache_salt=salt)
        rendered = (await call).expect(200).json
    else:
        (rendered,) = (await wire.render_completions(prompt=TEXT, cache_salt=salt)).expect(200).json
    rendered["sampling_params"] |= {"max_tokens": 1}
    usage = (await wire.generate(rendered)).expect(200).json["usage"]
    assert usage["prompt_tokens"] == len(rendered["token_ids"]) > 128
    return usage["prompt_tokens_details"]["cached_tokens"]


@requirement("service.cache-salt.by-way-of-render")
@pytest.mark.parametrize("route", ["chat", "completions"])
async def test_a_salt_has_its_own_cache(wire, route):
    """Nothing is cached under a new salt, something under the same again, nothing under another."""
    mine, other = uuid.uuid4().hex, uuid.uuid4().hex
    assert await cached(wire, route, mine) == 0
    assert await cached(wire, route, mine) > 0
    assert await cached(wire, route, other) == 0
