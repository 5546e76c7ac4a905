"""Rows of logprobs that few engines send, forced: each token keeps its own, or the request fails.

Catches a node that counts rows instead of tokens, expects the sampled token first or every row of
one width, caps ids, or answers 200 with entries missing.
"""

import pytest

from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

MISSING = {"token_id": 30, "logprob": -9999.0, "rank": None, "top_logprobs": []}
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])


def named(token_id: int, logprob: float, rank: int) -> dict:
    """One candidate on the wire."""
    return {"token_id": token_id, "logprob": logprob, "rank": rank}


FIRST = {**named(30, -0.5, 1), "top_logprobs": [named(30, -0.5, 1), named(31, -1.5, 2)]}
# name: (token ids, rows as the engine's output has them, entries on the wire)
ROWS = {
    "more-rows-than-tokens": ([30], [[[30, -0.5, 1], [31, -1.5, 2]], [[40, -0.25, 1]]], [FIRST]),
    "uneven-widths": (
        [30, 40, 41],
        [[[30, -0.5, 1], [31, -1.5, 2]], [[40, -0.25, 1]], [[41, -2.5, 3], [42, -0.125, 1]]],
        [
            FIRST,
            {**named(40, -0.25, 1), "top_logprobs": [named(40, -0.25, 1)]},
            {**named(41, -2.5, 3), "top_logprobs": [named(41, -2.5, 3), named(42, -0.125, 1)]},
        ],
    ),
    "sampled-token-in-another-place": (
        [30],
        [[[31, -0.25, 1], [30, -0.5, 2]]],
        [{**named(30, -0.5, 2), "top_logprobs": [named(31, -0.25, 1), named(30, -0.5, 2)]}],
    ),
    "ids-of-a-large-vocabulary": (
        [262144, 2**31 - 1],
        [[[262144, -0.5, 1]], [[2**31 - 1, -0.25, 1]]],
        [
            {**named(262144, -0.5, 1), "top_logprobs": [named(262144, -0.5, 1)]},
            {**named(2**31 - 1, -0.25, 1), "top_logprobs": [named(2**31 - 1, -0.25, 1)]},
        ],
    ),
    "sampled-token-missing": ([30], [[[31, -0.25, 1]]], [MISSING]),
    "row-missing-inside": (
        [30, 30], [None, [[30, -0.5, 1], [31, -1.5, 2]]], [MISSING, FIRST],
    ),
}  # fmt: skip


async def asked(wire, engine, stream: bool, token_ids: list[int], rows: list | None):
    """The answer to a request with logprobs whose engine sends these rows verbatim."""
    steps = [output(token_ids=token_ids, logprobs=rows, finish_reason="length")]
    script = await engine.script(steps, raw=True)
    send = wire.generate_stream if stream else wire.generate
    sampling = {"logprobs": 2, "max_tokens": 8}
    return await send(token_ids=[20], sampling_params=sampling, script=script)


@requirement("logprobs.rows.each-token-its-own")
@capability("integer-logprobs")
@FULL_OR_STREAM
@pytest.mark.parametrize("name", ROWS)
async def test_each_token_keeps_its_own_row(wire, engine, stream, name):
    """One entry a token, with the numbers of its own row and nobody else's."""
    token_ids, rows, entries = ROWS[name]
    answer = (await asked(wire, engine, stream, token_ids, rows)).expect(200)
    body = answer.chunks[0] if stream else answer.json
    (choice,) = body["choices"]
    assert (choice["token_ids"], choice["logprobs"]["content"]) == (token_ids, entries)


@requirement("logprobs.rows.missing-fails")
@FULL_OR_STREAM
@pytest.mark.parametrize(
    "rows", [None, [[[30, -0.5, 1]]]], ids=["no-logprobs-at-all", "fewer-rows-than-tokens"]
)
async def test_missing_rows_fail_the_request(wire, engine, stream, rows):
    """Logprobs that were asked for and are not there are an error, never a shorter list."""
    answer = await asked(wire, engine, stream, [30, 31], rows)
    error = answer.chunks[-1]["error"] if answer.is_event_stream else answer.json["error"]
    assert error["code"] >= 500
    assert answer.status == (200 if answer.is_event_stream else error["code"])
    whole = await asked(wire, engine, False, [30, 31], [[[30, -0.5, 1]], [[31, -0.5, 1]]])
    assert len(whole.expect(200).json["choices"][0]["logprobs"]["content"]) == 2
