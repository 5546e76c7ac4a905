"""Text mode: text is what the tokenizer makes of the ids, in full and put together from a
stream.
"""

import pytest

from conformance.generate import PROMPT, choices_of
from conformance.support import encode
from fixtures.case import Node, capability, requirement
from fixtures.models import tokenizer
from fixtures.nodes.script import output

REAL = pytest.mark.parametrize("node", [Node("real")], indirect=True)
SCRIPTED = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)

ASCII = [
    token for token in range(tokenizer().get_vocab_size()) if tokenizer().decode([token]).isascii()
]
PRINTED = [
    token for token in ASCII if tokenizer().decode([token]).strip().isprintable() and token > 6
]
TEXTS = [
    "hello world",
    "the quick brown fox\n\n  jumps",
    "naïve café",
    "日本語",
    "a😀b👩‍👩‍👧c",
    " ",
    "é",
]
EACH_TEXT = pytest.mark.parametrize("text", TEXTS, ids=[str(i) for i in range(len(TEXTS))])


async def say(wire, engine, steps, stream, **sampling):
    """The choices of a scripted text-mode answer; `steps` are the ids of each engine step."""
    outputs = [output(token_ids=ids) for ids in steps[:-1]] + [
        output(token_ids=steps[-1], finish_reason="length")
    ]
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 400, "ignore_eos": True, **sampling},
        "script": await engine.script(outputs),
        "output_mode": "text",
    }
    if stream:
        return choices_of(await wire.generate_stream(**fields))
    return (await wire.generate(**fields)).expect(200).json["choices"]


@REAL
@requirement("generate.output-mode.text.equals-decode")
@capability("output-mode.text")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_text_of_a_real_engine_is_its_ids_decoded(wire, stream, seed):
    """Sampled over printable ids, the text is exactly the ids decoded, and the ids are those of
    tokens mode.
    """
    params = {"max_tokens": 48, "ignore_eos": True, "seed": seed, "allowed_token_ids": PRINTED}
    fields = {"token_ids": PROMPT, "sampling_params": params}
    if stream:
        choices = choices_of(await wire.generate_stream(**fields, output_mode="text"))
    else:
        choices = (await wire.generate(**fields, output_mode="text")).expect(200).json["choices"]
    ids = [token for choice in choices for token in choice["token_ids"]]
    assert "".join(choice["text"] for choice in choices) == tokenizer().decode(ids)
    plain = await wire.generate(**fields)
    assert plain.expect(200).json["choices"][0]["token_ids"] == ids and len(ids) == 48


@SCRIPTED
@requirement("generate.output-mode.text.equals-decode")
@capability("output-mode.text")
@EACH_TEXT
async def test_full_text(wire, engine, text):
    """A full answer has the whole text, characters of several ids among them, beside the ids."""
    ids = encode(text)
    (choice,) = await say(wire, engine, [[token] for token in ids], stream=False)
    assert (choice["text"], choice["token_ids"], choice["finish_reason"]) == (text, ids, "length")


@SCRIPTED
@requirement("generate.output-mode.text.stream-never-splits-a-character")
@capability("output-mode.text")
@EACH_TEXT
@pytest.mark.parametrize("size", [1, 2, 3])
async def test_streamed_text(wire, engine, text, size):
    """However the ids are cut into chunks, the deltas join to the text, none of them with half a
    character.

    Each chunk has the ids of its engine step; the text of a character that is not complete yet is
    empty.
    """
    ids = encode(text)
    steps = [ids[at : at + size] for at in range(0, len(ids), size)]
    choices = await say(wire, engine, steps, stream=True)
    assert [choice["token_ids"] for choice in choices] == steps
    assert "".join(choice["text"] for choice in choices) == text
    assert not any("\ufffd" in choice["text"] for choice in choices)


@SCRIPTED
@requirement("generate.output-mode.text.stream-never-splits-a-character")
@capability("output-mode.text")
async def test_split_character_comes_when_complete(wire, engine):
    """The first half of a character gives an empty text, the second the character."""
    first, second = encode("é")
    choices = await say(wire, engine, [[first], [second], encode("x")], stream=True)
    assert [choice["text"] for choice in choices] == ["", "é", "x"]


