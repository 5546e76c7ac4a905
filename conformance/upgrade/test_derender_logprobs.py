"""Logprobs on their way through another release's derender node.

Catches the two shapes of token-level logprobs, which no release reads across 0.32, and alternatives
that are lost or one too many.
"""

import pytest

from conformance.override.support import row
from conformance.upgrade.support import (
    CHAT,
    DERENDER,
    GREEDY_CHAT,
    GREEDY_COMPLETION,
    REAL,
    SCRIPTED,
    of_chat,
    of_completion,
    rendered_chat,
    rendered_completion,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.nodes.script import output

LOGPROBS = {"logprobs": True, "top_logprobs": 2}
IDS = [50, 60]


@requirement("upgrade.derender.same-logprobs")
@cells(generate=REAL, derender=DERENDER)
async def test_derender_chat_logprobs(mix):
    """Names, bytes and numbers of /v1/chat/completions on the generate node."""
    request = {**GREEDY_CHAT, **LOGPROBS}
    [unmixed] = (await mix.unmixed("chat", request))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        generated = answered(await mix.generate.generate(rendered))
        body = of_chat(request, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["logprobs"], unmixed["logprobs"])


@requirement("upgrade.derender.same-logprobs")
@cells(generate=REAL, derender=DERENDER)
async def test_derender_completion_logprobs(mix):
    """Tokens, numbers and offsets of /v1/completions on the generate node."""
    request = {**GREEDY_COMPLETION, "logprobs": 2}
    [unmixed] = (await mix.unmixed("completions", request))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_completion(mix, request)
        generated = answered(await mix.generate.generate(rendered))
        body = of_completion(request, rendered, generated)
        [choice] = answered(await mix.derender.derender_completions(body))["choices"]
        seen.answer(choice["logprobs"], unmixed["logprobs"])


@requirement("upgrade.derender.same-logprobs")
@pytest.mark.parametrize("top", [2, 20])
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_unlikely_token(mix, top):
    """The sampled token is none of the likeliest: a chat has exactly as many alternatives as asked for.

    Twenty is the most that a node's default allows.
    """
    request = {**CHAT, "logprobs": True, "top_logprobs": top}
    others = list(range(70, 70 + top))
    rows = [row(token_id, others, rank=top + 1) for token_id in IDS]
    script = await mix.generate.engine.script([output(IDS, logprobs=rows, finish_reason="length")])
    [unmixed] = answered(await mix.generate.chat(request, script=script))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        generated = answered(await mix.generate.generate(rendered, script=script))
        body = of_chat(request, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["logprobs"], unmixed["logprobs"])
