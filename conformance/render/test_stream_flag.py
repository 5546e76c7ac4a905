"""Render answers with plain JSON and carries `stream` on to generate.

Catches a node that streams the render answer, drops the flag, or leaves stream_options on a
request that does not stream.
"""

import pytest

from fixtures.case import Node, capabilities, requirement

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    *capabilities("render.chat", "render.completions"),
]

USAGE = {"include_usage": True, "continuous_usage_stats": False}
# name: (what the caller sends, stream and stream_options of the rendered request)
FLAGS = {
    "absent": ({}, (False, None)),
    "false": ({"stream": False}, (False, None)),
    "true": ({"stream": True}, (True, None)),
    "true-with-usage": ({"stream": True, "stream_options": {"include_usage": True}}, (True, USAGE)),
    "true-with-continuous-usage": (
        {"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}},
        (True, {**USAGE, "continuous_usage_stats": True}),
    ),
}


@requirement("render.stream.carried")
@pytest.mark.parametrize("flag", FLAGS)
async def test_stream_is_carried_and_the_answer_is_json(wire, flag):
    """Both routes: the flag and its options as sent, in one JSON body, null without options."""
    sent, expected = FLAGS[flag]
    chat = await wire.render_chat(messages=[{"role": "user", "content": "hello"}], **sent)
    completions = await wire.render_completions(prompt="hello", **sent)
    for answer in (chat, completions):
        assert answer.expect(200).headers["content-type"] == "application/json"
    bodies = [chat.json, completions.json[0]]
    assert [(body["stream"], body["stream_options"]) for body in bodies] == [expected, expected]
