"""text_offset counts the tokens as they are sent, the placeholders, on and on over the chunks."""

from conformance.override.forced import (
    COMPLETION_WITH_LOGPROBS,
    PLAIN,
    SPLIT,
    Choice,
    derender_chunks,
    generate,
    generate_chunks,
)
from conformance.override.support import (
    KEY,
    byte_ids,
    either_flag,
    placeholder,
    row,
    with_value,
)
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")

A, END_OF_TEXT, LONE_BYTE = byte_ids("a")[0], 0, byte_ids("\u00e9")[0]


def offsets(tokens, start=0):
    """Where each token begins when they are written one after the other from `start`."""
    return [start + sum(map(len, tokens[:number])) for number in range(len(tokens))]


@requirement("override.completions.text-offset")
@capability("derender.completions")
async def test_text_offset_counts_placeholder_characters(wire, engine, node):
    """Each choice begins at 0 and steps by the length of the placeholder before."""
    response = await generate(wire, engine, SPLIT, PLAIN)
    answer = await wire.derender_completions(
        generate_responses=[response], completion_request=with_value(COMPLETION_WITH_LOGPROBS, True)
    )
    assert [c["logprobs"]["text_offset"] for c in answer.expect(200).json["choices"]] == [
        offsets([placeholder(token_id) for token_id in choice.token_ids])
        for choice in (SPLIT, PLAIN)
    ]


@requirement("override.completions.text-offset.stream")
@capability("derender.completions.stream.logprobs")
async def test_text_offset_goes_on_over_chunks(wire, engine, node):
    """The chunks' offsets, joined, are those of the full answer."""
    chunks = await generate_chunks(wire, engine, SPLIT)
    request = with_value(COMPLETION_WITH_LOGPROBS, True)
    answers = await derender_chunks(wire.derender_completions, chunks, completion_request=request)
    joined = [o for answer in answers for o in answer["choices"][0]["logprobs"]["text_offset"]]
    assert joined == offsets([placeholder(token_id) for token_id in SPLIT.token_ids])
    assert len(answers) == 5


@requirement("override.completions.text-offset.stream")
@capability("derender.completions.stream.logprobs")
async def test_the_offset_is_in_the_carried_state(wire, engine, node):
    """stream_state says where the next chunk begins, and nothing but stream_state does."""
    first, second, *_ = await generate_chunks(wire, engine, SPLIT)
    request = with_value(COMPLETION_WITH_LOGPROBS, True)
    answer = await wire.derender_completions(
        stream=True, generate_chunk=first, completion_request=request
    )
    state = answer.expect(200).json["stream_state"]
    length = sum(len(placeholder(token_id)) for token_id in SPLIT.token_ids[:2])
    assert state["logprob_text_offset"] == length
    state["logprob_text_offset"] = 1000
    answer = await wire.derender_completions(
        stream=True, generate_chunk=second, stream_state=state, completion_request=request
    )
    logprobs = answer.expect(200).json["chunk"]["choices"][0]["logprobs"]
    assert logprobs["text_offset"] == [1000]
    assert answer.json["stream_state"]["logprob_text_offset"] == 1000 + len(logprobs["tokens"][0])
    assert KEY not in answer.json["stream_state"]
    assert logprobs["tokens"] == [placeholder(SPLIT.token_ids[2])]


@requirement("override.completions.text-offset.stream")
@capability("derender.completions.stream.logprobs")
async def test_each_choice_of_a_stream_counts_for_itself(wire, engine, node):
    """Two choices whose chunks alternate, each with its own state."""
    chunks = await generate_chunks(wire, engine, SPLIT, PLAIN)
    request = with_value(COMPLETION_WITH_LOGPROBS, True)
    answers = await derender_chunks(wire.derender_completions, chunks, completion_request=request)
    joined: dict[int, list[int]] = {0: [], 1: []}
    for answer in answers:
        (choice,) = answer["choices"]
        joined[choice["index"]] += choice["logprobs"]["text_offset"]
    assert joined == {
        index: offsets([placeholder(token_id) for token_id in choice.token_ids])
        for index, choice in enumerate((SPLIT, PLAIN))
    }


@requirement("override.completions.text-offset.text-stream")
@capability("derender.completions.stream.logprobs")
async def test_text_offset_of_a_text_stream_counts_tokens_that_text_leaves_out(wire, engine, node):
    """A special token is a token of its length, though the text skips it; a lone byte has none."""
    token_ids = [A, END_OF_TEXT, LONE_BYTE, A, END_OF_TEXT, A]
    rows = [row(token_id, [40]) for token_id in token_ids]
    chunks = await generate_chunks(wire, engine, Choice(token_ids, rows, (2, 2, 2)), logprobs=1)
    request = with_value(COMPLETION_WITH_LOGPROBS, False)
    answers = await derender_chunks(wire.derender_completions, chunks, completion_request=request)
    joined = [o for answer in answers for o in answer["choices"][0]["logprobs"]["text_offset"]]
    assert joined == offsets(["a", "<|endoftext|>", "", "a", "<|endoftext|>", "a"])
