"""return_tokens_as_token_ids in the request that a derender call carries.

Catches a derender node that ignores an explicit value without a word.
"""

import pytest

from conformance.override.support import placeholder, with_value
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

REQUEST = {**CHAT, "logprobs": True, "top_logprobs": 1}


@requirement("upgrade.override.derender-honours")
@pytest.mark.parametrize("value", [True, False], ids=["true", "false"])
@cells(generate=SCRIPTED, derender=DERENDER)
async def test_derender_override(mix, value):
    """The value decides how the answer's logprobs name their tokens."""
    request = with_value(REQUEST, value)
    script = await mix.generate.engine.script(ONE_TOKEN)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        generated = answered(await mix.generate.generate(rendered, script=script))
        body = of_chat(request, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        tokens = [entry["token"] for entry in choice["logprobs"]["content"]]
        seen.asked(tokens, [placeholder(50) if value else decode([50])])
