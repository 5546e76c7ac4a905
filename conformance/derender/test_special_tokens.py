"""Special tokens are left out of the text unless the request keeps them.

Catches a node that shows `<|im_start|>` to users, drops tags that are not special, or ignores
skip_special_tokens=false.
"""

import pytest

from conformance.support import END_OF_TEXT, IM_START, encode, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

IDS = [*encode("a"), IM_START, *encode("b"), END_OF_TEXT, *encode("<think>c")]
# name: fields of the original request; None where derender gets no request at all
BY_DEFAULT = {"no-request": None, "absent": {}, "true": {"skip_special_tokens": True}}


async def texts(wire, fields: dict | None) -> list[str]:
    """The text of the ids by the chat route, then by completions."""
    chat, completion = {}, {}
    if fields is not None:
        messages = [{"role": "user", "content": "hello"}]
        chat = {"chat_request": {"model": "tiny", "messages": messages, **fields}}
        completion = {"completion_request": {"model": "tiny", "prompt": "hello", **fields}}
    answers = [
        await wire.derender_chat(generate_response=response(IDS), **chat),
        await wire.derender_completions(generate_responses=[response(IDS)], **completion),
    ]
    choices = [answer.expect(200).json["choices"][0] for answer in answers]
    return [choices[0]["message"]["content"], choices[1]["text"]]


@requirement("derender.special-tokens.left-out")
@capability("derender.chat", "derender.completions")
@pytest.mark.parametrize("name", BY_DEFAULT)
async def test_special_tokens_are_left_out(wire, name):
    """By default every special token goes, and a tag that is none stays."""
    assert await texts(wire, BY_DEFAULT[name]) == ["ab<think>c"] * 2


@requirement("derender.special-tokens.kept-on-request")
@capability("derender.chat", "derender.completions")
async def test_special_tokens_are_kept_on_request(wire):
    """skip_special_tokens=false keeps them all."""
    kept = "a<|im_start|>b<|endoftext|><think>c"
    assert await texts(wire, {"skip_special_tokens": False}) == [kept] * 2


@requirement("derender.special-tokens.kept-on-request")
@capability("derender.chat")
async def test_end_of_text_goes_and_comes_back(wire):
    """The tokenizer's own padding token is left out by default and kept on request."""
    body = response([*encode("a"), END_OF_TEXT, *encode("b")])
    request = {"model": "tiny", "messages": []}
    found = []
    for flag in (True, False):
        answer = await wire.derender_chat(
            generate_response=body, chat_request={**request, "skip_special_tokens": flag}
        )
        found.append(answer.expect(200).json["choices"][0]["message"]["content"])
    assert found == ["ab", "a<|endoftext|>b"]
