"""A stream of the real engine, derendered chunk by chunk by another release.

Catches a derender node that cannot stream, and logprobs that vanish from the chunks.
"""

import pytest

from conformance.upgrade.support import (
    DERENDER,
    GREEDY_CHAT,
    GREEDY_COMPLETION,
    REAL,
    derendered_stream,
    of_chat,
    rendered_chat,
    rendered_completion,
)
from fixtures.case import cells, requirement
from fixtures.mix import answered


def read(chunks: list[dict]) -> dict:
    """The text, the last finish reason and the chat logprobs that derendered chunks add up to."""
    parts = [choice for chunk in chunks for choice in chunk["choices"]]
    texts = [part["delta"].get("content") if "delta" in part else part["text"] for part in parts]
    entries = [
        entry for part in parts for entry in (part.get("logprobs") or {}).get("content") or []
    ]
    return {
        "text": "".join(text or "" for text in texts),
        "finish_reason": next((p["finish_reason"] for p in parts if p["finish_reason"]), None),
        "logprobs": {"content": entries},
    }


@requirement("upgrade.derender.same-stream")
@pytest.mark.parametrize("top", [None, 2], ids=["plain", "logprobs"])
@cells(generate=REAL, derender=DERENDER)
async def test_derender_chat_stream(mix, top):
    """Text, finish reason and logprobs of /v1/chat/completions on the generate node."""
    request = {**GREEDY_CHAT, **({"logprobs": True, "top_logprobs": top} if top else {})}
    [own] = (await mix.unmixed("chat", request))["choices"]
    unmixed = {
        "text": own["message"]["content"],
        "finish_reason": own["finish_reason"],
        "logprobs": own["logprobs"] or {"content": []},
    }
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**request, "stream": True})
        chunks = answered(await mix.generate.generate(rendered))
        body = of_chat(request, rendered)
        found, _ = await derendered_stream(mix.derender.derender_chat, chunks, body)
        seen.answer(read(found), unmixed)


@requirement("upgrade.derender.same-stream")
@cells(generate=REAL, derender=DERENDER)
async def test_derender_completion_stream(mix):
    """Text and finish reason of /v1/completions on the generate node."""
    [own] = (await mix.unmixed("completions", GREEDY_COMPLETION))["choices"]
    with mix.judged() as seen:
        rendered = await rendered_completion(mix, {**GREEDY_COMPLETION, "stream": True})
        chunks = answered(await mix.generate.generate(rendered))
        body = {
            "completion_request": {"model": "tiny", **GREEDY_COMPLETION},
            "prompt_tokens": len(rendered["token_ids"]),
            "prompt_token_ids": rendered["token_ids"],
        }
        found, _ = await derendered_stream(mix.derender.derender_completions, chunks, body)
        got = read(found)
        seen.answer([got["text"], got["finish_reason"]], [own["text"], own["finish_reason"]])
