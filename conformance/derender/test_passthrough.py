"""What derender does not read goes through unchanged.

Catches a node that drops, decodes or merges the transfer parameters and prompt logprobs of the
generate response.
"""

import pytest

from conformance.support import response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

TRANSFER = {"do_remote_prefill": True, "blocks": [1, None, {"é": 0.5}], "engine": "x"}
PROMPT_LOGPROBS = [
    None,
    {
        "30": {"logprob": -1.5, "rank": 2, "decoded_token": "8"},
        "31": {"logprob": -0.25, "rank": 1, "decoded_token": "9"},
    },
    {"32": {"logprob": -9999.0, "rank": None, "decoded_token": None}},
]


@requirement("derender.passthrough.kv-transfer-params")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("params", [TRANSFER, {}, None], ids=["object", "empty", "null"])
async def test_transfer_params_go_through(wire, params):
    """Both routes return the object as it came, an empty one and null included."""
    body = response([30], kv_transfer_params=params)
    chat = (await wire.derender_chat(generate_response=body)).expect(200).json
    completion = (await wire.derender_completions(generate_responses=[body])).expect(200).json
    assert [answer["kv_transfer_params"] for answer in (chat, completion)] == [params, params]


@requirement("derender.passthrough.kv-transfer-params")
@capability("derender.completions")
async def test_transfer_params_of_several_responses_are_kept_only_if_equal(wire):
    """One answer has room for one object: equal ones are kept, different ones become null."""
    found = []
    for second in (TRANSFER, {"other": 1}):
        bodies = [response([30], kv_transfer_params=params) for params in (TRANSFER, second)]
        answer = (await wire.derender_completions(generate_responses=bodies)).expect(200).json
        found.append(answer["kv_transfer_params"])
    assert found == [TRANSFER, None]


@requirement("derender.passthrough.prompt-logprobs-chat")
@capability("derender.chat")
async def test_chat_prompt_logprobs_go_through(wire):
    """The list as it came: its nulls, keys, numbers and names."""
    body = response([30], prompt_logprobs=PROMPT_LOGPROBS)
    answer = (await wire.derender_chat(generate_response=body, prompt_tokens=3)).expect(200).json
    assert answer["prompt_logprobs"] == PROMPT_LOGPROBS


@requirement("derender.passthrough.prompt-logprobs-completions")
@capability("derender.completions")
async def test_completions_prompt_logprobs_go_through(wire):
    """Each choice has its own response's list."""
    bodies = [response([30], [31], prompt_logprobs=PROMPT_LOGPROBS), response([32])]
    answer = (await wire.derender_completions(generate_responses=bodies)).expect(200).json
    found = [choice["prompt_logprobs"] for choice in answer["choices"]]
    assert found == [PROMPT_LOGPROBS, PROMPT_LOGPROBS, None]
