"""Prompt ids that are none are refused in every shape of request.

Catches a node that decodes an id counted from the end, or checks one shape and forgets another.
"""

import pytest

from conformance.derender import derender_call
from conformance.support import chunk, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

SHAPES = {
    "chat": lambda ids: ("chat", {"generate_response": response([30]), "prompt_token_ids": ids}),
    "chat-of-the-response": lambda ids: (
        "chat",
        {"generate_response": response([30], prompt_token_ids=ids)},
    ),
    "completions": lambda ids: (
        "completions",
        {"generate_responses": [response([30])], "prompt_token_ids": [ids]},
    ),
    "completions-of-the-response": lambda ids: (
        "completions",
        {"generate_responses": [response([30], prompt_token_ids=ids)]},
    ),
}
STREAMED = {
    "chunk": lambda ids: {"generate_chunk": chunk([30]), "prompt_token_ids": ids},
    "of-the-chunk": lambda ids: {"generate_chunk": {**chunk([30]), "prompt_token_ids": ids}},
}
WRONG = {"negative": [20, -1], "text": ["a"], "fraction": [20, 1.5]}


@requirement("derender.prompt-ids.refused")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("wrong", WRONG)
async def test_wrong_prompt_ids_are_refused(wire, shape, wrong):
    """400 with an error object; the same body with sound ids is a 200."""
    route, sound = SHAPES[shape]([20, 1])
    (await derender_call(wire, route)(sound)).expect(200)
    answer = await derender_call(wire, route)(SHAPES[shape](WRONG[wrong])[1])
    assert answer.expect(400).json["error"]["code"] == 400


@requirement("derender.prompt-ids.refused")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ["chat", "completions"])
@pytest.mark.parametrize("shape", STREAMED)
@pytest.mark.parametrize("wrong", WRONG)
async def test_wrong_prompt_ids_are_refused_streaming(wire, route, shape, wrong):
    """The same for a streamed chunk."""
    send = derender_call(wire, route)
    (await send(STREAMED[shape]([20, 1]), stream=True)).expect(200)
    answer = await send(STREAMED[shape](WRONG[wrong]), stream=True)
    assert answer.expect(400).json["error"]["code"] == 400
