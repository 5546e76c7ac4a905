"""Whole answers of the real engine, derendered by another release: the generate node's own answer.

Catches a generate response that another release's derender node refuses or reads as something else.
"""

from conformance.upgrade.support import (
    DERENDER,
    GREEDY_CHAT,
    GREEDY_COMPLETION,
    REAL,
    of_chat,
    of_completion,
    picked,
    rendered_chat,
    rendered_completion,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered

USAGE = "prompt_tokens", "completion_tokens", "total_tokens"


def read_chat(answer: dict) -> dict:
    """What a chat answer says: text, role, finish reason, counted tokens."""
    [choice] = answer["choices"]
    return {
        "message": picked(choice["message"], "role", "content"),
        "finish_reason": choice["finish_reason"],
        "usage": picked(answer["usage"], *USAGE),
    }


def read_completion(answer: dict) -> dict:
    """What a completion says: text, finish reason, counted tokens."""
    [choice] = answer["choices"]
    return {**picked(choice, "text", "finish_reason"), "usage": picked(answer["usage"], *USAGE)}


@requirement("upgrade.derender.same-answer")
@cells(generate=REAL, derender=DERENDER)
async def test_derender_chat(mix):
    """Text, role, finish reason and usage of /v1/chat/completions."""
    unmixed = await mix.unmixed("chat", GREEDY_CHAT)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, GREEDY_CHAT)
        generated = answered(await mix.generate.generate(rendered))
        body = of_chat(GREEDY_CHAT, rendered, generate_response=generated)
        answer = answered(await mix.derender.derender_chat(body))
        seen.answer(read_chat(answer), read_chat(unmixed))


@requirement("upgrade.derender.same-answer")
@cells(generate=REAL, derender=DERENDER)
async def test_derender_completion(mix):
    """Text, finish reason and usage of /v1/completions."""
    unmixed = await mix.unmixed("completions", GREEDY_COMPLETION)
    with mix.judged() as seen:
        rendered = await rendered_completion(mix, GREEDY_COMPLETION)
        generated = answered(await mix.generate.generate(rendered))
        body = of_completion(GREEDY_COMPLETION, rendered, generated)
        answer = answered(await mix.derender.derender_completions(body))
        seen.answer(read_completion(answer), read_completion(unmixed))
