"""A default chat in the real engine: the mixed nodes give the answer of the generate node's own route.

Catches a release whose rendered request another release reads as something else.
"""

from conformance.upgrade.support import GREEDY_CHAT, REAL, RENDER
from fixtures.case import cells, requirement
from fixtures.mix import answered


@requirement("upgrade.chat.same-answer")
@cells(render=RENDER, generate=REAL)
async def test_chat(mix):
    """Tokens, prompt and finish reason are those of /v1/chat/completions on the generate node."""
    unmixed = (await mix.generate.chat({**GREEDY_CHAT, "return_token_ids": True})).expect(200).json
    with mix.judged() as seen:
        rendered = answered(await mix.render.render_chat(GREEDY_CHAT))
        [choice] = answered(await mix.generate.generate(rendered))["choices"]
        seen.asked(rendered["token_ids"], unmixed["prompt_token_ids"])
        keys = "token_ids", "finish_reason"
        own = unmixed["choices"][0]
        seen.answer({key: choice[key] for key in keys}, {key: own[key] for key in keys})
