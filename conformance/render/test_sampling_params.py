"""Sampling parameters go through render with the values the caller gave.

Catches a node that drops, rounds, renames or defaults a sampling field, or leaks the engine's
private switches.
"""

import pytest

from conformance.support import since
from fixtures.case import Node, capabilities, own_id, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

# Every value differs from its default, and none is rounded by a binary float.
GIVEN = {
    "max_tokens": 7,
    "min_tokens": 2,
    "temperature": 0.5,
    "top_p": 0.75,
    "top_k": 3,
    "min_p": 0.125,
    "seed": 11,
    "n": 2,
    "stop": ["x", "yz"],
    "stop_token_ids": [9, 10],
    "ignore_eos": True,
    "presence_penalty": 0.25,
    "frequency_penalty": -0.5,
    "repetition_penalty": 1.25,
    "logit_bias": {"30": 1.5, "31": -2.25},
    "include_stop_str_in_output": True,
    "skip_special_tokens": False,
    "spaces_between_special_tokens": False,
    "bad_words": ["cow"],
    "allowed_token_ids": [20, 21, 30],
    "prompt_logprobs": 1,
}
EDGES = {
    "greedy": ("temperature", 0.0),
    "hot": ("temperature", 2.0),
    "small-top-p": ("top_p", 0.001),
    "top-one": ("top_k", 1),
    "seed-zero": ("seed", 0),
    "seed-of-63-bits": ("seed", 2**62),
    "stop-newline-and-unicode": ("stop", ["\n", "é"]),
    "forbidden-token": ("logit_bias", {"0": -100.0}),
    "three-choices": ("n", 3),
}
# The engine's own switches, which render may show because generate reads them back (the
# protocol does not say; their values are vLLM's for a full answer, by release).
OWN = {"output_kind", "skip_clone", "skip_reading_prefix_cache", "detokenize"}
ROUTES = {
    "chat": (
        {"messages": [{"role": "user", "content": "hello"}], "logprobs": True, "top_logprobs": 4}
    ),
    "completions": ({"prompt": "hello", "logprobs": 4}),
}


async def render(wire, route: str, **fields) -> dict:
    """One rendered request, by route."""
    call = wire.render_chat if route == "chat" else wire.render_completions
    answer = (await call({**ROUTES[route], **fields})).expect(200).json
    return answer if route == "chat" else answer[0]


@requirement("render.sampling-params.carried")
@pytest.mark.parametrize("route", ROUTES)
async def test_every_value_is_carried(wire, node, route):
    """The whole dict equals what was given, but for the engine's own switches."""
    given = dict(GIVEN)
    if route == "completions" and not since(node, "0.26.0"):
        given["bad_words"] = []  # no field of that route yet, so no value of its own
    params = (await render(wire, route, **given))["sampling_params"]
    carried = {name: value for name, value in params.items() if name not in OWN}
    assert carried == {**given, "logprobs": 4}


@requirement("render.sampling-params.carried")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("edge", EDGES)
async def test_edge_values_are_carried(wire, route, edge):
    """Zeros, extremes and text outside ASCII arrive as they were sent."""
    name, value = EDGES[edge]
    params = (await render(wire, route, max_tokens=7, **{name: value}))["sampling_params"]
    assert params[name] == value


@requirement("render.sampling-params.carried")
async def test_max_completion_tokens_is_max_tokens(wire):
    """Chat's newer name for the limit comes first and lands in the field that generate reads."""
    messages = [{"role": "user", "content": "hello"}]
    both = await wire.render_chat(messages=messages, max_completion_tokens=9, max_tokens=12)
    newer = await wire.render_chat(messages=messages, max_completion_tokens=9)
    assert [
        answer.expect(200).json["sampling_params"]["max_tokens"] for answer in (both, newer)
    ] == [9, 9]


@requirement("render.fields.carried")
@pytest.mark.parametrize("route", ROUTES)
async def test_fields_outside_sampling_are_carried(wire, route):
    """Model, cache salt and priority stand beside the sampling parameters, unchanged; no salt is
    null.
    """
    rendered = await render(wire, route, max_tokens=7, cache_salt=own_id("salt-é"), priority=3)
    plain = await render(wire, route, max_tokens=7)
    names = ("model", "cache_salt", "priority")
    assert [[body[name] for name in names] for body in (rendered, plain)] == [
        ["tiny", own_id("salt-é"), 3],
        ["tiny", None, 0],
    ]
