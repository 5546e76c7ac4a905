"""A client that goes away from a real engine: it is free again, long before the
generation's end.
"""

import asyncio

import pytest

from conformance.generate import GREEDY, PROMPT, running, still_answers
from fixtures.case import Node, requirement
from fixtures.stopped import cut_short, idle

# A context so long that a whole generation takes many seconds; alone, so that the counters are
# this case's own.
LONG = Node(
    "real",
    *("--max-model-len", "8192", "--hf-overrides", '{"max_position_embeddings": 8192}'),
    exclusive=True,
)
GENERATE = "/inference/v1/generate"
TOKENS = "vllm:generation_tokens_total"


@pytest.mark.parametrize("node", [pytest.param(LONG, id="real-long-context")], indirect=True)
@requirement("generate.disconnect.frees-real-engine")
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "full"])
async def test_real_engine_is_free_again(wire, node, n, stream):
    """Within two seconds of the client's leaving nothing runs, and less than half was generated."""
    if n > 1:
        await wire.needs("parallel-sampling")
    before = (await wire.metrics()).total(TOKENS)
    sampling = {"temperature": 1.0, "seed": 2, "n": n} if n > 1 else GREEDY
    body = {"token_ids": PROMPT, "sampling_params": {"ignore_eos": True, **sampling}}
    if stream:
        async with wire.open_stream(GENERATE, body) as answer:
            seen = [await anext(answer) for _ in range(3)]
        assert all("choices" in chunk and chunk["choices"][0]["token_ids"] for chunk in seen), seen
    else:
        async with running(wire.generate(body)):
            await asyncio.sleep(0.2)
            await still_answers(wire)  # first come, first served: the one before it runs by now
    await idle(wire, 2.0)
    await asyncio.sleep(1)  # by now the tokens of the last step are counted
    generated = (await wire.metrics()).total(TOKENS) - before
    cut_short(generated, 3, n * node.max_model_len / 2)
    await asyncio.sleep(1)
    assert (await wire.metrics()).total(TOKENS) - before == generated
    await still_answers(wire)
