"""return_token_ids in the chat: the generate answer then has the prompt's ids.

Catches a flag that render does not carry, or that generate does not read.
"""

from conformance.upgrade.support import CHAT, ONE_TOKEN, RENDER, SCRIPTED, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered


@requirement("upgrade.return-token-ids.kept")
@cells(render=RENDER, generate=SCRIPTED)
async def test_return_token_ids(mix):
    """The ids are those that render made."""
    script = await mix.generate.engine.script(ONE_TOKEN)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**CHAT, "return_token_ids": True})
        answer = answered(await mix.generate.generate(rendered, script=script))
        seen.asked(answer.get("prompt_token_ids"), rendered["token_ids"])
