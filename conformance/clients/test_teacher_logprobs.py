"""The trainer's client against a real engine: prompt_logprobs as a list of floats."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.case import Node, requirement
from fixtures.models import tokenizer
from fixtures.tolerance import assert_same
from impl.teacher_logprobs import RefusedError, TeacherLogprobsError, teacher_logprobs

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

TOKENS = st.lists(st.integers(0, tokenizer().get_vocab_size() - 1), min_size=1, max_size=48)
PROMPT = [20, 71, 3, 150, 9, 40, 262]
SCORING = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "prompt_logprobs": 1}


async def score(wire, prompt, completion, path="", **options):
    """The client's list, or the error it raised instead."""
    options = {"model": "tiny", **options}
    try:
        return await asyncio.to_thread(
            teacher_logprobs, wire.node.url + path, prompt, completion, **options
        )
    except TeacherLogprobsError as error:
        return error


async def entries(wire, token_ids):
    """What the node itself says of the tokens."""
    answer = await wire.generate(token_ids=token_ids, sampling_params=SCORING)
    return answer.expect(200).json["prompt_logprobs"]


async def own_values(wire, token_ids):
    """The list the client must make of them."""
    first, *others = await entries(wire, token_ids)
    assert first is None
    own = [entry[str(i)]["logprob"] for i, entry in zip(token_ids[1:], others, strict=True)]
    return [0.0, *own]


@requirement("clients.teacher-logprobs.own-ids")
@given(token_ids=TOKENS, prompt_length=st.integers(0, 48))
async def test_each_value_is_the_one_under_its_own_id(wire, node, token_ids, prompt_length):
    """0.0 first, and then each token's own value, to the last bit; either part may be empty."""
    values = await score(wire, token_ids[:prompt_length], token_ids[prompt_length:])
    assert values == await own_values(wire, token_ids)


@requirement("clients.teacher-logprobs.own-ids")
async def test_the_value_is_neither_the_first_nor_the_best_of_an_entry(wire, node):
    """Random tokens are seldom the likeliest, and the last one here is: both are picked by id."""
    token_ids = random.Random(5).choices(range(7, 300), k=200)
    best = max((await entries(wire, token_ids))[-1].items(), key=lambda item: item[1]["logprob"])
    token_ids[-1] = int(best[0])
    values = await score(wire, token_ids[:100], token_ids[100:])
    answer = await entries(wire, token_ids)
    ranks = [entry[str(i)]["rank"] for i, entry in zip(token_ids, answer, strict=True) if entry]
    assert ranks[-1] == 1
    assert max(ranks) > 2
    assert values == await own_values(wire, token_ids)
    assert all(value < 0.0 for value in values[1:])


@requirement("clients.teacher-logprobs.scores-what-was-generated")
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_completion_scores_as_it_was_generated(wire, node, seed):
    """Each sampled token's logprob comes back from scoring it; shifted by one it would not."""
    sampling = {"max_tokens": 40, "temperature": 1.0, "seed": seed, "logprobs": 0}
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**sampling, "ignore_eos": True})
    choice = answer.expect(200).json["choices"][0]
    generated = [entry["logprob"] for entry in choice["logprobs"]["content"]]
    values = await score(wire, PROMPT, choice["token_ids"])
    assert len(generated) == 40
    # Prefill and decode add up in another order: float32 differs in its last digits.
    assert_same({"token_logprobs": values[len(PROMPT) :]}, {"token_logprobs": generated})


@requirement("clients.teacher-logprobs.same-again")
async def test_the_same_tokens_score_the_same_again(wire, node):
    """Long enough to fill cache blocks, and scored three times."""
    token_ids = random.Random(7).choices(range(7, 300), k=300)
    values = await own_values(wire, token_ids)
    again = [await score(wire, token_ids[:150], token_ids[150:]) for _ in range(3)]
    assert again == [values] * 3


@requirement("clients.teacher-logprobs.one-call")
@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
async def test_generate_is_posted_beside_v1(wire, node, path):
    """An OpenAI client's base address, which ends in /v1, serves as well as the server's own."""
    assert await score(wire, PROMPT, [11, 12], path=path) == await own_values(
        wire, [*PROMPT, 11, 12]
    )


@requirement("clients.teacher-logprobs.without-tokenizer")
async def test_a_server_without_a_tokenizer_gives_the_same_list(wire, node, lease):
    """--tokens-only has no decoded_token, and nobody needs it."""
    token_ids = random.Random(9).choices(range(7, 300), k=50)
    tokens_only = await lease(Node("real", "--tokens-only"))
    values = await own_values(wire, token_ids)
    assert await score(tokens_only, token_ids[:20], token_ids[20:]) == values


@requirement("clients.teacher-logprobs.context-limit")
async def test_the_context_bounds_what_can_be_scored(wire, node):
    """One token of room is needed; one token more is a 400, not a shorter list."""
    token_ids = random.Random(3).choices(range(7, 300), k=node.max_model_len)
    values = await score(wire, token_ids[:200], token_ids[200:-1])
    assert values == await own_values(wire, token_ids[:-1])
    refused = await score(wire, token_ids[:200], token_ids[200:])
    assert isinstance(refused, RefusedError)
    assert refused.status == 400
    assert str(node.max_model_len) in str(refused)


REFUSALS = {
    "unknown-model": (404, PROMPT, [11], {"model": "nobody"}, "nobody"),
    "no-tokens": (400, [], [], {}, "token_ids"),
    "negative-id": (400, PROMPT, [-1], {}, "token_ids"),
    "unknown-id": (400, PROMPT, [10**6], {}, "1000000"),
}


@requirement("clients.teacher-logprobs.refusal-is-an-error")
@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refused_request_is_an_error_with_the_servers_words(wire, node, refusal):
    """No zeros, no empty list: an exception with the status and the reason."""
    status, prompt, completion, options, word = REFUSALS[refusal]
    refused = await score(wire, prompt, completion, **options)
    assert isinstance(refused, RefusedError)
    assert refused.status == status
    assert word in str(refused)
