"""The full answer: its keys, which of them are null, and what model, created and usage say."""

import time

import pytest

from conformance.generate import GREEDY, PROMPT
from conformance.support import since
from fixtures.case import Node, requirement
from fixtures.wire import OMIT

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

PARAMS = {**GREEDY, "max_tokens": 4}


@requirement("generate.full.answers")
@pytest.mark.parametrize("stream", [False, None], ids=["stream-false", "stream-null"])
async def test_a_minimal_request_is_answered(wire, stream):
    """token_ids and sampling_params are enough for one JSON answer with one choice of as many ids
    as asked.
    """
    body = {"token_ids": PROMPT, "sampling_params": PARAMS, "stream": stream}
    answer = (await wire.generate(body)).expect(200)
    assert answer.headers["content-type"] == "application/json"
    (choice,) = answer.json["choices"]
    assert choice["index"] == 0 and len(choice["token_ids"]) == 4
    assert all(type(token) is int and token >= 0 for token in choice["token_ids"])


@requirement("generate.full.shape")
async def test_whole_answer(wire):
    """Every key of a plain answer, the null ones too; nothing else."""
    answer = (await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)).expect(200)
    tokens = answer.json["choices"][0]["token_ids"]
    assert answer.json == {
        "request_id": answer.json["request_id"],
        "model": "tiny",
        "created": answer.json["created"],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 4,
            "total_tokens": 7,
            "prompt_tokens_details": None,
            "completion_tokens_details": None,
        },
        "prompt_logprobs": None,
        "prompt_token_id_logprobs": None,
        "prompt_token_ids": None,
        "mm_placeholders": None,
        "metrics": None,
        "kv_transfer_params": None,
        "ec_transfer_params": None,
        "output_mode": "tokens",
        "choices": [
            {
                "index": 0,
                "finish_reason": "length",
                "stop_reason": None,
                "token_ids": tokens,
                "routed_experts": None,
                "sampling_mask": None,
                "weight_versions": [{"version": "default", "start": 0, "end": 4}],
                "logprobs": None,
            }
        ],
    }


@requirement("generate.full.greedy-repeats")
async def test_greedy_repeats(wire):
    """The same greedy request gives the same ids, also with detokenize=false and with a logprobs
    request.
    """
    prompt = list(range(30, 42))
    wanted = None
    for extra in ({}, {}, {"detokenize": False}, {"logprobs": 0}, {"seed": 7}):
        answer = await wire.generate(
            token_ids=prompt, sampling_params={**GREEDY, "max_tokens": 24, **extra}
        )
        tokens = answer.expect(200).json["choices"][0]["token_ids"]
        wanted = wanted or tokens
        assert len(tokens) == 24 and tokens == wanted, extra


@requirement("generate.full.depends-on-prompt")
async def test_output_depends_on_every_prompt_token(wire):
    """Prompts that differ in one id are told apart: the first, the middle, the last."""
    outputs = set()
    for change in ({}, {0: 90}, {4: 90}, {7: 90}):
        prompt = [change.get(i, 30 + i) for i in range(8)]
        answer = await wire.generate(token_ids=prompt, sampling_params={**GREEDY, "max_tokens": 24})
        outputs.add(tuple(answer.expect(200).json["choices"][0]["token_ids"]))
    assert len(outputs) == 4


@requirement("generate.full.created-is-now")
async def test_created_is_the_time_of_the_request(wire):
    """`created` is whole seconds since 1970, between sending and receiving (the node runs on the
    same clock).
    """
    before = int(time.time())
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)
    created = answer.expect(200).json["created"]
    assert type(created) is int and before <= created <= time.time()


@requirement("generate.usage.full")
@pytest.mark.parametrize(("prompt", "tokens"), [(1, 1), (7, 5), (300, 33)])
async def test_usage_counts(wire, node, prompt, tokens):
    """usage counts the prompt ids sent and the ids returned, and adds them."""
    answer = await wire.generate(
        token_ids=[20] * prompt, sampling_params={**GREEDY, "max_tokens": tokens}
    )
    assert len(answer.expect(200).json["choices"][0]["token_ids"]) == tokens
    details = ["prompt_tokens_details"]
    if since(node, "0.28.0"):
        details.append("completion_tokens_details")
    assert answer.json["usage"] == {
        "prompt_tokens": prompt,
        "completion_tokens": tokens,
        "total_tokens": prompt + tokens,
        **dict.fromkeys(details),
    }


@requirement("generate.full.answers")
@pytest.mark.parametrize("model", [OMIT, None], ids=["absent", "null"])
async def test_model_may_be_left_out(wire, node, model):
    """Without a model, or with null, the served one answers and, where answers name it, is named."""
    sent = {"model": model, "token_ids": PROMPT, "sampling_params": PARAMS}
    answer = (await wire.generate(sent)).expect(200).json
    assert len(answer["choices"][0]["token_ids"]) == 4
    if since(node, "0.25.1"):
        assert answer["model"] == "tiny"
