"""The limit of tokens, at vLLM's default of 16 and beside it.

Catches a default that is left out of the rendered request and read as another default.
"""

import pytest

from conformance.upgrade.support import CHAT, ONE_TOKEN, RENDER, SCRIPTED, engine_request
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.wire import OMIT


@requirement("upgrade.max-tokens.kept")
@pytest.mark.parametrize("max_tokens", [15, 16, 17, OMIT], ids=["15", "16", "17", "omitted"])
@cells(render=RENDER, generate=SCRIPTED)
async def test_max_tokens(mix, max_tokens):
    """The engine gets the limit that the coupled route of the same node gives it."""
    request = {**CHAT, "max_tokens": max_tokens}
    script = await mix.generate.engine.script(ONE_TOKEN)
    (await mix.generate.chat(request, script=script)).expect(200)
    unmixed = await engine_request(mix.generate, script)
    with mix.judged() as seen:
        rendered = answered(await mix.render.render_chat(request))
        script = await mix.generate.engine.script(ONE_TOKEN)
        answered(await mix.generate.generate(rendered, script=script))
        seen.asked(await engine_request(mix.generate, script), unmixed)
