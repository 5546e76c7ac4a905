"""Three releases at once, from the request to the answer: only with --upgrade full.

Catches what no pair shows: a field that render adds, generate hands on, and derender refuses.
"""

from conformance.upgrade.support import (
    DERENDER,
    GREEDY_CHAT,
    REAL,
    RENDER,
    derendered_stream,
    of_chat,
    picked,
    rendered_chat,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered


@requirement("upgrade.derender.same-answer")
@cells(render=RENDER, generate=REAL, derender=DERENDER)
async def test_cube_chat(mix):
    """Text and finish reason of /v1/chat/completions on the generate node."""
    [unmixed] = (await mix.unmixed("chat", GREEDY_CHAT))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, GREEDY_CHAT)
        generated = answered(await mix.generate.generate(rendered))
        body = of_chat(GREEDY_CHAT, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        keys = "content", "role"
        seen.answer(picked(choice["message"], *keys), picked(unmixed["message"], *keys))
        seen.answer(choice["finish_reason"], unmixed["finish_reason"])


@requirement("upgrade.derender.same-logprobs")
@cells(render=RENDER, generate=REAL, derender=DERENDER)
async def test_cube_logprobs(mix):
    """Logprobs of /v1/chat/completions on the generate node."""
    request = {**GREEDY_CHAT, "logprobs": True, "top_logprobs": 2}
    [unmixed] = (await mix.unmixed("chat", request))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, request)
        generated = answered(await mix.generate.generate(rendered))
        body = of_chat(request, rendered, generate_response=generated)
        [choice] = answered(await mix.derender.derender_chat(body))["choices"]
        seen.answer(choice["logprobs"], unmixed["logprobs"])


@requirement("upgrade.derender.same-stream")
@cells(render=RENDER, generate=REAL, derender=DERENDER)
async def test_cube_stream(mix):
    """The streamed text of /v1/chat/completions on the generate node."""
    [unmixed] = (await mix.unmixed("chat", GREEDY_CHAT))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**GREEDY_CHAT, "stream": True})
        chunks = answered(await mix.generate.generate(rendered))
        body = of_chat(GREEDY_CHAT, rendered)
        found, _ = await derendered_stream(mix.derender.derender_chat, chunks, body)
        parts = [
            choice["delta"].get("content") or "" for part in found for choice in part["choices"]
        ]
        seen.answer("".join(parts), unmixed["message"]["content"])
