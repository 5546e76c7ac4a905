"""Whether an output begins in reasoning is for the prompt's ids to say, whole and streamed.

Catches a node whose parser does not see the prompt, or sees another than the caller named: after a
prompt that closed the reasoning (a template with thinking off) an answer would be taken for it.
"""

import pytest

from conformance.support import (
    CLOSED_PROMPT,
    OPEN_PROMPT,
    PARSERS,
    assembled,
    chunks,
    derender_each,
    encode,
    response,
)
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", *PARSERS), id="real-parsers")], indirect=True
)

OUTPUT = encode("answer")
REQUEST = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
THOUGHT, SAID = ("answer", None), (None, "answer")
# name: (prompt_token_ids of the request, those of the generate response, (reasoning, content))
PROMPTS = {
    "none": (None, None, THOUGHT),
    "open": (None, OPEN_PROMPT, THOUGHT),
    "closed-in-the-response": (None, CLOSED_PROMPT, SAID),
    "closed-in-both": (CLOSED_PROMPT, CLOSED_PROMPT, SAID),
}
NAMED = {
    "closed-in-the-request": (CLOSED_PROMPT, None, SAID),
    "request-before-response": (OPEN_PROMPT, CLOSED_PROMPT, THOUGHT),
}


@requirement("derender.parser.prompt-decides")
@capability("derender.chat")
@pytest.mark.parametrize("name", PROMPTS)
async def test_prompt_decides_whether_reasoning_is_open(wire, name):
    """The response's prompt ids; without any the output is reasoning."""
    await judge(wire, *PROMPTS[name])


@requirement("derender.parser.request-prompt-decides")
@capability("derender.chat")
@pytest.mark.parametrize("name", NAMED)
async def test_prompt_of_the_request_decides_first(wire, name):
    """The request's prompt ids, before the response's."""
    await judge(wire, *NAMED[name])


async def judge(wire, prompt: list | None, own: list | None, expected: tuple) -> None:
    """What a full derender with these prompt ids makes of the output."""
    body = response({"token_ids": OUTPUT, "finish_reason": "stop"}, prompt_token_ids=own)
    answer = await wire.derender_chat(
        generate_response=body, chat_request=REQUEST, prompt_token_ids=prompt
    )
    message = answer.expect(200).json["choices"][0]["message"]
    assert (message["reasoning"], message["content"]) == expected


@requirement("derender.parser.stream-prompt-decides")
@capability("derender.chat.stream")
@pytest.mark.parametrize(
    ("prompt", "expected"), [(OPEN_PROMPT, THOUGHT), (CLOSED_PROMPT, SAID)], ids=["open", "closed"]
)
async def test_prompt_decides_in_a_stream(wire, prompt, expected):
    """The same for a stream, whose calls all name the prompt."""
    stream = chunks([[token_id] for token_id in OUTPUT], "stop")
    answers = await derender_each(
        wire.derender_chat, stream, chat_request=REQUEST, prompt_token_ids=prompt
    )
    message = assembled([answer.json["chunk"] for answer in answers])
    assert (message["reasoning"] or None, message["content"] or None) == expected
