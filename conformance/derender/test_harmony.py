"""A gpt-oss output is split by its channels, by the model's own parser, without a flag.

Catches a node that shows channel markup, takes analysis for the answer, or streams another message
than it gives whole. Ids are o200k's bytes and special tokens, which the parser reads itself.
"""

import json
import re

import pytest

from conformance.support import assembled, chunk, chunks, derender_each, response
from fixtures.case import Node, capability, requirement
from fixtures.models.render_only import HARMONY_SPECIAL
from fixtures.models.vocabulary import byte_alphabet

pytestmark = pytest.mark.parametrize(
    "node", [Node("none", role="render", model="harmony")], indirect=True
)

ANALYSIS = "<|channel|>analysis<|message|>plan é<|end|><|start|>assistant"
FINAL = "<|channel|>final<|message|>answer 🦊"
REQUEST = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
# name: (output, finish_reason, (reasoning, content))
OUTPUTS = {
    "final": (f"{FINAL}<|return|>", "stop", (None, "answer 🦊")),
    "analysis-and-final": (f"{ANALYSIS}{FINAL}<|return|>", "stop", ("plan é", "answer 🦊")),
    "final-cut-by-length": (f"{ANALYSIS}{FINAL}", "length", ("plan é", "answer 🦊")),
    "analysis-cut-by-length": ("<|channel|>analysis<|message|>plan é", "length", ("plan é", None)),
}


def harmony_ids(text: str) -> list[int]:
    """The ids of `text`: its special tokens, and one id for each byte between them."""
    places = {ord(letter): at for at, letter in enumerate(byte_alphabet())}
    # a byte that prints stands for itself, the others follow in their order
    hidden = [byte for byte in range(256) if byte not in places]
    ids: list[int] = []
    for part in re.split(r"(<\|\w+\|>)", text):
        if part in HARMONY_SPECIAL:
            ids.append(HARMONY_SPECIAL[part])
        else:
            first_hidden = 256 - len(hidden)
            ids += [
                first_hidden + hidden.index(byte) if byte in hidden else places[byte]
                for byte in part.encode()
            ]
    return ids


PROMPT = harmony_ids("<|start|>assistant")


async def streamed(wire, stream: list[dict]) -> list[dict]:
    """The derendered chunks of `stream`."""
    answers = await derender_each(
        wire.derender_chat, stream, chat_request=REQUEST, prompt_token_ids=PROMPT
    )
    return [answer.json["chunk"] for answer in answers]


@requirement("derender.harmony.channels")
@capability("derender.chat")
@pytest.mark.parametrize("name", OUTPUTS)
async def test_channels_become_reasoning_and_content(wire, name):
    """analysis is reasoning, final is content, and no markup shows anywhere."""
    text, finish, expected = OUTPUTS[name]
    body = response({"token_ids": harmony_ids(text), "finish_reason": finish})
    answer = await wire.derender_chat(
        generate_response=body, chat_request=REQUEST, prompt_token_ids=PROMPT
    )
    (choice,) = answer.expect(200).json["choices"]
    message = choice["message"]
    found = message["reasoning"] or None, message["content"] or None
    assert (found, choice["finish_reason"]) == (expected, finish)
    assert "<|" not in json.dumps(message)


@requirement("derender.harmony.request-required")
@capability("derender.chat")
async def test_missing_chat_request_is_refused(wire):
    """The parser is there without a flag: no request is a 400, never plain text with markup."""
    body = response({"token_ids": harmony_ids(OUTPUTS["final"][0]), "finish_reason": "stop"})
    (await wire.derender_chat(generate_response=body, chat_request=REQUEST)).expect(200)
    refused = (await wire.derender_chat(generate_response=body)).expect(400)
    assert "chat_request" in refused.json["error"]["message"]


@requirement("derender.harmony.stream")
@capability("derender.chat.stream")
@pytest.mark.parametrize("name", OUTPUTS)
async def test_stream_assembles_to_the_message(wire, name):
    """Token by token the content so far is always the beginning of the whole."""
    text, finish, (reasoning, content) = OUTPUTS[name]
    found = await streamed(wire, chunks([[own] for own in harmony_ids(text)], finish))
    sofar = ""
    for part in found:
        (choice,) = part["choices"]
        sofar += choice["delta"].get("content") or ""
        assert (content or "").startswith(sofar)
    message = assembled(found)
    assert (message["reasoning"] or None, message["content"] or None) == (reasoning, content)
    assert message["finish_reason"] == finish


@requirement("derender.harmony.stream")
@capability("derender.chat.stream")
@pytest.mark.parametrize("size", [2, 7, 64])
async def test_stream_does_not_depend_on_the_chunking(wire, size):
    """Chunks of several ids, and the finish reason alone, assemble to the same message."""
    ids = harmony_ids(OUTPUTS["analysis-and-final"][0])
    pieces = [ids[at : at + size] for at in range(0, len(ids), size)]
    found = assembled(await streamed(wire, [*map(chunk, pieces), chunk([], "stop")]))
    assert (found["reasoning"], found["content"]) == ("plan é", "answer 🦊")
    assert found["finish_reason"] == "stop"
