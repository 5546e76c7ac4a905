"""What stopped an output is not part of its text, unless the request wants it there.

Catches a node that leaks the stop string or the stop token, cuts in an answer that ended by
length, or cuts at a string nobody asked for.
"""

import pytest

from conformance.support import IM_END, chunk, encode, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

TEXT = "hello STOP"
(DOT,) = encode(".")
KEEP = {"include_stop_str_in_output": True}
# name: (ids, finish_reason, stop_reason, request fields, text, stop_reason of the answer)
OUTPUTS = {
    "string": (encode(TEXT), "stop", "STOP", {"stop": ["STOP"]}, "hello ", "STOP"),
    "string-as-text": (encode(TEXT), "stop", "STOP", {"stop": "STOP"}, "hello ", "STOP"),
    "string-of-two": (encode(TEXT), "stop", "STOP", {"stop": ["never", "STOP"]}, "hello ", "STOP"),
    "string-inside-last-token": (
        encode("the fox"), "stop", " f", {"stop": [" f"]}, "the", " f",
    ),
    "string-outside-ascii": (encode("a日é"), "stop", "日é", {"stop": ["日é"]}, "a", "日é"),
    "string-kept": (
        encode(TEXT), "stop", "STOP", {"stop": ["STOP"], **KEEP}, TEXT, "STOP",
    ),
    "string-but-length": (encode(TEXT), "length", None, {"stop": ["STOP"]}, TEXT, None),
    "token": (encode("hello."), "stop", DOT, {"stop_token_ids": [DOT]}, "hello", DOT),
    "token-kept": (
        encode("hello."), "stop", DOT, {"stop_token_ids": [DOT], **KEEP}, "hello.", DOT,
    ),
    "token-but-length": (
        encode("hello."), "length", None, {"stop_token_ids": [DOT]}, "hello.", None,
    ),
    "end-token": ([*encode("hello"), IM_END], "stop", None, {}, "hello", None),
    "end-token-shown-but-dropped": (
        [*encode("hello"), IM_END], "stop", None, {"skip_special_tokens": False}, "hello", None,
    ),
}  # fmt: skip


async def derendered(wire, name: str) -> list[tuple]:
    """(text, finish_reason, stop_reason) by the chat route, then by completions."""
    token_ids, finish, stop, fields, _, _ = OUTPUTS[name]
    body = response({"token_ids": token_ids, "finish_reason": finish, "stop_reason": stop})
    chat = await wire.derender_chat(
        generate_response=body,
        chat_request={"model": "tiny", "messages": [{"role": "user", "content": "a"}], **fields},
    )
    completion = await wire.derender_completions(
        generate_responses=[body], completion_request={"model": "tiny", "prompt": "a", **fields}
    )
    choices = [answer.expect(200).json["choices"][0] for answer in (chat, completion)]
    texts = [choices[0]["message"]["content"], choices[1]["text"]]
    return [
        (text, choice["finish_reason"], choice["stop_reason"])
        for text, choice in zip(texts, choices, strict=True)
    ]


@requirement("derender.stop.cut-from-the-text")
@capability("derender.chat", "derender.completions")
@capability("integer-logprobs")  # stop_reason reaches derender from the same release on
@pytest.mark.parametrize("name", OUTPUTS)
async def test_text_ends_where_the_output_stopped(wire, name):
    """Both routes: the text before the stop, and what stopped it."""
    _, finish, _, _, text, stop = OUTPUTS[name]
    assert await derendered(wire, name) == [(text, finish, stop)] * 2


@requirement("derender.stop.stream-refused")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("stop", ["x", ["x"], ["x", "y"]], ids=["text", "one", "two"])
async def test_stop_strings_in_a_stream_are_refused(wire, stop):
    """Text already sent cannot be cut: 400 with stop strings, 200 with none or an empty list."""
    chat = {"model": "tiny", "messages": [{"role": "user", "content": "a"}]}
    completion = {"model": "tiny", "prompt": "a"}
    part = {"stream": True, "generate_chunk": chunk([30])}
    for fields, status in (({}, 200), ({"stop": []}, 200), ({"stop": stop}, 400)):
        answers = [
            await wire.derender_chat(part, chat_request={**chat, **fields}),
            await wire.derender_completions(part, completion_request={**completion, **fields}),
        ]
        assert [answer.status for answer in answers] == [status, status]
