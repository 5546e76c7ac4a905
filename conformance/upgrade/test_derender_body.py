"""What a client may leave out of a derender call, and the id it gets back.

Catches a body that one release takes and another refuses, and an answer nobody can match to its
request.
"""

from conformance.support import decode
from conformance.upgrade.support import (
    CHAT,
    DERENDER,
    ONE_TOKEN,
    SCRIPTED,
    of_chat,
    rendered_chat,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.wire import OMIT


@requirement("upgrade.derender.model-optional")
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_without_model(mix):
    """The call names no model: the node serves its only one."""
    script = await mix.generate.engine.script(ONE_TOKEN)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, CHAT)
        generated = answered(await mix.generate.generate(rendered, script=script))
        body = {**of_chat(CHAT, rendered, generate_response=generated), "model": OMIT}
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["message"]["content"], decode([50]))


@requirement("upgrade.derender.same-id")
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_id(mix):
    """The answer's id tells which request it answers."""
    script = await mix.generate.engine.script(ONE_TOKEN)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, CHAT)
        generated = answered(await mix.generate.generate(rendered, script=script))
        body = of_chat(CHAT, rendered, generate_response=generated)
        answer = answered(await mix.derender.derender_chat(body))
        seen.asked(answer["id"].endswith(rendered["request_id"]), True)
