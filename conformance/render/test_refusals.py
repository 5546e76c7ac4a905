"""What render refuses, each beside the same request that it takes.

Catches a node that answers 200 to everything, 404 to everything, or renders a body that generate
cannot run.
"""

import pytest

from conformance.support import encode
from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

CHAT = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 8}
COMPLETION = {"prompt": "hello", "max_tokens": 8}
# name: (route, what is wrong)
BAD = {
    "chat-without-messages": ("chat", {"messages": None}),
    "chat-of-no-messages": ("chat", {"messages": []}),
    "chat-with-zero-max-tokens": ("chat", {"max_tokens": 0}),
    "chat-with-negative-temperature": ("chat", {"temperature": -1}),
    "chat-with-top-p-above-one": ("chat", {"top_p": 1.5}),
    "chat-of-text-messages": ("chat", {"messages": "hello"}),
    "chat-with-beam-search": ("chat", {"use_beam_search": True}),
    "completions-without-prompt": ("completions", {"prompt": None}),
    "completions-of-an-empty-text": ("completions", {"prompt": ""}),
    "completions-of-no-prompts": ("completions", {"prompt": []}),
    "completions-with-zero-max-tokens": ("completions", {"max_tokens": 0}),
    "completions-with-top-k-below-minus-one": ("completions", {"top_k": -2}),
}


def call(wire, route: str):
    """The render call of a route."""
    return wire.render_chat if route == "chat" else wire.render_completions


@requirement("render.model.unknown-not-found")
@pytest.mark.parametrize("route", ["chat", "completions"])
async def test_unknown_model_is_not_found(wire, route):
    """404 with an error object for a model nobody serves; 200 for the served one."""
    request_body = CHAT if route == "chat" else COMPLETION
    known = (await call(wire, route)(request_body)).expect(200)
    unknown = (await call(wire, route)({**request_body, "model": "no-such-model"})).expect(404)
    assert known.request["model"] == "tiny"
    error = unknown.json["error"]
    assert {name: error[name] for name in ("type", "param", "code")} == {
        "type": "NotFoundError",
        "param": "model",
        "code": 404,
    }
    assert "no-such-model" in error["message"]


@requirement("render.refusals.bad-request")
@pytest.mark.parametrize("name", BAD)
async def test_bad_request_is_refused(wire, name):
    """400 with an error object; the same request without the fault is rendered."""
    route, fault = BAD[name]
    good = CHAT if route == "chat" else COMPLETION
    (await call(wire, route)(good)).expect(200)
    refused = (await call(wire, route)({**good, **fault})).expect(400)
    assert refused.json["error"]["code"] == 400


@requirement("render.refusals.too-long")
@pytest.mark.parametrize("length", [511, 512, 513])
async def test_prompt_that_leaves_no_room_is_refused(wire, node, length):
    """A prompt must leave one token of the context; 400 otherwise, before generate sees it."""
    answer = await wire.render_completions(prompt=[20] * length, max_tokens=1)
    if length < node.max_model_len:
        assert answer.expect(200).json[0]["token_ids"] == [20] * length
    else:
        assert answer.expect(400).json["error"]["code"] == 400


@requirement("render.refusals.bad-request")
async def test_batch_with_one_bad_prompt_is_refused_whole(wire, node):
    """No partial list comes back when one of several prompts is too long."""
    prompts = [[20, 21], [20] * (node.max_model_len + 1)]
    (await wire.render_completions(prompt=prompts[:1], max_tokens=1)).expect(200)
    (await wire.render_completions(prompt=prompts, max_tokens=1)).expect(400)
    assert encode("hello") == (await wire.render_completions(COMPLETION)).json[0]["token_ids"]
