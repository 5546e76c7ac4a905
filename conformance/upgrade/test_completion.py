"""Completions: with all defaults what reaches the engine, and a greedy one in the real engine.

Catches a default that the generate node does not share: /v1/completions means 16 tokens.
"""

from conformance.upgrade.support import (
    COMPLETION,
    GREEDY_COMPLETION,
    REAL,
    RENDER,
    SCRIPTED,
    effective,
    picked,
    rendered_completion,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered


@requirement("upgrade.max-tokens.kept")
@cells(render=RENDER, generate=SCRIPTED)
async def test_default_completion(mix):
    """The engine is asked for what the generate node's own route asks of it."""
    unmixed = await effective(mix.generate, mix.generate.completions, COMPLETION)
    with mix.judged() as seen:
        rendered = await rendered_completion(mix, COMPLETION)
        seen.asked(await effective(mix.generate, mix.generate.generate, rendered), unmixed)


@requirement("upgrade.completion.same-answer")
@cells(render=RENDER, generate=REAL)
async def test_completion(mix):
    """Tokens, prompt and finish reason are those of /v1/completions on the generate node."""
    told = {**GREEDY_COMPLETION, "return_token_ids": True}
    [unmixed] = (await mix.unmixed("completions", told))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_completion(mix, GREEDY_COMPLETION)
        [choice] = answered(await mix.generate.generate(rendered))["choices"]
        seen.asked(rendered["token_ids"], unmixed["prompt_token_ids"])
        keys = "token_ids", "finish_reason"
        seen.answer(picked(choice, *keys), picked(unmixed, *keys))
