"""A stream that one derender release began and another carries on, with the state the client holds.

Catches a state that another release misreads: broken characters, repeated or lost text.
"""

import pytest

from conformance.support import OPEN_PROMPT, assembled, chunks, decode, encode, logprob_entry
from conformance.upgrade.support import PARSING_DERENDER, RENDER, derendered_stream
from fixtures.case import cells, requirement

TEXT = "h\u20ac\u00e9\U0001f600 fox"
CHAT = {
    "chat_request": {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]},
    "prompt_token_ids": OPEN_PROMPT,
}


async def carried(mix, route: str, stream: list[dict], cut: int, body: dict) -> list[dict]:
    """The derendered chunks: the first `cut` by the first node, the rest by its successor."""
    calls = [getattr(node, route) for node in (mix.derender, mix.successor)]
    begun, state = await derendered_stream(calls[0], stream[:cut], body)
    ended, _ = await derendered_stream(calls[1], stream[cut:], body, state)
    return begun + ended


@requirement("upgrade.stream-state.carried")
@pytest.mark.parametrize("cut", [1, 3], ids=["between-characters", "inside-a-character"])
@cells(derender=RENDER, successor=RENDER)
async def test_stream_state(mix, cut):
    """The text is whole, the role is sent once, and no character is broken at the change."""
    stream = chunks([[each] for each in encode(TEXT)])
    with mix.judged() as seen:
        found = await carried(mix, "derender_chat", stream, cut, CHAT)
        roles = [part["delta"].get("role") for chunk in found for part in chunk["choices"]]
        got = {"text": assembled(found)["content"], "roles": [role for role in roles if role]}
        seen.answer(got, {"text": TEXT, "roles": ["assistant"]})


@requirement("upgrade.stream-state.carried")
@cells(derender=PARSING_DERENDER, successor=PARSING_DERENDER)
async def test_stream_state_parsed(mix):
    """The change falls inside the reasoning: it and the content are whole and apart."""
    stream = chunks([[each] for each in encode("<think>plan</think>answer")])
    with mix.judged() as seen:
        found = assembled(await carried(mix, "derender_chat", stream, 3, CHAT))
        seen.answer([found["reasoning"], found["content"]], ["plan", "answer"])


@requirement("upgrade.stream-state.carried")
@cells(derender=RENDER, successor=RENDER)
async def test_stream_state_logprobs(mix):
    """A completion's logprobs: each token's name, and its offset in the text counted on."""
    ids = encode("the fox ran")
    request = {"model": "tiny", "prompt": "hello", "logprobs": 1}
    stream = chunks([[each] for each in ids])
    for chunk, each in zip(stream, ids, strict=True):
        entry = logprob_entry(mix.derender.node, each, [(each, -0.5)])
        chunk["choices"][0]["logprobs"] = {"content": [entry]}
    body = {"completion_request": request, "prompt_token_ids": OPEN_PROMPT}
    names = [decode([each]) for each in ids]
    offsets = [len("".join(names[:place])) for place in range(len(ids))]
    with mix.judged() as seen:
        found = await carried(mix, "derender_completions", stream, 1, body)
        parts = [part["logprobs"] or {} for chunk in found for part in chunk["choices"]]
        got = {
            key: [value for part in parts for value in part.get(key, [])]
            for key in ("tokens", "text_offset")
        }
        seen.answer(got, {"tokens": names, "text_offset": offsets})
