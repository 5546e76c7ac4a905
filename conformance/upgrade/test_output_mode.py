"""A client that edits output_mode into a rendered request gets that mode or a refusal.

Catches a generate node that answers in tokens to a client that will look for text.
"""

import pytest

from conformance.support import encode
from conformance.upgrade.support import CHAT, RENDER, SCRIPTED, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.nodes.script import output

TEXT = "hello fox"


def read(answer: dict | list[dict]) -> dict:
    """The mode and the text of a full answer or of chunks, in whichever mode they are."""
    bodies = answer if isinstance(answer, list) else [answer]
    choices = [choice for body in bodies for choice in body["choices"]]
    messages = [choice.get("message") or choice.get("delta") or {} for choice in choices]
    texts = [choice.get("text") for choice in choices] + [part.get("content") for part in messages]
    return {"mode": bodies[0].get("output_mode"), "text": "".join(text or "" for text in texts)}


@requirement("upgrade.output-mode.served-or-refused")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize("mode", ["text", "derender"])
@cells(render=RENDER, generate=SCRIPTED)
async def test_output_mode(mix, mode, stream):
    """The answer names the mode and has the text."""
    script = await mix.generate.engine.script([output(encode(TEXT), finish_reason="length")])
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**CHAT, "stream": stream})
        edited = {**rendered, "output_mode": mode}
        answer = answered(await mix.generate.generate(edited, script=script))
        seen.asked(read(answer), {"mode": mode, "text": TEXT})
