"""A sampling field counts as given only where its own key stands in the JSON text.

Catches a node that takes one given field for all of them, fills a default in before it looks, or
looks for the key in the text instead of in the parsed object.
"""

import json

import pytest

from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

PROMPT = [20, 21, 22]
# Each field alone, at the value it has when it is left out.
DEFAULTS = {
    "n": 1, "temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "min_tokens": 0,
    "seed": None, "stop": None, "stop_token_ids": None, "ignore_eos": False, "logprobs": None,
    "prompt_logprobs": None, "detokenize": True, "presence_penalty": 0.0,
    "frequency_penalty": 0.0, "repetition_penalty": 1.0, "skip_special_tokens": True,
}  # fmt: skip
# Sampling parameters as text; each gives max_tokens: 16, which is the parsed default.
TEXTS = {
    "last-of-two": '{"max_tokens": 5, "max_tokens": 16}',
    "escaped": r'{"max\u005ftokens": 16}',
    "spread": '\n{\t"max_tokens"\r\n :\n 16 }',
    "after-others": '{"stop": ["max_tokens"], "temperature": 1.0, "max_tokens": 16}',
}
# These name it and do not give it.
NOT_GIVEN = {
    "in-a-string": '{"stop": ["\\"max_tokens\\": 16"]}',
    "in-an-object": '{"extra_args": {"max_tokens": 16}}',
    "another-case": '{"Max_Tokens": 16}',
}


async def limit(wire, engine, body) -> int:
    """max_tokens as it reached the engine."""
    name = await engine.script(None)
    (await wire.generate(body, script=name)).expect(200)
    (call,) = [call for call in await engine.calls(name) if call["event"] == "generate"]
    return call["max_tokens"]


def body(sampling: str) -> bytes:
    return f'{{"model": "tiny", "token_ids": {PROMPT}, "sampling_params": {sampling}}}'.encode()


@requirement("schema.requests.provided-per-field")
@pytest.mark.parametrize("name", DEFAULTS)
async def test_one_given_field_gives_no_other(wire, engine, node, name):
    """With each other field given, max_tokens is still left out, and 16 is still 16 (GEN-06)."""
    given = {name: DEFAULTS[name]}
    alone = await limit(wire, engine, body(json.dumps(given)))
    both = await limit(wire, engine, body(json.dumps({**given, "max_tokens": 16})))
    assert (alone, both) == (node.max_model_len - len(PROMPT), 16)


@requirement("schema.requests.provided-in-json")
@pytest.mark.parametrize("name", TEXTS)
async def test_a_field_is_given_however_it_is_written(wire, engine, name):
    """The key counts as JSON reads it (GEN-07)."""
    assert await limit(wire, engine, body(TEXTS[name])) == 16


@requirement("schema.requests.provided-in-json")
@pytest.mark.parametrize("name", NOT_GIVEN)
async def test_a_field_that_is_only_named_is_not_given(wire, engine, node, name):
    """Text that looks like the key, in another place, gives nothing."""
    assert await limit(wire, engine, body(NOT_GIVEN[name])) == node.max_model_len - len(PROMPT)
