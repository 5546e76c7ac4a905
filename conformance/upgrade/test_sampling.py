"""Sampling parameters, none at its default: all of them reach the engine.

Catches a parameter that one release writes and another does not read, or reads as another value.
"""

from conformance.upgrade.support import CHAT, RENDER, SCRIPTED, effective, rendered_chat
from fixtures.case import cells, requirement

REQUEST = {
    **CHAT,
    "temperature": 0.7,
    "top_p": 0.9,
    "top_k": 5,
    "min_p": 0.05,
    "seed": 7,
    "max_tokens": 9,
    "min_tokens": 1,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.25,
    "repetition_penalty": 1.5,
    "stop": ["fox"],
    "stop_token_ids": [60],
    "ignore_eos": True,
    "logit_bias": {"50": 1.5},
    "include_stop_str_in_output": True,
    "skip_special_tokens": False,
    "spaces_between_special_tokens": False,
    "logprobs": True,
    "top_logprobs": 3,
}


@requirement("upgrade.sampling.kept")
@cells(render=RENDER, generate=SCRIPTED)
async def test_sampling(mix):
    """The engine gets what the generate node's own chat route gives it."""
    unmixed = await effective(mix.generate, mix.generate.chat, REQUEST)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, REQUEST)
        seen.asked(await effective(mix.generate, mix.generate.generate, rendered), unmixed)
