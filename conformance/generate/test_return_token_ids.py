"""return_token_ids: the prompt ids come back, in a stream on the first chunk alone; else null or
absent.
"""

import pytest

from conformance.generate import GREEDY
from conformance.support import UNDISTURBED
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED

PROMPT = [2, 0, 40, 41, 7, 262]
SAMPLED = {"temperature": 1.0, "seed": 3, "ignore_eos": True}


@requirement("generate.return-token-ids.full")
@capability("return-token-ids")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [(True, PROMPT), (False, None), (None, None)],
    ids=["true", "false", "null"],
)
async def test_full(wire, wanted, expected):
    """True returns exactly the ids sent, specials among them; otherwise the key is there
    and null.
    """
    params = {**GREEDY, "max_tokens": 2}
    answer = await wire.generate(token_ids=PROMPT, sampling_params=params, return_token_ids=wanted)
    assert answer.expect(200).json["prompt_token_ids"] == expected
    assert len(answer.json["choices"][0]["token_ids"]) == 2


@requirement("generate.return-token-ids.stream-first-chunk-only")
@capability("return-token-ids")
@pytest.mark.parametrize("n", [1, 2])
async def test_stream(wire, n):
    """The first chunk carries the ids; on every later one, a sibling choice's too, the key is
    absent.
    """
    if n > 1:
        await wire.needs("parallel-sampling")
    params = {**SAMPLED, "max_tokens": 4, "n": n}
    answer = await wire.generate_stream(
        token_ids=PROMPT,
        sampling_params=params,
        return_token_ids=True,
        stream_options={"include_usage": True},
    )
    chunks = answer.expect(200).chunks
    assert len(chunks) > n  # at least one a choice, and the usage
    assert chunks[0]["prompt_token_ids"] == PROMPT
    assert [chunk for chunk in chunks[1:] if "prompt_token_ids" in chunk] == []


@requirement("generate.return-token-ids.stream-first-chunk-only")
async def test_stream_without_the_flag(wire):
    """Without the flag no chunk has the key, not even as null."""
    answer = await wire.generate_stream(
        token_ids=PROMPT, sampling_params={**GREEDY, "max_tokens": 4}
    )
    chunks = answer.expect(200).chunks
    assert chunks
    assert [
        chunk for chunk in chunks if "prompt_token_ids" in chunk or "mm_placeholders" in chunk
    ] == []
