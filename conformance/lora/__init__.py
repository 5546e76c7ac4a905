"""A server with a LoRA adapter: the adapter's name is a model of every role. What the files of this
chapter share.
"""

import pytest

from fixtures.case import Node

BASE, ADAPTER, UNKNOWN = "tiny", "tiny-lora", "no-such-adapter"
FLAGS = ("--enable-lora", "--lora-modules", f"{ADAPTER}={{tiny-lora}}")
WITH_ADAPTER = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", *FLAGS), id="real-lora")], indirect=True
)
GREEDY = {"temperature": 0.0, "ignore_eos": True, "max_tokens": 12}
SAMPLED = {**GREEDY, "temperature": 1.0, "seed": 7}
PROMPT = [20, 21, 22, 23]
MESSAGES = [{"role": "user", "content": "hello"}]


async def generated(wire, model, prompt=PROMPT, params=GREEDY, stream=False, **fields) -> list[int]:
    """The token ids of one choice of generate, full or put together from a stream."""
    body = {"model": model, "token_ids": prompt, "sampling_params": params, **fields}
    if not stream:
        (choice,) = (await wire.generate(body)).expect(200).json["choices"]
        return choice["token_ids"]
    chunks = (await wire.generate_stream(body)).expect(200).chunks
    return [token for chunk in chunks for token in chunk["choices"][0]["token_ids"]]
