"""Three roles on three nodes with flags of their own: only the answering node's flag counts."""

import pytest

from conformance.override.support import (
    FLAG,
    TRI_STATE,
    by_placeholder,
    chat_logprobs,
    completion_logprobs,
    either_flag,
    empty_bytes_alike,
    with_value,
)
from fixtures.case import Node, capability, requirement

# Hot enough that some sampled tokens are lone bytes and some are outside the top two.
SAMPLING = {"max_tokens": 12, "temperature": 1.8, "seed": 11, "ignore_eos": True}
CHAT = {
    "messages": [{"role": "user", "content": "hello world"}],
    "logprobs": True,
    "top_logprobs": 2,
    **SAMPLING,
}
COMPLETION = {"prompt": "hello world", "logprobs": 2, **SAMPLING}

pytestmark = [
    either_flag("real"),
    pytest.mark.parametrize("value", ["true", "false", "null"]),
    pytest.mark.parametrize("render_flag", [False, True], ids=["render-off", "render-on"]),
]
DERENDER_FLAGS = pytest.mark.parametrize(
    "derender_flag", [False, True], ids=["derender-off", "derender-on"]
)


def front(flag):
    """An engine-free node that renders and derenders, with the flag or without."""
    return Node("none", *([FLAG] if flag else []), role="render")


@requirement("override.roles.derender-node-decides-chat")
@capability("derender.chat")
@DERENDER_FLAGS
async def test_only_the_derender_node_decides_a_chat(
    wire, lease, value, derender_flag, render_flag
):
    """Without a value, neither the render nor the generate node's flag shows."""
    renderer, derenderer = await lease(front(render_flag)), await lease(front(derender_flag))
    request = with_value(CHAT, TRI_STATE[value])
    rendered = (await renderer.render_chat(request)).expect(200).json
    response = (await wire.generate(rendered)).expect(200).json
    answer = await derenderer.derender_chat(
        generate_response=response,
        chat_request={"model": "tiny", **request},
        prompt_token_ids=rendered["token_ids"],
    )
    source = response["choices"][0]["logprobs"]["content"]
    assert len(source) == SAMPLING["max_tokens"]
    as_ids = by_placeholder(TRI_STATE[value], derender_flag)
    logprobs = answer.expect(200).json["choices"][0]["logprobs"]
    assert empty_bytes_alike(logprobs) == chat_logprobs(source, as_ids, top=2)


@requirement("override.roles.derender-node-decides-completion")
@capability("derender.completions")
@DERENDER_FLAGS
async def test_only_the_derender_node_decides_a_completion(
    wire, lease, value, derender_flag, render_flag
):
    """The same for a completion, whose value never leaves the client before derender."""
    renderer, derenderer = await lease(front(render_flag)), await lease(front(derender_flag))
    request = with_value(COMPLETION, TRI_STATE[value])
    (rendered,) = (await renderer.render_completions(request)).expect(200).json
    response = (await wire.generate(rendered)).expect(200).json
    answer = await derenderer.derender_completions(
        generate_responses=[response], completion_request={"model": "tiny", **request}
    )
    source = response["choices"][0]["logprobs"]["content"]
    assert len(source) == SAMPLING["max_tokens"]
    as_ids = by_placeholder(TRI_STATE[value], derender_flag)
    logprobs = answer.expect(200).json["choices"][0]["logprobs"]
    assert logprobs == completion_logprobs(source, as_ids)


@requirement("override.roles.generate-node-decides-derender-mode")
@capability("output-mode.derender")
async def test_only_the_generate_node_decides_derender_mode(wire, node, lease, value, render_flag):
    """In derender mode the generate node answers, so the render node's flag does not show."""
    renderer = await lease(front(render_flag))
    rendered = (await renderer.render_chat(with_value(CHAT, TRI_STATE[value]))).expect(200).json
    tokens = (await wire.generate(rendered)).expect(200).json["choices"][0]
    answer = await wire.generate(rendered, output_mode="derender")
    choice = answer.expect(200).json["choices"][0]
    as_ids = by_placeholder(TRI_STATE[value], FLAG in node.spec.flags)
    expected = chat_logprobs(tokens["logprobs"]["content"], as_ids, top=2)
    assert choice["token_ids"] == tokens["token_ids"]
    assert empty_bytes_alike(choice["logprobs"]) == expected
