"""In derender mode the prompt that was generated from says whether reasoning is open."""

import pytest

from conformance.support import CLOSED_PROMPT, OPEN_PROMPT, PARSERS, encode
from fixtures.case import Node, capability, requirement
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("scripted", *PARSERS), id="qwen3-hermes")], indirect=True
)


@requirement("generate.output-mode.derender.prompt-decides")
@capability("output-mode.derender")
@pytest.mark.parametrize(
    ("prompt", "reasoning", "content"),
    [(OPEN_PROMPT, "answer", None), (CLOSED_PROMPT, None, "answer")],
    ids=["open", "closed"],
)
async def test_prompt_reaches_the_parser(wire, engine, prompt, reasoning, content):
    """The same output is reasoning after an open prompt, and content after one that closed it."""
    script = await engine.script([output(token_ids=encode("answer"), finish_reason="length")])
    answer = await wire.generate(
        token_ids=prompt,
        sampling_params={"max_tokens": 20},
        output_mode="derender",
        parse_context={},
        script=script,
    )
    message = answer.expect(200).json["choices"][0]["message"]
    assert (message["reasoning"], message["content"]) == (reasoning, content)
