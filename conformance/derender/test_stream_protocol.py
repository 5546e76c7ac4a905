"""One call per chunk: the state handed back is handed in again.

Catches a node that keeps the stream in its memory, repeats the role, swallows a bare finish or a
usage chunk, or takes several choices with one state.
"""

import pytest

from conformance.derender import derender_call
from conformance.support import (
    chunk,
    chunks,
    derender_each,
    encode,
    joined_text,
    partitions,
)
from fixtures.case import Node, capability, own_id, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

FOX = [[token_id] for token_id in encode("é🦊x")]
COUNTS = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
ROUTES = ["chat", "completions"]


def choices(answers: list) -> list[dict]:
    """The one choice of each derendered chunk."""
    return [choice for answer in answers for choice in answer.json["chunk"]["choices"]]


@requirement("derender.stream.role-first-only")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_role_is_on_the_first_chunk_only(wire):
    """`assistant` once, null after, even where the first chunk has no text yet."""
    found = choices(await derender_each(wire.derender_chat, chunks(FOX)))
    assert [choice["delta"]["role"] for choice in found] == ["assistant"] + [None] * (len(FOX) - 1)


@requirement("derender.stream.state-carried")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
async def test_node_keeps_nothing_between_calls(wire, route):
    """Two streams interleaved chunk by chunk come out as each alone: all memory is in the state."""
    texts = ["é🦊x日", "🦊🦊éé"]
    streams = [[[token_id] for token_id in encode(text)] for text in texts]
    states, found = [None, None], ["", ""]
    for at in range(max(map(len, streams))):
        for own, stream in enumerate(streams):
            if at < len(stream):
                part = chunk(stream[at], "length" if at == len(stream) - 1 else None)
                answer = await derender_call(wire, route)(
                    stream=True, generate_chunk=part, stream_state=states[own]
                )
                states[own] = answer.expect(200).json["stream_state"]
                found[own] += joined_text([answer])
    assert found == texts


@requirement("derender.stream.state-carried")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
async def test_same_call_gives_the_same_answer(wire, route):
    """A retried chunk with the same state gives the same chunk and the same next state."""
    first, second = partitions(encode("é🦊"), [3])
    state = (await derender_each(derender_call(wire, route), [chunk(first)]))[0].json[
        "stream_state"
    ]
    answers = [
        await derender_call(wire, route)(
            stream=True, generate_chunk=chunk(second), stream_state=state
        )
        for _ in range(2)
    ]
    bodies = [answer.expect(200).json for answer in answers]
    assert [body["chunk"]["choices"] for body in bodies] == [bodies[0]["chunk"]["choices"]] * 2
    assert bodies[0]["stream_state"] == bodies[1]["stream_state"]
    assert joined_text(answers[:1]) == "🦊"


@requirement("derender.stream.state-carried")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
async def test_state_stays_small(wire, route):
    """The state does not grow with the text (DCS-32), so that a long answer stays affordable."""
    pieces = [[token_id] for token_id in encode("hello the quick é🦊 " * 8)]
    answers = await derender_each(derender_call(wire, route), chunks(pieces))
    assert max(len(answer.json["stream_state"]["prev_tokens"]) for answer in answers) <= 32


@requirement("derender.stream.finish-forwarded")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("finish", ["stop", "length", "abort"])
async def test_finish_only_chunk_is_forwarded(wire, route, finish):
    """A last chunk without ids has no text and the finish reason, on it alone."""
    stream = [*(chunk(piece) for piece in FOX), chunk([], finish)]
    answers = await derender_each(derender_call(wire, route), stream)
    found = [choice["finish_reason"] for choice in choices(answers)]
    assert (found, joined_text(answers)) == ([None] * len(FOX) + [finish], "é🦊x")
    assert joined_text(answers[-1:]) == ""


@requirement("derender.stream.usage-forwarded")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("sent", "prompt"), [(None, 3), (0, 0), (9, 9)], ids=["absent", "zero", "nine"]
)
async def test_usage_chunk_is_forwarded(wire, route, sent, prompt):
    """Choices stay empty, the counts go through; the call's prompt_tokens come first."""
    last = {"request_id": own_id("r"), "choices": [], "usage": COUNTS}
    fields = {} if sent is None else {"prompt_tokens": sent}
    answers = await derender_each(derender_call(wire, route), [chunk(encode("a")), last], **fields)
    parts = [answer.json["chunk"] for answer in answers]
    found = {name: parts[1]["usage"][name] for name in COUNTS}
    assert found == {"prompt_tokens": prompt, "completion_tokens": 4, "total_tokens": prompt + 4}
    assert (parts[0]["usage"], parts[1]["choices"]) == (None, [])


@requirement("derender.stream.usage-forwarded")
@capability("derender.chat.stream", "derender.completions.stream")
async def test_leading_usage_chunk_does_not_use_up_the_role(wire):
    """The role comes with the first chunk that has a choice."""
    lead = {"request_id": own_id("r"), "choices": [], "usage": COUNTS}
    found = choices(await derender_each(wire.derender_chat, [lead, chunk(encode("a"))]))
    assert [choice["delta"]["role"] for choice in found] == ["assistant"]


@requirement("derender.stream.one-choice")
@capability("derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ROUTES)
async def test_several_choices_in_a_chunk_are_refused(wire, route):
    """One state belongs to one choice: two at once are a 400, one of any index is taken."""
    one = chunk(encode("a"), index=1)
    two = {"request_id": own_id("r"), "choices": [*one["choices"], *chunk(encode("b"))["choices"]]}
    taken = await derender_call(wire, route)(stream=True, generate_chunk=one)
    assert [choice["index"] for choice in taken.expect(200).json["chunk"]["choices"]] == [1]
    (await derender_call(wire, route)(stream=True, generate_chunk=two)).expect(400)
