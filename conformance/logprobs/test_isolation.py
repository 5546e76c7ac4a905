"""One request's logprobs do not depend on the requests beside it.

Catches an engine whose batch mixes up rows, or that lets one client's logprob_token_ids destroy
the alternatives of all others. The engine is leased alone, so that the neighbours are known.
"""

import asyncio

import pytest

from conformance.logprobs import neighbours
from conformance.support import entry_id
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real", exclusive=True)], indirect=True)

GREEDY = {"temperature": 0, "max_tokens": 20, "ignore_eos": True, "logprobs": 5}
PROMPT = [20, 30, 40, 50]
SELECTED = {"logprob_token_ids": [5, 6, 7], "logprobs": 3}
# name: the neighbours' sampling parameters
NEIGHBOURS = {
    "without-logprobs": {"logprobs": None},
    "with-fewer": {"logprobs": 1},
    "with-more": {"logprobs": 20},
    "with-prompt-logprobs": {"prompt_logprobs": 3},
    "with-selected-ids": SELECTED,
}


async def content_of(wire, **sampling) -> list[dict]:
    """The logprob entries of one greedy answer."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**GREEDY, **sampling})
    content = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    assert len(content) == GREEDY["max_tokens"]
    return content


@requirement("logprobs.isolation.beside-others")
@pytest.mark.parametrize("name", NEIGHBOURS)
async def test_neighbours_do_not_change_the_alternatives(wire, name):
    """Alone and beside others: the same entries, bit for bit, five finite ids each."""
    if "prompt_logprobs" in NEIGHBOURS[name]:
        await wire.needs("prompt-logprobs.stream")
    alone = await content_of(wire)
    assert {len({entry_id(top) for top in entry["top_logprobs"]}) for entry in alone} == {5}
    assert min(top["logprob"] for entry in alone for top in entry["top_logprobs"]) > -9999.0
    for _ in range(3):
        async with neighbours(wire, {**GREEDY, **NEIGHBOURS[name]}):
            assert await content_of(wire) == alone


@requirement("logprobs.isolation.beside-others")
async def test_coupled_chat_is_not_changed_either(wire):
    """A chat client beside a scoring client keeps its alternatives."""
    request = {
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0, "max_tokens": 20, "ignore_eos": True, "logprobs": True, "top_logprobs": 5,
    }  # fmt: skip
    alone = (await wire.chat(request)).expect(200).json["choices"]
    for _ in range(3):
        async with neighbours(wire, {**GREEDY, **SELECTED}):
            assert (await wire.chat(request)).expect(200).json["choices"] == alone


@requirement("logprobs.isolation.beside-others")
async def test_prompt_logprobs_are_not_mixed_up(wire):
    """Six prompts scored at once get the numbers they get one by one."""
    prompts = [[20 + at, 75, 130 + at, 30, 91] for at in range(6)]

    async def score(token_ids):
        answer = await wire.generate(
            token_ids=token_ids, sampling_params={"max_tokens": 1, "prompt_logprobs": 2}
        )
        return answer.expect(200).json["prompt_logprobs"]

    alone = [await score(own) for own in prompts]
    assert await asyncio.gather(*map(score, prompts)) == alone
    assert len({str(own) for own in alone}) == len(prompts)


@requirement("logprobs.selected.exact-ids")
async def test_selected_ids_are_the_alternatives(wire):
    """Each position lists these ids and the sampled one, with the usual numbers."""
    ids = [33, 5, 150]
    everything = await content_of(wire, logprobs=20)
    selected = await content_of(wire, logprob_token_ids=ids, logprobs=len(ids))
    assert [entry_id(entry) for entry in selected] == [entry_id(entry) for entry in everything]
    for own, wider in zip(selected, everything, strict=True):
        listed = {entry_id(top): top["logprob"] for top in own["top_logprobs"]}
        assert listed.keys() == {*ids, entry_id(own)}
        known = {entry_id(top): top["logprob"] for top in wider["top_logprobs"]}
        assert {name: known[name] for name in known.keys() & listed.keys()} == {
            name: listed[name] for name in known.keys() & listed.keys()
        }


@requirement("logprobs.selected.exact-ids")
async def test_selected_ids_of_another_count_are_refused(wire):
    """logprobs must be the number of ids: 400 otherwise."""
    sampling = {**GREEDY, "logprob_token_ids": [33, 5, 150]}
    (await wire.generate(token_ids=PROMPT, sampling_params={**sampling, "logprobs": 3})).expect(200)
    (await wire.generate(token_ids=PROMPT, sampling_params={**sampling, "logprobs": 2})).expect(400)
