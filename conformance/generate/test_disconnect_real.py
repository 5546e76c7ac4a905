"""A client that goes away from a real engine: it is free again, long before the
generation's end.
"""

import asyncio

import pytest

from conformance.generate import GREEDY, PROMPT, running, still_answers
from conformance.support import LONG_CONTEXT
from fixtures.case import Node, requirement
from fixtures.stopped import cut_short, idle
from fixtures.waiting import RUNNING, until

# Alone, so that the counters are this case's own.
LONG = Node("real", *LONG_CONTEXT, exclusive=True)
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
    sampling = {"ignore_eos": True, "max_tokens": node.max_model_len - len(PROMPT), **sampling}
    body = {"token_ids": PROMPT, "sampling_params": sampling}
    if stream:
        async with wire.open_stream(GENERATE, body) as answer:
            seen = [await anext(answer) for _ in range(3)]
        assert all("choices" in chunk and chunk["choices"][0]["token_ids"] for chunk in seen), seen
    else:
        async with running(wire.generate(body)):
            await until(wire, RUNNING, n)
    await idle(wire, 2.0)
    await asyncio.sleep(1)  # by now the tokens of the last step are counted
    generated = (await wire.metrics()).total(TOKENS) - before
    cut_short(generated, n, n * node.max_model_len / 2)
    await asyncio.sleep(1)
    assert (await wire.metrics()).total(TOKENS) - before == generated
    await still_answers(wire)
