"""Only token-level answers can be derendered: text and messages have lost what derender needs.

Catches a node that decodes the ids of a text answer again and so undoes the engine's stop cut, and
one that refuses the token level it was made for.
"""

import pytest

from conformance.support import encode, joined_text, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

MODES = ["text", "derender", "bogus", None]


def body(mode: str | None) -> dict:
    """A generate response, or chunk, of that level."""
    return response({"token_ids": encode("é"), "text": "é"}, output_mode=mode)


@requirement("derender.token-level.only")
@capability("output-mode.text")
@pytest.mark.parametrize("mode", MODES)
async def test_answer_of_another_level_is_refused(wire, mode):
    """Both routes derender `tokens` and answer 400 to every other level."""
    chat = (await wire.derender_chat(generate_response=body("tokens"))).expect(200).json
    completion = await wire.derender_completions(generate_responses=[body("tokens")])
    texts = [
        chat["choices"][0]["message"]["content"],
        completion.expect(200).json["choices"][0]["text"],
    ]
    assert texts == ["é", "é"]
    (await wire.derender_chat(generate_response=body(mode))).expect(400)
    (await wire.derender_completions(generate_responses=[body(mode)])).expect(400)


@requirement("derender.token-level.only")
@capability("output-mode.text", "derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("mode", MODES)
async def test_chunk_of_another_level_is_refused(wire, mode):
    """The same for streamed chunks."""
    for call in (wire.derender_chat, wire.derender_completions):
        taken = (await call(stream=True, generate_chunk=body("tokens"))).expect(200)
        assert joined_text([taken]) == "é"
        (await call(stream=True, generate_chunk=body(mode))).expect(400)
