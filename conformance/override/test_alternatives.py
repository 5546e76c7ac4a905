"""Alternatives follow the rule: none is lost for decoding like another, none is made up."""

import pytest

from conformance.override.forced import (
    CHAT,
    CHAT_WITH_LOGPROBS,
    COMPLETION,
    COMPLETION_WITH_LOGPROBS,
    Choice,
    derender_chunks,
    generate,
    generate_chunks,
    steps,
)
from conformance.override.support import (
    byte_ids,
    chat_logprobs,
    completion_logprobs,
    either_flag,
    empty_bytes_alike,
    placeholder,
    row,
    with_value,
)
from conformance.support import logprob_entry
from fixtures.case import capability, requirement

pytestmark = either_flag("scripted")

# Five ways to begin a character: on its own, each decodes to nothing.
LEADS = [byte_ids(text)[0] for text in "\u00e9\u0439\u20ac\u4e2d\U0001f600"]
A = byte_ids("a")[0]
ALIKE = Choice([LEADS[0], A], [row(LEADS[0], LEADS[1:]), row(A, LEADS[:4], rank=3)], widths=(1, 1))


@requirement("override.completions.alternatives-do-not-collapse")
@capability("derender.completions")
async def test_ids_that_decode_alike_keep_one_key_each(wire, engine, node):
    """By placeholder each of five has its own key and value; decoded, those alike share one."""
    response = await generate(wire, engine, ALIKE)
    placeholders = [{placeholder(i): value for i, value, _ in each} for each in ALIKE.rows]
    decoded = [{"": ALIKE.rows[0][-1][1]}, {"a": -0.75, "": ALIKE.rows[1][-1][1]}]
    for value, expected in ((True, placeholders), (False, decoded)):
        request = COMPLETION_WITH_LOGPROBS | {"return_tokens_as_token_ids": value}
        answer = await wire.derender_completions(
            generate_responses=[response], completion_request=request
        )
        assert answer.expect(200).json["choices"][0]["logprobs"]["top_logprobs"] == expected


@requirement("override.completions.alternatives-do-not-collapse")
@capability("derender.completions.stream.logprobs")
async def test_ids_that_decode_alike_keep_one_key_each_in_a_stream(wire, engine, node):
    """The same chunk by chunk."""
    chunks = await generate_chunks(wire, engine, ALIKE)
    request = COMPLETION_WITH_LOGPROBS | {"return_tokens_as_token_ids": True}
    answers = await derender_chunks(wire.derender_completions, chunks, completion_request=request)
    assert [answer["choices"][0]["logprobs"]["top_logprobs"] for answer in answers] == [
        [{placeholder(i): value for i, value, _ in each}] for each in ALIKE.rows
    ]


def outside(k):
    """An answer whose sampled token is not among its k best."""
    return Choice([A], [row(A, LEADS[:k], rank=9)], widths=(1,))


def among(k):
    """An answer whose sampled token is the best of its k."""
    return Choice([A], [row(A, LEADS[: max(k - 1, 0)])], widths=(1,))


@requirement("override.alternatives.count-unchanged")
@capability("derender.chat")
@pytest.mark.parametrize("k", [0, 1, 2, 5])
@pytest.mark.parametrize("sampled", ["among-the-best", "outside"])
async def test_a_chat_has_as_many_alternatives_by_id_as_by_text(wire, engine, node, k, sampled):
    """The value renames alternatives; the endpoint's cut stays the same one."""
    choice = (
        outside(k) if sampled == "outside" else Choice([A], [row(A, LEADS[: max(k - 1, 0)])], (1,))
    )
    response = await generate(wire, engine, choice, logprobs=k)
    request = CHAT | {"logprobs": True, "top_logprobs": k}
    tops = {}
    for value in (True, False):
        answer = await wire.derender_chat(
            generate_response=response, chat_request=with_value(request, value)
        )
        (entry,) = answer.expect(200).json["choices"][0]["logprobs"]["content"]
        tops[value] = entry["top_logprobs"]
    count = len(tops[False])
    assert count in ({k} if k else {0, 1})
    assert tops[True] == [
        {"token": placeholder(i), "logprob": value, "bytes": None}
        for i, value, _ in choice.rows[0][:count]
    ]


@requirement("override.alternatives.count-unchanged")
@capability("derender.completions")
@pytest.mark.parametrize("k", [0, 1, 2, 5])
async def test_a_completion_has_every_alternative_by_id(wire, engine, node, k):
    """All that the generate answer holds: at most k and the sampled token, which comes first."""
    response = await generate(wire, engine, outside(k), logprobs=k)
    source = response["choices"][0]["logprobs"]["content"]
    answer = await wire.derender_completions(
        generate_responses=[response],
        completion_request=with_value(COMPLETION | {"logprobs": k}, True),
    )
    logprobs = answer.expect(200).json["choices"][0]["logprobs"]
    assert logprobs == completion_logprobs(source, as_ids=True)
    assert 1 <= len(logprobs["top_logprobs"][0]) <= k + 1
    assert next(iter(logprobs["top_logprobs"][0])) == placeholder(A)


