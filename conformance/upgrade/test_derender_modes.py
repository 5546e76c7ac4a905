"""Where a text ends, and answers that hold text already.

Catches a stop string or an end token that the coupled route cut and the mix brings back, and a text
or derender answer that is fed to a derender node.
"""

import pytest

from conformance.support import IM_END, encode
from conformance.upgrade.support import CHAT, DERENDER, SCRIPTED, of_chat, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.nodes.script import output

TEXT = "hello fox"


@requirement("upgrade.derender.cut-at-stop")
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_stop(mix):
    """The text ends before the stop string, as on the generate node's own route."""
    request = {**CHAT, "stop": ["fox"]}
    steps = [output([each]) for each in encode(TEXT)] + [output([50], finish_reason="length")]
    script = await mix.generate.engine.script(steps)
    [unmixed] = answered(await mix.generate.chat(request, script=script))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        generated = answered(await mix.generate.generate(rendered, script=script))
        body = of_chat(request, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["message"]["content"], unmixed["message"]["content"])


@requirement("upgrade.derender.cut-at-stop")
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_end_of_turn(mix):
    """The end token, with which a model ends its turn, is not in the text."""
    steps = [output([*encode(TEXT), IM_END], finish_reason="stop")]
    script = await mix.generate.engine.script(steps)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, CHAT)
        generated = answered(await mix.generate.generate(rendered, script=script))
        body = of_chat(CHAT, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["message"]["content"], TEXT)


@requirement("upgrade.derender.tokens-only")
@pytest.mark.parametrize("mode", ["text", "derender"])
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_of_mode(mix, mode):
    """An answer in another mode is refused, or its ids make the same text."""
    script = await mix.generate.engine.script([output(encode(TEXT), finish_reason="length")])
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, CHAT)
        edited = {**rendered, "output_mode": mode}
        generated = answered(await mix.generate.generate(edited, script=script))
        body = of_chat(CHAT, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["message"]["content"], TEXT)
