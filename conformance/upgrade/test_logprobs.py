"""Logprobs of the real engine: the mixed nodes give those of the generate node's own chat route.

Catches a number of alternatives that is lost on the way, and alternatives under a wrong id.
"""

from conformance.support import entry_id
from conformance.upgrade.support import GREEDY_CHAT, REAL, RENDER, rendered_chat
from fixtures.case import cells, requirement
from fixtures.mix import answered

REQUEST = {**GREEDY_CHAT, "logprobs": True, "top_logprobs": 2}


def by_id(choice: dict) -> list[dict]:
    """Each position: the sampled id, its logprob and the two likeliest alternatives."""
    return [
        {
            "id": entry_id(entry),
            "logprob": entry["logprob"],
            "top_logprobs": [
                {"token_id": entry_id(other), "logprob": other["logprob"]}
                for other in entry["top_logprobs"][:2]
            ],
        }
        for entry in choice["logprobs"]["content"]
    ]


@requirement("upgrade.logprobs.same-numbers")
@cells(render=RENDER, generate=REAL)
async def test_logprobs(mix):
    """Ids and numbers, within 1e-3."""
    by_ids = {"return_tokens_as_token_ids": True}
    unmixed = await mix.unmixed("chat", {**REQUEST, **by_ids})
    with mix.judged() as seen:
        rendered = await rendered_chat(mix, REQUEST)
        answer = answered(await mix.generate.generate(rendered))
        seen.answer(by_id(answer["choices"][0]), by_id(unmixed["choices"][0]))