@SCRIPTED
@requirement("generate.output-mode.text.special-tokens")
@capability("output-mode.text")
@pytest.mark.parametrize(
    ("skip", "text"), [(True, "ab"), (False, "a<|im_start|>b")], ids=["skipped", "kept"]
)
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_skip_special_tokens(wire, engine, skip, text, stream):
    """A special token is left out of the text, or kept with skip_special_tokens=false; its id is
    there anyhow.
    """
    ids = [*encode("a"), 1, *encode("b")]
    choices = await say(wire, engine, [[token] for token in ids], stream, skip_special_tokens=skip)
    assert "".join(choice["text"] for choice in choices) == text
    assert [token for choice in choices for token in choice["token_ids"]] == ids


@SCRIPTED
@requirement("generate.output-mode.text.logprobs-decoded")
@capability("output-mode.text")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_logprobs_name_decoded_tokens(wire, engine, stream):
    """Each logprob entry and candidate has the decoded token and its UTF-8 bytes; no integer id."""
    dog, cat = tokenizer().token_to_id("o"), tokenizer().token_to_id("n")
    name = await engine.script(
        [
            output(
                token_ids=[dog], logprobs=[[[dog, -0.5, 1], [cat, -1.5, 2]]], finish_reason="length"
            )
        ]
    )
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 1, "logprobs": 2},
        "script": name,
        "output_mode": "text",
    }
    choices = (
        choices_of(await wire.generate_stream(**fields))
        if stream
        else (await wire.generate(**fields)).expect(200).json["choices"]
    )
    (choice,) = choices
    assert choice["text"] == "o"
    assert choice["logprobs"] == {
        "content": [
            {
                "token": "o",
                "logprob": -0.5,
                "bytes": [111],
                "top_logprobs": [
                    {"token": "o", "logprob": -0.5, "bytes": [111]},
                    {"token": "n", "logprob": -1.5, "bytes": [110]},
                ],
            }
        ]
    }


@SCRIPTED
@requirement("generate.output-mode.text.logprobs-decoded")
@capability("output-mode.text")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_logprobs_name_a_split_character_when_complete(wire, engine, stream):
    """The first half of a character has an empty name and no bytes, the second the character and
    all of its bytes; the same for the candidates.
    """
    first, second = encode("é")
    name = await engine.script(
        [
            output(token_ids=[first], logprobs=[[[first, -0.5, 1]]]),
            output(token_ids=[second], logprobs=[[[second, -1.5, 1]]], finish_reason="length"),
        ]
    )
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 2, "logprobs": 1},
        "script": name,
        "output_mode": "text",
    }
    choices = (
        choices_of(await wire.generate_stream(**fields))
        if stream
        else (await wire.generate(**fields)).expect(200).json["choices"]
    )
    half = {"token": "", "logprob": -0.5, "bytes": []}
    whole = {"token": "é", "logprob": -1.5, "bytes": [195, 169]}
    entries = [entry for choice in choices for entry in choice["logprobs"]["content"]]
    assert entries == [{**half, "top_logprobs": [half]}, {**whole, "top_logprobs": [whole]}]


@SCRIPTED
@requirement("generate.output-mode.text.equals-decode")
@capability("output-mode.text")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
async def test_each_choice_has_its_own_text(wire, engine, stream):
    """With n=2, characters split over interleaved chunks go to their own choice."""
    (a1, a2), (b1, b2) = encode("é"), encode("ü")
    name = await engine.script(
        [
            output(index=0, token_ids=[a1]),
            output(index=1, token_ids=[b1]),
            output(index=1, token_ids=[b2], finish_reason="length"),
            output(index=0, token_ids=[a2], finish_reason="length"),
        ]
    )
    fields = {
        "token_ids": PROMPT,
        "sampling_params": {"max_tokens": 2, "n": 2, "temperature": 1.0},
        "script": name,
        "output_mode": "text",
    }
    if stream:
        choices = choices_of(await wire.generate_stream(**fields))
    else:
        choices = (await wire.generate(**fields)).expect(200).json["choices"]
    texts = {0: "", 1: ""}
    for choice in choices:
        texts[choice["index"]] += choice["text"]
    assert texts == {0: "é", 1: "ü"}
