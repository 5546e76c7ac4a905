"""prompt_logprob_token_ids: the scores of chosen ids at every prompt position, or a refusal.

Catches a node that ignores the request, or streams an answer that has no room for the scores. A
CPU engine has not the model runner that makes them, and refuses.
"""

import pytest

from conformance.generate import PROMPT, array_of, refused, still_answers
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

CHOSEN = [[40, 41], [42, 43]]
PARAMS = {"max_tokens": 1, "temperature": 0.0, "prompt_logprob_token_ids": CHOSEN}


@requirement("generate.prompt-scores.refused-or-served")
async def test_request_is_never_ignored(wire):
    """An engine that cannot score refuses with a 400 naming the field; an answer has the scores."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)
    if answer.status == 400:
        refused(answer)
        assert "prompt_logprob_token_ids" in answer.json["error"]["message"]
    else:
        scores = array_of(answer.expect(200).json["prompt_token_id_logprobs"])
        assert scores.shape == (len(PROMPT) - 1, 2)
    await still_answers(wire)


@requirement("generate.prompt-scores.refused-or-served")
async def test_stream_is_refused(wire):
    """A stream has no place for the scores: a plain 400 that says so."""
    answer = await wire.generate_stream(token_ids=PROMPT, sampling_params=PARAMS)
    refused(answer)
    assert "prompt_logprob_token_ids" in answer.json["error"]["message"]
