"""sampling_params out of range are refused by a 400, at the limit they are served, and the node
goes on.
"""

import pytest

from conformance.generate import PROMPT, refused, still_answers
from conformance.support import UNDISTURBED
from fixtures.case import requirement
from fixtures.models import tokenizer

pytestmark = UNDISTURBED

VOCABULARY = tokenizer().get_vocab_size()
SAMPLED = {"max_tokens": 4, "temperature": 1.0, "seed": 1, "ignore_eos": True}

# id: field, refused value, the nearest value that is served; None where there is no such neighbour
BOUNDS = {
    "temperature=-0.1": ("temperature", -0.1, 0.0),
    "temperature-word": ("temperature", "hot", None),
    "top_p=0": ("top_p", 0.0, 1e-3),
    "top_p=1.01": ("top_p", 1.01, 1.0),
    "top_k=-2": ("top_k", -2, -1),
    "top_k=1.5": ("top_k", 1.5, 1),
    "min_p=-0.1": ("min_p", -0.1, 0.0),
    "min_p=1.1": ("min_p", 1.1, 1.0),
    "presence_penalty=2.1": ("presence_penalty", 2.1, 2.0),
    "presence_penalty=-2.1": ("presence_penalty", -2.1, -2.0),
    "frequency_penalty=2.1": ("frequency_penalty", 2.1, 2.0),
    "repetition_penalty=0": ("repetition_penalty", 0.0, 0.1),
    "min_tokens=-1": ("min_tokens", -1, 0),
    "min_tokens-above-max_tokens": ("min_tokens", 5, 4),
    "logprobs=21": ("logprobs", 21, 20),
    "logprobs=-2": ("logprobs", -2, None),
    "prompt_logprobs=21": ("prompt_logprobs", 21, 20),
    "prompt_logprobs=-2": ("prompt_logprobs", -2, None),
    "seed-word": ("seed", "one", None),
    "stop_token_ids-beyond-vocabulary": ("stop_token_ids", [VOCABULARY], [VOCABULARY - 1]),
    "stop_token_ids-negative": ("stop_token_ids", [-1], [0]),
    "stop_token_ids-word": ("stop_token_ids", ["a"], None),
    "stop-empty-string": ("stop", [""], ["never-there"]),
    "logit_bias-beyond-vocabulary": (
        "logit_bias",
        {str(VOCABULARY): 1.0},
        {str(VOCABULARY - 1): 1.0},
    ),
    "logit_bias-word": ("logit_bias", {"word": 1.0}, None),
    "allowed_token_ids-beyond-vocabulary": ("allowed_token_ids", [VOCABULARY], [VOCABULARY - 1]),
    "allowed_token_ids-empty": ("allowed_token_ids", [], None),
    "bad_words-empty-string": ("bad_words", [""], ["never-there"]),
}


@requirement("generate.sampling.out-of-range-refused")
@pytest.mark.parametrize(("field", "beyond", "limit"), BOUNDS.values(), ids=BOUNDS.keys())
async def test_out_of_range_is_refused(wire, field, beyond, limit):
    """One step beyond the range is a 400 that names the field, the last value within it is
    served.
    """
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLED, field: beyond})
    refused(answer)
    assert field in answer.json["error"]["message"] or field in (
        answer.json["error"]["param"] or ""
    )
    if limit is not None:
        served = await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLED, field: limit})
        assert len(served.expect(200).json["choices"][0]["token_ids"]) == 4
    await still_answers(wire)


@requirement("generate.sampling.out-of-range-refused")
@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_non_finite_number_is_refused(wire, literal):
    """A temperature that is no finite number, which JSON cannot even say, is a 400."""
    params = '{"max_tokens": 1, "temperature": %s}'
    body = f'{{"model": "tiny", "token_ids": [20], "sampling_params": {params}}}'
    refused(await wire.post("/inference/v1/generate", (body % literal).encode()))
    served = await wire.post("/inference/v1/generate", (body % "0.5").encode())
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 1


@requirement("generate.sampling.out-of-range-refused")
@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
async def test_seed_beyond_the_transport_is_refused(wire, seed):
    """A seed that the engine's transport cannot hold is a 400; 2**63 - 1 is served.

    The field need not be named: vLLM's refusal comes from its encoder, which does not know it.
    """
    refused(await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLED, "seed": seed}))
    params = {**SAMPLED, "seed": 2**63 - 1}
    served = await wire.generate(token_ids=PROMPT, sampling_params=params)
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 4
