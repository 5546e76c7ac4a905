"""The reasoning parser's arguments, which gate structured outputs in the engine.

Catches a chat that switched thinking off and meets an engine that waits for the thought's end.
"""

from conformance.upgrade.support import (
    CHAT,
    ONE_TOKEN,
    PARSING,
    PARSING_RENDER,
    engine_request,
    rendered_chat,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered

REQUEST = {**CHAT, "chat_template_kwargs": {"enable_thinking": False}}


async def told(node, call, body) -> dict:
    """What the engine is told of reasoning."""
    script = await node.engine.script(ONE_TOKEN)
    answered(await call(body, script=script))
    request = await engine_request(node, script)
    template = (request.get("reasoning_parser_kwargs") or {}).get("chat_template_kwargs", {})
    return {"ended": request.get("reasoning_ended"), "thinking": template.get("enable_thinking")}


@requirement("upgrade.reasoning.kept")
@cells(render=PARSING_RENDER, generate=PARSING)
async def test_reasoning(mix):
    """The engine is told what the generate node's own chat route tells it."""
    unmixed = await told(mix.generate, mix.generate.chat, REQUEST)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, REQUEST)
        seen.asked(await told(mix.generate, mix.generate.generate, rendered), unmixed)
