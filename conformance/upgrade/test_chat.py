"""A chat in the real engine: the mixed nodes give the answer of the generate node's own route.

Catches a release whose rendered request another release reads as something else.
"""

import pytest

from conformance.parity.support import SAMPLED
from conformance.upgrade.support import CHAT, GREEDY_CHAT, REAL, RENDER, picked, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered

REQUESTS = {"greedy": GREEDY_CHAT, "two-seeded-choices": {**CHAT, **SAMPLED, "n": 2}}


@requirement("upgrade.chat.same-answer")
@pytest.mark.parametrize("name", REQUESTS)
@cells(render=RENDER, generate=REAL)
async def test_chat(mix, name):
    """Tokens, prompt and finish reasons are those of /v1/chat/completions on the generate node."""
    request = REQUESTS[name]
    unmixed = answered(await mix.generate.chat({**request, "return_token_ids": True}))
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        answer = answered(await mix.generate.generate(rendered))
        seen.asked(rendered["token_ids"], unmixed["prompt_token_ids"])
        keys = "index", "token_ids", "finish_reason"
        got, wanted = (
            [picked(choice, *keys) for choice in sorted(body["choices"], key=lambda c: c["index"])]
            for body in (answer, unmixed)
        )
        seen.answer(got, wanted)
