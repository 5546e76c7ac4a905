"""Streams: the chunks add up to the unmixed answer, also where a client asks for no stream after all.

Catches a stream that loses tokens, its end or its finish reason between two releases.
"""

from conformance.upgrade.support import CHAT, GREEDY_CHAT, REAL, RENDER, SCRIPTED, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered
from fixtures.nodes.script import output


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


@requirement("upgrade.stream.same-answer")
@cells(render=RENDER, generate=SCRIPTED)
async def test_unstreamed(mix):
    """A streamed chat is rendered, and its prefill leg asked for whole: the answer has every token."""
    steps = [output([50]), output([51]), output([52], finish_reason="length")]
    script = await mix.generate.engine.script(steps)
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, {**CHAT, "stream": True})
        edited = {**rendered, "stream": False}
        [choice] = answered(await mix.generate.generate(edited, script=script))["choices"]
        seen.answer(choice["token_ids"], [50, 51, 52])
