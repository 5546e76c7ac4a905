"""Special tokens are left out of the text unless the request keeps them.

Catches a node that shows `<|im_start|>` to users, drops tags that are not special, or ignores
skip_special_tokens=false.
"""

import pytest

from conformance.support import END_OF_TEXT, IM_START, encode, response
from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

IDS = [*encode("a"), IM_START, *encode("b"), END_OF_TEXT, *encode("<think>c")]
CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
COMPLETION = {"model": "tiny", "prompt": "hello"}
# skip_special_tokens: the text that remains
TEXTS = {
    None: "ab<think>c",
    True: "ab<think>c",
    False: "a<|im_start|>b<|endoftext|><think>c",
}


def with_flag(request: dict, flag: bool | None) -> dict:
    """The request with skip_special_tokens, or without where `flag` is None."""
    return request if flag is None else {**request, "skip_special_tokens": flag}


@requirement("derender.special-tokens.as-requested")
@pytest.mark.parametrize("flag", TEXTS)
async def test_chat_text_follows_the_request(wire, flag):
    """Chat: special tokens are left out by default, kept when the request says so."""
    answer = await wire.derender_chat(
        generate_response=response(IDS), chat_request=with_flag(CHAT, flag)
    )
    assert answer.expect(200).json["choices"][0]["message"]["content"] == TEXTS[flag]


@requirement("derender.special-tokens.as-requested")
@pytest.mark.parametrize("flag", TEXTS)
async def test_completions_text_follows_the_request(wire, flag):
    """The same for completions."""
    answer = await wire.derender_completions(
        generate_responses=[response(IDS)], completion_request=with_flag(COMPLETION, flag)
    )
    assert answer.expect(200).json["choices"][0]["text"] == TEXTS[flag]


@requirement("derender.special-tokens.as-requested")
@pytest.mark.parametrize("route", ["chat", "completions"])
async def test_without_a_request_they_are_left_out(wire, route):
    """No request to follow: the default, as the coupled route has it."""
    if route == "chat":
        answer = await wire.derender_chat(generate_response=response(IDS))
        text = answer.expect(200).json["choices"][0]["message"]["content"]
    else:
        answer = await wire.derender_completions(generate_responses=[response(IDS)])
        text = answer.expect(200).json["choices"][0]["text"]
    assert text == TEXTS[None]
