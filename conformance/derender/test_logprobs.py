"""Token-level logprobs become the OpenAI shapes: names, bytes, order and numbers.

Catches a node that names alternatives by the sampled token, decodes without the tokens before,
sorts or drops candidates, or turns null into an empty list.
"""

import pytest

from conformance.derender import derender_call
from conformance.support import chunks, derender_each, encode, logprob_entry, response
from fixtures.case import Node, capability, requirement

pytestmark = pytest.mark.parametrize("node", [Node("real")], indirect=True)

E_ACUTE, FOX = encode("é"), encode("🦊")
(A,), (B,), (WEATHER,), THINK = encode("a"), encode("b"), encode("weather"), 3
# Sampled second, first, third: neither sorted by value nor by id.
ROWS = [
    (A, [(A, -2.5), (B, -0.25), (THINK, -3.125)]),
    (WEATHER, [(WEATHER, -0.5), (A, -1.75)]),
    (THINK, [(THINK, -7.0625), (WEATHER, -0.125), (B, -0.75)]),
]
NAMES = {A: "a", B: "b", WEATHER: "weather", THINK: "<think>"}


def named(name: str, logprob: float) -> dict:
    """One chat logprob."""
    return {"token": name, "logprob": logprob, "bytes": list(name.encode())}


def scored(node, rows, **choice) -> dict:
    """A choice whose ids and logprobs are `rows`."""
    content = [logprob_entry(node, token_id, tops) for token_id, tops in rows]
    return {"token_ids": [row[0] for row in rows], "logprobs": {"content": content}, **choice}


def split_character(node, token_ids) -> dict:
    """A choice of sampled tokens only."""
    return scored(node, [(token_id, [(token_id, -0.5)]) for token_id in token_ids])


CHAT = {
    "content": [
        {
            **named(NAMES[token_id], dict(tops)[token_id]),
            "top_logprobs": [named(NAMES[other], value) for other, value in tops],
        }
        for token_id, tops in ROWS
    ]
}
COMPLETION = {
    "tokens": ["a", "weather", "<think>"],
    "token_logprobs": [-2.5, -0.5, -7.0625],
    "top_logprobs": [{NAMES[other]: value for other, value in tops} for _, tops in ROWS],
    "text_offset": [0, 1, 8],
}


async def both(wire, body: dict) -> list:
    """The first choice's logprobs by the chat route, then by completions."""
    chat = (await wire.derender_chat(generate_response=body)).expect(200).json
    completion = (await wire.derender_completions(generate_responses=[body])).expect(200).json
    return [answer["choices"][0]["logprobs"] for answer in (chat, completion)]


@requirement("derender.logprobs.resolved")
@capability("derender.chat", "derender.completions")
async def test_logprobs_are_resolved(wire, node):
    """Both routes, compared whole: every candidate is kept, in the order it came."""
    assert await both(wire, response(scored(node, ROWS))) == [CHAT, COMPLETION]


@requirement("derender.logprobs.resolved")
@capability("derender.chat")
async def test_each_choice_has_its_own_logprobs(wire, node):
    """The second choice's logprobs are not the first's."""
    body = response(scored(node, ROWS[:1]), scored(node, ROWS[1:]))
    answer = (await wire.derender_chat(generate_response=body)).expect(200).json
    found = [choice["logprobs"]["content"] for choice in answer["choices"]]
    assert found == [CHAT["content"][:1], CHAT["content"][1:]]


@requirement("derender.logprobs.null-kept")
@capability("derender.chat", "derender.completions")
async def test_absent_logprobs_stay_null(wire):
    """No logprobs in, null out; also beside a choice that has some."""
    assert await both(wire, response([A])) == [None, None]
    assert await both(wire, response({"token_ids": [A], "logprobs": None})) == [None, None]


@requirement("derender.logprobs.null-kept")
@capability("derender.chat")
async def test_null_content_stays_null(wire):
    """Null content is null content, not an empty list."""
    body = response({"token_ids": [A], "logprobs": {"content": None}})
    answer = (await wire.derender_chat(generate_response=body)).expect(200).json
    assert answer["choices"][0]["logprobs"] == {"content": None}


@requirement("derender.logprobs.split-character")
@capability("derender.chat")
@pytest.mark.parametrize("character", [E_ACUTE, FOX], ids=["two-bytes", "four-bytes"])
async def test_split_character_is_named_by_its_last_token(wire, node, character):
    """The halves before are empty names, the last token has the character and its bytes."""
    text = "é" if character is E_ACUTE else "🦊"
    body = response(split_character(node, [A, *character, B]))
    answer = (await wire.derender_chat(generate_response=body)).expect(200).json
    content = answer["choices"][0]["logprobs"]["content"]
    found = [(entry["token"], entry["bytes"] or []) for entry in content]
    # null and [] are one answer for a token without text (CASES 26)
    empty = [("", [])] * (len(character) - 1)
    assert found == [("a", [97]), *empty, (text, list(text.encode())), ("b", [98])]


@requirement("derender.logprobs.split-character")
@capability("derender.chat")
async def test_alternative_is_named_by_the_tokens_before_it(wire, node):
    """An alternative that would complete the character is named by the character."""
    start, end = E_ACUTE
    other = encode("è")[1]
    rows = [(start, [(start, -0.5)]), (end, [(end, -0.5), (other, -1.5), (A, -2.5)])]
    answer = await wire.derender_chat(generate_response=response(scored(node, rows)))
    tops = answer.expect(200).json["choices"][0]["logprobs"]["content"][1]["top_logprobs"]
    assert [top["token"] for top in tops] == ["é", "è", "a"]


@requirement("derender.logprobs.cut-as-coupled")
@capability("derender.chat")
@capability("integer-logprobs")
@pytest.mark.parametrize(("k", "kept"), [(0, 0), (1, 1), (2, 2), (3, 3), (5, 3)])
async def test_chat_alternatives_are_cut_to_the_request(wire, node, k, kept):
    """With the original request chat keeps k alternatives, as the coupled route does."""
    request = {"model": "tiny", "messages": [], "logprobs": True, "top_logprobs": k}
    answer = await wire.derender_chat(
        generate_response=response(scored(node, ROWS[:1])), chat_request=request
    )
    (entry,) = answer.expect(200).json["choices"][0]["logprobs"]["content"]
    whole = CHAT["content"][0]
    assert entry == {**whole, "top_logprobs": whole["top_logprobs"][:kept]}


@requirement("derender.stream.logprobs-carried")
@capability("integer-logprobs", "derender.chat.stream", "derender.completions.stream")
@pytest.mark.parametrize("route", ["chat", "completions"])
async def test_streamed_logprobs_join_to_the_full_ones(wire, node, route):
    """One entry per id in each chunk; split characters and offsets go on across chunks."""
    token_ids = [A, *E_ACUTE, WEATHER, *FOX, B]
    whole = response(split_character(node, token_ids))
    stream = chunks([[token_id] for token_id in token_ids])
    for part, entry in zip(stream, whole["choices"][0]["logprobs"]["content"], strict=True):
        part["choices"][0]["logprobs"] = {"content": [entry]}
    call = derender_call(wire, route)
    parts = [
        answer.json["chunk"]["choices"][0]["logprobs"]
        for answer in await derender_each(call, stream)
    ]
    joined = {name: [item for part in parts for item in part[name]] for name in parts[0]}
    assert joined == (await both(wire, whole))[route == "completions"]
