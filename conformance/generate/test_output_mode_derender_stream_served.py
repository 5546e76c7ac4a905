"""Derender mode is served streamed by a node that serves it at all."""

import pytest

from conformance.generate import PROMPT
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)


@requirement("generate.output-mode.derender.stream-served")
@capability("output-mode.derender")
@pytest.mark.parametrize("max_tokens", [1, 12])
async def test_a_streamed_request_gets_a_stream_of_deltas(wire, max_tokens):
    """Every chunk is of the derender level and the stream ends with a finish reason."""
    answer = await wire.generate_stream(
        token_ids=PROMPT,
        sampling_params={"max_tokens": max_tokens, "temperature": 0.0, "ignore_eos": True},
        output_mode="derender",
        parse_context={},
    )
    choices = [choice for chunk in answer.expect(200).chunks for choice in chunk["choices"]]
    assert {chunk["output_mode"] for chunk in answer.chunks} == {"derender"}
    assert all("delta" in choice for choice in choices)
    assert (choices[-1]["finish_reason"], answer.done) == ("length", True)
