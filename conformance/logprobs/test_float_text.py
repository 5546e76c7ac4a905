"""A float32 goes over the wire without losing a bit.

Catches a node that rounds to a few digits, widens through text, or prints more digits than the
number has.
"""

import re

import numpy
import pytest

from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import float32, output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

# Not one of them is exact in binary; the float32 nearest to each must come back.
VALUES = [-0.1, -1 / 3, -2.7182817, -1e-7, -123.456, -9998.765, -1.1754944e-38, -5e-324]


@requirement("logprobs.values.float32-round-trip")
@capability("integer-logprobs")
@pytest.mark.parametrize("value", VALUES, ids=repr)
async def test_value_is_the_engines_float32(wire, engine, value):
    """The number parsed from the wire is the engine's own, bit for bit."""
    row = [[30, value, 1], [31, -15.5, 2]]
    script = await engine.script([output(token_ids=[30], logprobs=[row], finish_reason="length")])
    sampling = {"logprobs": 1, "max_tokens": 1}
    answer = await wire.generate(token_ids=[20], sampling_params=sampling, script=script)
    (entry,) = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    assert entry["logprob"] == float32(value)


@requirement("logprobs.values.float32-round-trip")
@capability("integer-logprobs")
async def test_text_is_the_shortest_that_reads_back(wire, engine):
    """The digits on the wire are Python's shortest for the widened float32 (LPS-16)."""
    rows = [[[30, value, 1]] for value in VALUES[:6]]
    script = await engine.script(
        [output(token_ids=[30] * 6, logprobs=rows, finish_reason="length")]
    )
    sampling = {"logprobs": 0, "max_tokens": 6}
    answer = await wire.generate(token_ids=[20], sampling_params=sampling, script=script)
    texts = re.findall(rb'"logprob":\s*([-0-9.eE+]+)', answer.expect(200).body)
    assert len(texts) == 12
    assert [float(text) for text in texts[::2]] == [float32(value) for value in VALUES[:6]]
    shortest = {float(text): repr(float(text)) for text in texts}
    digits = [re.sub(r"e([-+])0*", r"e\1", text.decode().lower()) for text in texts]
    assert digits == [re.sub(r"e([-+])0*", r"e\1", shortest[float(text)]) for text in texts]


@requirement("logprobs.values.float32-round-trip")
async def test_numbers_of_many_tokens_are_float32(wire):
    """Every number of an ordinary answer is a float32 widened, none rounded to fewer digits."""
    sampling = {"logprobs": 3, "max_tokens": 20, "prompt_logprobs": 2, "ignore_eos": True}
    answer = await wire.generate(token_ids=list(range(20, 40)), sampling_params=sampling)
    body = answer.expect(200).json
    values = [
        top["logprob"]
        for entry in body["choices"][0]["logprobs"]["content"]
        for top in entry["top_logprobs"]
    ]
    values += [item["logprob"] for own in body["prompt_logprobs"] if own for item in own.values()]
    assert len(values) > 60
    assert values == [float(numpy.float32(value)) for value in values]
