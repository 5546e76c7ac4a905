"""A stop string ends the split answer where it ends the coupled one.

Catches a split route whose text still shows the stop string, that stops at another place, or
that forgets to report it.
"""

import pytest

from conformance.parity.support import GREEDY, PROMPTS, same_answer
from conformance.support import UNDISTURBED, split_chat, split_completions
from fixtures.case import capability, requirement

pytestmark = UNDISTURBED


def stop_in(text: str, width: int) -> str:
    """Printable ASCII of `width` characters from the text, with something left before it."""
    for start in range(4, len(text) - width):
        found = text[start : start + width]
        if found.isascii() and found.isprintable() and found not in text[: start + width - 1]:
            return found
    raise AssertionError(f"the model's own text has no stop string of {width} characters: {text!r}")


@requirement("parity.stop-strings.same-end")
@capability("derender.chat")
@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("kept", [False, True], ids=["cut", "kept"])
async def test_chat_ends_at_the_same_stop_string(wire, prompt, kept):
    """The whole answer, with a stop string taken from what the model says unhindered."""
    request = {"messages": PROMPTS[prompt], **GREEDY, "max_tokens": 48}
    text = (await wire.chat(request)).expect(200).json["choices"][0]["message"]["content"]
    stop = stop_in(text, 2)
    request |= {"stop": ["never said", stop], "include_stop_str_in_output": kept}
    coupled = (await wire.chat(request)).expect(200).json
    choice = coupled["choices"][0]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", stop)
    assert choice["message"]["content"].endswith(stop) is kept
    same_answer((await split_chat(wire, request)).answer, coupled)


@requirement("parity.stop-strings.same-end")
@capability("derender.completions")
@pytest.mark.parametrize("width", [1, 3])
async def test_completion_ends_at_the_same_stop_string(wire, width):
    """Stop strings within one token and over several."""
    request = {"prompt": "the quick brown fox", **GREEDY, "max_tokens": 48}
    text = (await wire.completions(request)).expect(200).json["choices"][0]["text"]
    stop = stop_in(text, width)
    request |= {"stop": stop}
    coupled = (await wire.completions(request)).expect(200).json
    choice = coupled["choices"][0]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", stop)
    same_answer((await split_completions(wire, request)).answer, coupled)


@requirement("parity.stop-strings.same-end")
@capability("derender.chat")
async def test_early_stop_string_waits_for_min_tokens(wire):
    """min_tokens holds a stop string back on both routes."""
    request = {"messages": PROMPTS["system"], **GREEDY, "max_tokens": 48}
    text = (await wire.chat(request)).expect(200).json["choices"][0]["message"]["content"]
    request |= {"stop": [stop_in(text, 1)], "min_tokens": 30}
    coupled = (await wire.chat(request)).expect(200).json
    assert coupled["usage"]["completion_tokens"] >= 30
    same_answer((await split_chat(wire, request)).answer, coupled)