@requirement("override.placeholder.bytes-null")
@capability("derender.chat.stream.logprobs")
@pytest.mark.parametrize("route", ["full", "stream"])
async def test_placeholders_have_null_bytes(wire, engine, node, route):
    """The key is there and null, on the sampled token and on every alternative."""
    request = with_value(CHAT_WITH_LOGPROBS, True)
    if route == "full":
        response = await generate(wire, engine, ALIKE)
        answer = await wire.derender_chat(generate_response=response, chat_request=request)
        answers = [answer.expect(200).json]
    else:
        chunks = await generate_chunks(wire, engine, ALIKE)
        answers = await derender_chunks(wire.derender_chat, chunks, chat_request=request)
    entries = [e for answer in answers for e in answer["choices"][0]["logprobs"]["content"]]
    items = [item for entry in entries for item in (entry, *entry["top_logprobs"])]
    assert [item["bytes"] for item in items] == [None] * 12
    ids = [[row[0][0], *(candidate[0] for candidate in row)] for row in ALIKE.rows]
    assert [item["token"] for item in items] == [placeholder(i) for each in ids for i in each]


@requirement("override.placeholder.bytes-null")
@capability("output-mode.derender")
async def test_placeholders_have_null_bytes_in_derender_mode(wire, engine, node):
    """As in text mode with the server's flag."""
    rendered = (await wire.render_chat(with_value(CHAT_WITH_LOGPROBS, True))).expect(200).json
    script = await engine.script(steps((ALIKE,), logprobs=5))
    answer = await wire.generate(rendered, output_mode="derender", script=script)
    assert answer.expect(200).json["choices"][0]["logprobs"] == chat_logprobs(ALIKE.content, True)


@requirement("override.decoded.bytes-exact")
@capability("derender.chat")
async def test_decoded_names_have_the_bytes_of_their_text(wire, engine, node):
    """The token that completes a character has all its bytes, and so has each alternative."""
    ids = byte_ids("\U0001f600\u00e9")
    rows = [row(i, [byte_ids("\U0001f601")[-1], A], rank=2) for i in ids]
    response = await generate(wire, engine, Choice(ids, rows, widths=(6,)), logprobs=3)
    answer = await wire.derender_chat(
        generate_response=response,
        chat_request=with_value(CHAT | {"logprobs": True, "top_logprobs": 3}, False),
    )
    content = empty_bytes_alike(answer.expect(200).json["choices"][0]["logprobs"])["content"]
    grinning, e_acute = ("\U0001f600", [240, 159, 152, 128]), ("\u00e9", [195, 169])
    nothing = ("", [])
    assert [(entry["token"], entry["bytes"]) for entry in content] == [
        *[nothing] * 3, grinning, nothing, e_acute
    ]  # fmt: skip
    assert [(entry["token"], entry["bytes"]) for entry in content[3]["top_logprobs"]] == [
        grinning, ("\U0001f601", [240, 159, 152, 129]), ("a", [97])
    ]  # fmt: skip


@requirement("override.placeholder.any-id")
@capability("derender.chat", "derender.completions")
async def test_a_placeholder_is_the_id_itself_and_needs_no_text(wire, engine, node):
    """So has an id beyond the vocabulary, and a position without candidates."""
    response = await generate(wire, engine, ALIKE)
    content = response["choices"][0]["logprobs"]["content"]
    first = [(token_id, value) for token_id, value, _ in ALIKE.rows[0]]
    first[1] = (999_999, first[1][1])
    content[0] = logprob_entry(node, ALIKE.token_ids[0], first)
    content[1] |= {"logprob": -9999.0, "top_logprobs": []}
    chat = await wire.derender_chat(
        generate_response=response, chat_request=with_value(CHAT_WITH_LOGPROBS, True)
    )
    completion = await wire.derender_completions(
        generate_responses=[response], completion_request=with_value(COMPLETION_WITH_LOGPROBS, True)
    )
    assert chat.expect(200).json["choices"][0]["logprobs"] == chat_logprobs(content, True)
    expected = completion_logprobs(content, True)
    assert completion.expect(200).json["choices"][0]["logprobs"] == expected
    assert "token_id:999999" in expected["top_logprobs"][0]
    assert expected["top_logprobs"][1] is None
