"""max_logprobs bounds what may be asked for, and what was answered within it can be derendered.

Catches a node that is off by one at its own limit, and a derender node that refuses the generate
node's own answer.
"""

import pytest

from conformance.support import response, since
from fixtures.case import Node, capability, requirement

LIMIT = 3
pytestmark = pytest.mark.parametrize(
    "node", [Node("real"), Node("real", "--max-logprobs", str(LIMIT))], indirect=True
)

# Temperature 2 samples outside the top k, where one more alternative is sent.
HOT = {"temperature": 2.0, "seed": 3, "max_tokens": 24, "ignore_eos": True}


def limit_of(node) -> int:
    """The node's max_logprobs: its flag's, or vLLM's default of 20."""
    return LIMIT if "--max-logprobs" in node.spec.flags else 20


@requirement("logprobs.limit.enforced")
@pytest.mark.parametrize("name", ["logprobs", "prompt_logprobs"])
async def test_limit_is_exact(wire, node, name):
    """As many as the limit are answered, one more is a 400 that names the field.

    One beside them where a prompt token, or from 0.33 on a sampled one, is outside the top k
    (CASES 28).
    """
    limit, prompt = limit_of(node), [20, 30]
    within = await wire.generate(token_ids=prompt, sampling_params={**HOT, name: limit})
    beyond = await wire.generate(token_ids=prompt, sampling_params={**HOT, name: limit + 1})
    body = within.expect(200).json
    if name == "prompt_logprobs":
        first, own = body["prompt_logprobs"]
        assert first is None
        assert len(own) == limit + (own[str(prompt[1])]["rank"] > limit)
    else:
        content = body["choices"][0]["logprobs"]["content"]
        beside = [since(node, "0.33.0") and entry["rank"] > limit for entry in content]
        assert [len(entry["top_logprobs"]) for entry in content] == [limit + one for one in beside]
        assert len(content) == HOT["max_tokens"]
    assert beyond.expect(400).json["error"]["param"] == name


@requirement("logprobs.limit.derendered")
@capability("derender.chat")
@pytest.mark.parametrize("below", [0, 1], ids=["at-the-limit", "one-below"])
async def test_answer_within_the_limit_can_be_derendered(wire, node, below):
    """Whatever generate answers, chat derender takes, and cuts to what was asked for."""
    k = limit_of(node) - below
    answer = await wire.generate(token_ids=[20, 30], sampling_params={**HOT, "logprobs": k})
    request = {"model": "tiny", "messages": [], "logprobs": True, "top_logprobs": k}
    chat = await wire.derender_chat(generate_response=answer.expect(200).json, chat_request=request)
    content = chat.expect(200).json["choices"][0]["logprobs"]["content"]
    assert [len(entry["top_logprobs"]) for entry in content] == [k] * HOT["max_tokens"]


@requirement("logprobs.limit.derendered")
@capability("derender.completions")
@pytest.mark.parametrize("below", [0, 1], ids=["at-the-limit", "one-below"])
async def test_answer_within_the_limit_can_be_derendered_as_completion(wire, node, below):
    """The same for completions: each token's logprob and its alternatives' are generate's."""
    k = limit_of(node) - below
    answer = await wire.generate(token_ids=[20, 30], sampling_params={**HOT, "logprobs": k})
    request = {"model": "tiny", "prompt": "a", "logprobs": k}
    generated = answer.expect(200).json
    completion = await wire.derender_completions(
        generate_responses=[generated], completion_request=request
    )
    logprobs = completion.expect(200).json["choices"][0]["logprobs"]
    content = generated["choices"][0]["logprobs"]["content"]
    assert logprobs["token_logprobs"] == [entry["logprob"] for entry in content]
    # A map by text, where alternatives of one text are one: every value it has is generate's.
    for entry, found in zip(content, logprobs["top_logprobs"], strict=True):
        assert found and set(found.values()) <= {top["logprob"] for top in entry["top_logprobs"]}
    assert len(content) == HOT["max_tokens"]


@requirement("derender.bounds.alternatives")
@capability("derender.chat")
async def test_two_beyond_the_limit_are_refused(wire, node):
    """The control: what no generate node of this limit can send is a 400."""
    entry = {"token_id": 30, "token": "token_id:30", "logprob": -0.5, "bytes": None}
    for count, status in ((limit_of(node), 200), (limit_of(node) + 2, 400)):
        tops = [
            {**entry, "token_id": own, "token": f"token_id:{own}"} for own in range(30, 30 + count)
        ]
        content = [{**entry, "top_logprobs": tops}]
        body = response({"token_ids": [30], "logprobs": {"content": content}})
        (await wire.derender_chat(generate_response=body)).expect(status)
