"""The limit of tokens, at vLLM's default of 16 and beside it.

Catches a default that is left out of the rendered request and read as another default.
"""

import pytest

from conformance.upgrade.support import CHAT, RENDER, SCRIPTED, effective, rendered_chat
from fixtures.case import cells, requirement
from fixtures.wire import OMIT


@requirement("upgrade.max-tokens.kept")
@pytest.mark.parametrize("max_tokens", [15, 16, 17, OMIT], ids=["15", "16", "17", "omitted"])
@cells(render=RENDER, generate=SCRIPTED)
async def test_max_tokens(mix, max_tokens):
    """The engine gets the limit that the generate node's own chat route gives it."""
    request = {**CHAT, "max_tokens": max_tokens}
    unmixed = await effective(mix.generate, mix.generate.chat, request)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        seen.asked(await effective(mix.generate, mix.generate.generate, rendered), unmixed)
