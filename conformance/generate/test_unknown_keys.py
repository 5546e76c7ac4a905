"""Keys that the server does not know change nothing, and no key reaches its private switches."""

import pytest

from conformance.generate import GREEDY
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

PROMPT = [30, 31, 32, 33]
PARAMS = {**GREEDY, "max_tokens": 12}
UNKNOWN = {
    "number": {"tokenwire_unknown": 7},
    "object": {"tokenwire_unknown": {"deep": [1, {"er": None}]}},
    "null": {"tokenwire_unknown": None},
    "later-release": {"output_level": "tokens", "n_best": 3, "return_rendered": True},
}


def without_name(body):
    return {key: value for key, value in body.items() if key not in ("request_id", "created")}


async def answer(wire, params=PARAMS, **fields):
    body = (
        (await wire.generate(token_ids=PROMPT, sampling_params=params, **fields)).expect(200).json
    )
    assert len(body["choices"][0]["token_ids"]) == 12
    return without_name(body)


@requirement("generate.unknown-keys.ignored")
@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN.keys())
async def test_unknown_top_level_keys_are_ignored(wire, unknown):
    """An unknown key beside the known ones leaves the whole answer as it is."""
    assert await answer(wire, **unknown) == await answer(wire)


@requirement("generate.unknown-keys.ignored")
@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN.keys())
async def test_unknown_sampling_keys_are_ignored(wire, unknown):
    """An unknown key inside sampling_params leaves the whole answer as it is."""
    assert await answer(wire, {**PARAMS, **unknown}) == await answer(wire)


@requirement("generate.unknown-keys.private-switches-closed")
@pytest.mark.parametrize("key", ["_eos_token_id", "_all_stop_token_ids", "_bad_words_token_ids"])
async def test_private_switches_cannot_be_set(wire, key):
    """A private field of the engine's sampling parameters, set by a client, is ignored or refused.

    Each would end the answer at its first id, or forbid that id, if it were taken over.
    """
    plain = await answer(wire)
    first = plain["choices"][0]["token_ids"][0]
    value = {
        "_eos_token_id": first,
        "_all_stop_token_ids": [first],
        "_bad_words_token_ids": [[first]],
    }[key]
    params = {**PARAMS, "ignore_eos": False, "min_tokens": 0}
    free = await wire.generate(token_ids=PROMPT, sampling_params=params)
    tried = await wire.generate(token_ids=PROMPT, sampling_params={**params, key: value})
    if tried.status != 400:
        assert without_name(tried.expect(200).json) == without_name(free.expect(200).json)


@requirement("generate.unknown-keys.private-switches-closed")
@pytest.mark.parametrize("kind", [0, 1, 2], ids=["cumulative", "delta", "final-only"])
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_output_kind_is_the_servers(wire, kind, stream):
    """output_kind is the server's business: a stream has deltas and a full answer everything,
    whatever is sent.
    """
    params = {**PARAMS, "output_kind": kind}
    plain = (await answer(wire))["choices"][0]["token_ids"]
    if stream:
        sent = await wire.generate_stream(token_ids=PROMPT, sampling_params=params)
        chunks = sent.expect(200).chunks
        assert [token for chunk in chunks for token in chunk["choices"][0]["token_ids"]] == plain
    else:
        assert (await answer(wire, params))["choices"][0]["token_ids"] == plain
