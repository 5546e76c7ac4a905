"""Only token-level answers can be derendered: text and messages have lost what derender needs.

Catches a node that decodes the ids of a text answer again and so undoes the engine's stop cut, and
one that refuses the token level it was made for.
"""

import pytest

from conformance.support import response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

# output_mode of the generate response: status of the derender call
MODES = {"tokens": 200, "text": 400, "derender": 400, "bogus": 400, None: 400}


@requirement("derender.token-level.only")
@capability("output-mode.text")
@pytest.mark.parametrize("mode", MODES)
async def test_answer_of_another_level_is_refused(wire, mode):
    """Both routes take `tokens` and refuse every other level by name."""
    body = response({"token_ids": [30], "text": "8"}, output_mode=mode)
    chat = await wire.derender_chat(generate_response=body)
    completion = await wire.derender_completions(generate_responses=[body])
    assert [chat.status, completion.status] == [MODES[mode]] * 2


@requirement("derender.token-level.only")
@capability("output-mode.text", "derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("mode", MODES)
async def test_chunk_of_another_level_is_refused(wire, mode):
    """The same for streamed chunks."""
    part = response({"token_ids": [30], "text": "8"}, output_mode=mode)
    chat = await wire.derender_chat(stream=True, generate_chunk=part)
    completion = await wire.derender_completions(stream=True, generate_chunk=part)
    assert [chat.status, completion.status] == [MODES[mode]] * 2
