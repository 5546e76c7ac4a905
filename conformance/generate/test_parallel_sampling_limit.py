"""n above the number of sequences the server runs at once is refused; at the limit it is served."""

import pytest

from conformance.generate import PROMPT, refused, still_answers
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node", [Node("scripted", "--max-num-seqs", "4")], indirect=True
)


@requirement("generate.n.above-max-num-seqs-refused")
@capability("parallel-sampling")
@pytest.mark.parametrize("n", [5, 6, 1000, 10**6])
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_above_max_num_seqs_is_refused(wire, n, stream):
    """With --max-num-seqs 4, n=4 gives 4 choices and a larger n is a 400, streamed or not."""
    send = wire.generate_stream if stream else wire.generate
    params = {"temperature": 1.0, "max_tokens": 2, "ignore_eos": True}
    refused(await send(token_ids=PROMPT, sampling_params={**params, "n": n}))
    answer = await wire.generate(token_ids=PROMPT, sampling_params={**params, "n": 4})
    assert [choice["index"] for choice in answer.expect(200).json["choices"]] == [0, 1, 2, 3]
    await still_answers(wire)
