"""A logprob entry names its token by id, in the shape of its release.

Catches a node that changes the shape within a release, shifts entries against the ids, names
alternatives by the sampled token (the fault of 0.21 and before), or invents text it cannot know.
"""

import pytest

from conformance.support import UNDISTURBED, entry_id, since
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED

PROMPT = [20, 30, 40, 50]
SAMPLING = {"temperature": 1.0, "seed": 5, "max_tokens": 24, "ignore_eos": True}


async def choice_of(wire, **sampling) -> dict:
    """The one choice of a seeded answer."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**SAMPLING, **sampling})
    return answer.expect(200).json["choices"][0]


def keys(node) -> tuple[set, set]:
    """The keys of an entry and of an alternative; integer ids from 0.32 on (CASES 25)."""
    if since(node, "0.32.0"):
        return {"token_id", "logprob", "rank", "top_logprobs"}, {"token_id", "logprob", "rank"}
    return {"token", "logprob", "bytes", "top_logprobs"}, {"token", "logprob", "bytes"}


@requirement("logprobs.shape.by-release")
@pytest.mark.parametrize("k", [0, 1, 5])
async def test_entries_have_exactly_their_keys(wire, node, k):
    """Every entry and every alternative, whole key sets and types."""
    content = (await choice_of(wire, logprobs=k))["logprobs"]["content"]
    entry_keys, top_keys = keys(node)
    assert [set(entry) for entry in content] == [entry_keys] * SAMPLING["max_tokens"]
    tops = [top for entry in content for top in entry["top_logprobs"]]
    assert [set(top) for top in tops] == [top_keys] * len(tops)
    identity = "token_id" if since(node, "0.32.0") else "token"
    kinds = {(type(item[identity]), type(item["logprob"])) for item in [*content, *tops]}
    assert kinds == {(int if since(node, "0.32.0") else str, float)}


@requirement("logprobs.shape.content-alone")
async def test_logprobs_hold_content_and_nothing_else(wire):
    """Other lists than content are there only for who asks for them, full and streamed."""
    whole = await choice_of(wire, logprobs=1)
    stream = await wire.generate_stream(
        token_ids=PROMPT, sampling_params={**SAMPLING, "logprobs": 1}
    )
    parts = [choice for part in stream.expect(200).chunks for choice in part["choices"]]
    assert parts
    assert [set(own["logprobs"]) for own in (whole, *parts)] == [{"content"}] * (1 + len(parts))


@requirement("logprobs.entries.own-ids")
@pytest.mark.parametrize("k", [0, 1, 5])
@pytest.mark.parametrize("temperature", [0.0, 1.0, 2.0])
async def test_each_entry_names_its_own_token(wire, k, temperature):
    """As many entries as ids, in the ids' order."""
    choice = await choice_of(wire, logprobs=k, temperature=temperature)
    named = [entry_id(entry) for entry in choice["logprobs"]["content"]]
    assert (named, len(named)) == (choice["token_ids"], SAMPLING["max_tokens"])


@requirement("logprobs.entries.own-ids")
@capability("parallel-sampling")
async def test_each_choice_has_its_own_entries(wire):
    """Two seeded choices that differ: each one's entries name its own ids."""
    answer = await wire.generate(
        token_ids=PROMPT, sampling_params={**SAMPLING, "n": 2, "logprobs": 1}
    )
    choices = answer.expect(200).json["choices"]
    named = [[entry_id(entry) for entry in own["logprobs"]["content"]] for own in choices]
    assert named == [own["token_ids"] for own in choices]
    assert named[0] != named[1]


@requirement("logprobs.absent.null")
@pytest.mark.parametrize("asked", [{}, {"logprobs": None}], ids=["absent", "null"])
async def test_logprobs_are_null_unless_asked_for(wire, asked):
    """Null, not absent and not empty; and the same tokens as with them."""
    bare, scored = await choice_of(wire, **asked), await choice_of(wire, logprobs=2)
    assert (bare["logprobs"], bare["token_ids"]) == (None, scored["token_ids"])
    assert len(scored["logprobs"]["content"]) == SAMPLING["max_tokens"]


@requirement("logprobs.stream.one-entry-per-id")
@pytest.mark.parametrize("k", [0, 2])
async def test_streamed_entries_are_the_full_ones(wire, k):
    """Each chunk has one entry per id in it, and all of them are the full answer's, bit for bit."""
    whole = await choice_of(wire, logprobs=k)
    answer = await wire.generate_stream(
        token_ids=PROMPT, sampling_params={**SAMPLING, "logprobs": k}
    )
    parts = [choice for part in answer.expect(200).chunks for choice in part["choices"]]
    assert [len(part["logprobs"]["content"]) for part in parts if part["token_ids"]] == [
        len(part["token_ids"]) for part in parts if part["token_ids"]
    ]
    joined = [entry for part in parts if part["logprobs"] for entry in part["logprobs"]["content"]]
    assert joined == whole["logprobs"]["content"]
