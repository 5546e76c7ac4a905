"""A streamed chat in the real engine: its chunks add up to the unmixed answer.

Catches a stream that loses tokens, its end or its finish reason between two releases.
"""

from conformance.upgrade.support import GREEDY_CHAT, REAL, RENDER, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered


@requirement("upgrade.stream.same-answer")
@cells(render=RENDER, generate=REAL)
async def test_stream(mix):
    """The chunks' tokens joined, and the last finish reason."""
    unmixed = await mix.unmixed("chat", {**GREEDY_CHAT, "return_token_ids": True})
    own = unmixed["choices"][0]
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**GREEDY_CHAT, "stream": True})
        chunks = answered(await mix.generate.generate(rendered))
        parts = [choice for chunk in chunks for choice in chunk["choices"]]
        token_ids = [token_id for part in parts for token_id in part["token_ids"] or []]
        seen.answer(
            [token_ids, parts[-1]["finish_reason"]], [own["token_ids"], own["finish_reason"]]
        )
