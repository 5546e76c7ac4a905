"""prompt_logprob_token_ids: the scores of chosen ids at every prompt position, or a refusal.

Catches a node that ignores the request, transposes or renumbers the scores, or streams an answer
that has no room for them.
"""

import base64
import io

import numpy
import pytest

from conformance.generate import PROMPT, refused, still_answers
from fixtures.case import Node, requirement
from fixtures.models import tokenizer
from fixtures.nodes.script import output

REAL = pytest.mark.parametrize("node", [Node("real")], indirect=True)
# vLLM's second model runner scores them; the scripted engine stands for any runner.
SCRIPTED = pytest.mark.parametrize(
    "node", [Node("scripted", env={"VLLM_USE_V2_MODEL_RUNNER": "1"})], indirect=True
)

VOCABULARY = tokenizer().get_vocab_size()
CHOSEN = [[40, 41], [42, 43]]
PARAMS = {"max_tokens": 1, "temperature": 0.0, "prompt_logprob_token_ids": CHOSEN}
SCORES = [[-0.5, -1.25], [-2.75, -0.1]]


def scores_of(value) -> numpy.ndarray:
    """The array of a wire value: base64 of a `.npy` file."""
    assert isinstance(value, str), f"not a string: {value!r:.100}"
    return numpy.load(io.BytesIO(base64.b64decode(value, validate=True)), allow_pickle=False)


@REAL
@requirement("generate.prompt-scores.refused-or-served")
async def test_request_is_never_ignored(wire):
    """An engine that cannot score refuses with a 400 naming the field; an answer has the scores."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)
    if answer.status == 400:
        refused(answer)
        assert "prompt_logprob_token_ids" in answer.json["error"]["message"]
    else:
        scores = scores_of(answer.expect(200).json["prompt_token_id_logprobs"])
        assert scores.shape == (len(PROMPT) - 1, 2)
    await still_answers(wire)


@REAL
@requirement("generate.prompt-scores.refused-or-served")
async def test_stream_is_refused(wire):
    """A stream has no place for the scores: a plain 400 that says so."""
    answer = await wire.generate_stream(token_ids=PROMPT, sampling_params=PARAMS)
    refused(answer)
    assert "prompt_logprob_token_ids" in answer.json["error"]["message"]


@SCRIPTED
@requirement("generate.prompt-scores.array")
async def test_scores_are_the_engines(wire, engine):
    """A row a scored position and a column an id, float32, with the engine's own numbers."""
    scores = {"shape": [2, 2], "dtype": "float32", "data": [own for row in SCORES for own in row]}
    script = await engine.script(
        [output(token_ids=[60], prompt_token_id_logprobs=scores, finish_reason="length")]
    )
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS, script=script)
    found = scores_of(answer.expect(200).json["prompt_token_id_logprobs"])
    assert found.dtype == numpy.float32
    numpy.testing.assert_array_equal(found, numpy.array(SCORES, dtype=numpy.float32))


@SCRIPTED
@requirement("generate.prompt-scores.array")
@pytest.mark.parametrize(
    "chosen",
    [[], [[40]], [[40], [41], [42]], [[-2], [40]], [[VOCABULARY], [40]], [["a"], ["b"]]],
    ids=["empty", "too-few-rows", "too-many-rows", "below-padding", "beyond", "text"],
)
async def test_wrong_ids_are_refused(wire, chosen):
    """Rows that do not fit the prompt, or hold no ids, are a 400; -1 pads a row."""
    params = {**PARAMS, "prompt_logprob_token_ids": chosen}
    refused(await wire.generate(token_ids=PROMPT, sampling_params=params))
    padded = {**PARAMS, "prompt_logprob_token_ids": [[40, -1], [41]]}
    (await wire.generate(token_ids=PROMPT, sampling_params=padded)).expect(200)
