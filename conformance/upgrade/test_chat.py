"""A chat: the mixed nodes give the answer of the generate node's own route.

Catches a release whose rendered request another release reads as something else.
"""

from conformance.upgrade.support import (
    CHAT,
    GREEDY_CHAT,
    REAL,
    RENDER,
    SCRIPTED,
    picked,
    rendered_chat,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.nodes.script import output


@requirement("upgrade.chat.same-answer")
@cells(render=RENDER, generate=REAL)
async def test_chat(mix):
    """Tokens, prompt and finish reason of the real engine are those of /v1/chat/completions."""
    unmixed = await mix.unmixed("chat", {**GREEDY_CHAT, "return_token_ids": True})
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, GREEDY_CHAT)
        [choice] = answered(await mix.generate.generate(rendered))["choices"]
        seen.asked(rendered["token_ids"], unmixed["prompt_token_ids"])
        keys = "token_ids", "finish_reason"
        seen.answer(picked(choice, *keys), picked(unmixed["choices"][0], *keys))


@requirement("upgrade.chat.same-answer")
@cells(render=RENDER, generate=SCRIPTED)
async def test_two_choices(mix):
    """Both choices of n=2 are in the answer, each with its own tokens and end."""
    told = [([50, 51], "length"), ([60], "stop")]
    steps = [
        output(token_ids, index=index, finish_reason=finish_reason)
        for index, (token_ids, finish_reason) in enumerate(told)
    ]
    script = await mix.generate.engine.script(steps)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**CHAT, "n": 2})
        choices = answered(await mix.generate.generate(rendered, script=script))["choices"]
        found = sorted(choices, key=lambda choice: choice["index"])
        seen.answer([[c["token_ids"], c["finish_reason"]] for c in found], [list(t) for t in told])
