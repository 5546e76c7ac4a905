"""A coordinator that decodes the ids itself gets the coupled answer's text.

Catches a generate node whose ids depend on detokenizing, or that wants to detokenize.
"""

import pytest

from conformance.parity.support import GREEDY, PROMPTS
from conformance.support import UNDISTURBED, decode, without
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED


@requirement("parity.coordinator.same-text")
@capability("render.chat")
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_ids_decode_to_the_coupled_text(wire, prompt):
    """A rendered prompt, generated without detokenizing: its ids, decoded, are the chat's text."""
    request = {"messages": PROMPTS[prompt], **GREEDY}
    (coupled,) = (await wire.chat(request)).expect(200).json["choices"]
    rendered = (await wire.render_chat(request)).expect(200).json
    params = {**without(rendered["sampling_params"], "stop"), "detokenize": False}
    answer = await wire.generate(token_ids=rendered["token_ids"], sampling_params=params)
    ids = answer.expect(200).json["choices"][0]["token_ids"]
    # an answer cut inside a character: the coupled route leaves the half out
    assert decode(ids).rstrip("\N{REPLACEMENT CHARACTER}") == coupled["message"]["content"]
    assert len(ids) == GREEDY["max_tokens"]
