"""output_mode: tokens unless asked for more, echoed, and never served at another level than
asked.
"""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, still_answers
from fixtures.case import Node, capability, requirement
from fixtures.wire import OMIT

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

BODY = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 3}}


@requirement("generate.output-mode.echoed")
@capability("output-mode.text")
@pytest.mark.parametrize("mode", [OMIT, "tokens"], ids=["absent", "tokens"])
async def test_tokens_is_the_default(wire, mode):
    """Absent means tokens: it is echoed, on every chunk too, and no choice has a text or message
    key.
    """
    full = (await wire.generate(BODY, output_mode=mode)).expect(200).json
    stream = await wire.generate_stream(BODY, output_mode=mode)
    bodies = [full, *stream.expect(200).chunks]
    assert [body["output_mode"] for body in bodies] == ["tokens"] * len(bodies) and len(bodies) > 1
    assert [
        choice
        for body in bodies
        for choice in body["choices"]
        if choice.keys() & {"text", "message"}
    ] == []


@requirement("generate.output-mode.echoed")
@capability("output-mode.text")
async def test_text_is_echoed(wire):
    """A text answer says its level, and has a text and no message."""
    await says_its_level(wire, "text", "text")


@requirement("generate.output-mode.echoed")
@capability("output-mode.derender")
async def test_derender_is_echoed(wire):
    """A derender answer says its level, and has a message and no text."""
    await says_its_level(wire, "derender", "message")


async def says_its_level(wire, mode, key):
    answer = (await wire.generate(BODY, output_mode=mode)).expect(200).json
    assert answer["output_mode"] == mode
    (choice,) = answer["choices"]
    assert choice.keys() & {"text", "message"} == {key} and len(choice["token_ids"]) == 3


@requirement("generate.output-mode.unknown-refused")
@capability("output-mode.text")
@pytest.mark.parametrize(
    "mode",
    ["bogus", "TEXT", "", None, 5, ["text"]],
    ids=["'bogus'", "'TEXT'", "empty", "null", "number", "list"],
)
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_unknown_mode_is_refused(wire, mode, stream):
    """A level that there is not, null among them, is a 400 that names the field; never answered in
    tokens.
    """
    refused(await wire.generate(BODY, output_mode=mode, stream=stream), param="output_mode")
    await still_answers(wire)


@requirement("generate.output-mode.needs-detokenize")
@capability("output-mode.text")
@pytest.mark.parametrize("mode", ["text", "derender"])
async def test_detokenize_false_is_refused(wire, mode):
    """Text without detokenizing is a contradiction: 400; in tokens mode detokenize=false is
    served.
    """
    params = {**BODY["sampling_params"], "detokenize": False}
    refused(await wire.generate(token_ids=PROMPT, sampling_params=params, output_mode=mode))
    served = await wire.generate(token_ids=PROMPT, sampling_params=params, output_mode="tokens")
    assert len(served.expect(200).json["choices"][0]["token_ids"]) == 3
