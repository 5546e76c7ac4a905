"""Text mode and stop strings: text is cut at the string, ids are not, and text that may begin one
is held back.
"""

import pytest

from conformance.generate import PROMPT, choices_of
from fixtures.case import Node, capability, requirement
from fixtures.models import tokenizer
from fixtures.nodes.script import output

pytestmark = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

TEXT = "one END two"
IDS = [tokenizer().token_to_id(letter if letter != " " else "Ġ") for letter in TEXT]
CUT = TEXT.index("END")
UP_TO_STOP = IDS[: CUT + 3]


async def spell(wire, engine, stream, params):
    """One id, one character a step."""
    name = await engine.script([output(token_ids=[token]) for token in IDS])
    params = {"max_tokens": 64, "ignore_eos": True, **params}
    fields = {"token_ids": PROMPT, "sampling_params": params, "script": name, "output_mode": "text"}
    if stream:
        return choices_of(await wire.generate_stream(**fields)), name
    return (await wire.generate(**fields)).expect(200).json["choices"], name


@requirement("generate.output-mode.text.stop-string-cut")
@capability("output-mode.text")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize(
    ("keep", "text"), [(False, TEXT[:CUT]), (True, TEXT[: CUT + 3])], ids=["cut", "kept"]
)
async def test_text_is_cut_and_ids_are_not(wire, engine, stream, keep, text):
    """text ends before the stop string, or after it with include_stop_str_in_output; token_ids keep
    its ids.
    """
    choices, name = await spell(
        wire, engine, stream, {"stop": ["END"], "include_stop_str_in_output": keep}
    )
    assert "".join(choice["text"] for choice in choices) == text
    assert [token for choice in choices for token in choice["token_ids"]] == UP_TO_STOP
    assert (choices[-1]["finish_reason"], choices[-1]["stop_reason"]) == ("stop", "END")
    assert (await engine.wait_for(name, "generate_end"))["how"] == "finished"


@requirement("generate.output-mode.text.stop-string-held-back")
@capability("output-mode.text")
async def test_stream_never_shows_a_part_of_the_stop_string(wire, engine):
    """No prefix of the streamed text has a character of the stop string; each chunk has the id it
    came with.
    """
    choices, _ = await spell(wire, engine, True, {"stop": ["END"]})
    seen = ""
    for choice in choices:
        seen += choice["text"]
        assert TEXT[:CUT].startswith(seen)
    assert [choice["token_ids"] for choice in choices] == [[token] for token in UP_TO_STOP]


@requirement("generate.output-mode.text.stop-string-held-back")
@capability("output-mode.text")
async def test_text_held_back_in_vain_is_sent(wire, engine):
    """Text held back for a stop string that does not come is all sent by the end."""
    name = await engine.script(
        [output(token_ids=[token]) for token in IDS[:-1]]
        + [output(token_ids=IDS[-1:], finish_reason="length")]
    )
    answer = await wire.generate_stream(
        token_ids=PROMPT,
        sampling_params={"max_tokens": 64, "ignore_eos": True, "stop": ["two three"]},
        script=name,
        output_mode="text",
    )
    choices = choices_of(answer)
    assert "".join(choice["text"] for choice in choices) == TEXT
    assert (choices[-1]["finish_reason"], choices[-1]["stop_reason"]) == ("length", None)
