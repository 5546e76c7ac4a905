"""With a SentencePiece tokenizer the first token's space depends on the prompt before it.

Catches a node that loses the space between prompt and answer, seeds from the wrong prompt, or
seeds anew with every chunk.
"""

import pytest

from conformance.derender import derender_call
from conformance.support import chunks, derender_each, joined_text, response
from fixtures.case import Node, capability, requirement
from fixtures.models.render_only import metaspace_vocabulary

SEEDED = pytest.mark.parametrize(
    "node", [Node("none", role="render", model="metaspace")], indirect=True
)
PARSED = pytest.mark.parametrize(
    "node",
    [
        pytest.param(
            Node("none", "--reasoning-parser", "deepseek_r1", role="render", model="metaspace"),
            id="render-metaspace-deepseek-r1",
        )
    ],
    indirect=True,
)
ROUTES = pytest.mark.parametrize("route", ["chat", "completions"])

IDS = metaspace_vocabulary()
PROMPT, OUTPUT = [IDS["<s>"], IDS["▁hello"]], [IDS["▁world"], IDS["▁fox"], IDS["ing"]]
KEPT, DROPPED = " world foxing", "world foxing"
REQUEST = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
# name: (prompt_token_ids of the request, those of the generate response, text)
PROMPTS = {
    "request": (PROMPT, None, KEPT),
    "fallback-to-the-response": (None, PROMPT, KEPT),
    "both": (PROMPT, PROMPT, KEPT),
    "none": (None, None, DROPPED),
    "empty": ([], None, DROPPED),
    "request-before-response": ([], PROMPT, DROPPED),
}


async def whole(wire, route: str, prompt: list | None, own: list | None) -> str:
    """The text of a full derender."""
    body = response(OUTPUT, prompt_token_ids=own)
    if route == "chat":
        answer = await wire.derender_chat(generate_response=body, prompt_token_ids=prompt)
        return answer.expect(200).json["choices"][0]["message"]["content"]
    answer = await wire.derender_completions(
        generate_responses=[body], prompt_token_ids=None if prompt is None else [prompt]
    )
    return answer.expect(200).json["choices"][0]["text"]


def stream_of(own: list | None) -> list[dict]:
    """One chunk an id; the first has the prompt's ids where the response has them."""
    first, *rest = chunks([[token_id] for token_id in OUTPUT])
    return [first if own is None else {**first, "prompt_token_ids": own}, *rest]


@SEEDED
@requirement("derender.text.first-space")
@capability("derender.chat", "derender.completions")
@ROUTES
@pytest.mark.parametrize("name", PROMPTS)
async def test_first_space_follows_the_prompt(wire, route, name):
    """The request's prompt decides, else the response's; without either the space is dropped."""
    prompt, own, text = PROMPTS[name]
    assert await whole(wire, route, prompt, own) == text


@SEEDED
@requirement("derender.stream.first-space")
@capability("derender.chat.stream", "derender.completions.stream")
@ROUTES
@pytest.mark.parametrize("name", PROMPTS)
async def test_first_chunk_alone_is_seeded(wire, route, name):
    """The same streamed, with the request's ids on every call: later chunks are not seeded anew."""
    prompt, own, text = PROMPTS[name]
    call = derender_call(wire, route)
    answers = await derender_each(call, stream_of(own), prompt_token_ids=prompt)
    assert joined_text(answers) == text


@SEEDED
@requirement("derender.stream.first-space")
@capability("derender.chat.stream", "derender.completions.stream")
@ROUTES
async def test_later_chunks_need_no_prompt(wire, route):
    """With the prompt on the first call only, the text is the same."""
    call = derender_call(wire, route)
    first, *rest = stream_of(None)
    head = await derender_each(call, [first], prompt_token_ids=PROMPT)
    state, answers = head[0].json["stream_state"], head
    for item in rest:
        answers += [await call(stream=True, generate_chunk=item, stream_state=state)]
        state = answers[-1].expect(200).json["stream_state"]
    assert joined_text(answers) == KEPT


@PARSED
@requirement("derender.parser.without-markers")
@capability("derender.chat")
async def test_output_without_markers_is_reasoning(wire):
    """deepseek_r1 begins in reasoning: an output that never ends it has no content."""
    answer = await wire.derender_chat(generate_response=response(OUTPUT), chat_request=REQUEST)
    message = answer.expect(200).json["choices"][0]["message"]
    assert (message["reasoning"], message["content"]) == (DROPPED, None)


@PARSED
@requirement("derender.stream.first-space")
@capability("derender.chat.stream")
@pytest.mark.parametrize(("prompt", "text"), [(PROMPT, KEPT), ([], DROPPED)], ids=["kept", "none"])
async def test_parser_sees_the_seeded_text(wire, prompt, text):
    """Through a parser, whose replay seeds with every call, the space is where it belongs."""
    answers = await derender_each(
        wire.derender_chat, stream_of(None), chat_request=REQUEST, prompt_token_ids=prompt
    )
    deltas = [answer.json["chunk"]["choices"][0]["delta"] for answer in answers]
    assert "".join(delta.get("reasoning") or "" for delta in deltas) == text
    assert not any(delta.get("content") for delta in deltas)
