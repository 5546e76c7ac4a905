"""Answers the scripted engine is told to give, and their way through generate and derender."""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from conformance.override.support import byte_ids, content_of, row
from conformance.support import since
from fixtures.nodes.script import output

PROMPT = [40, 41, 42]
CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 32}
CHAT_WITH_LOGPROBS = {**CHAT, "logprobs": True, "top_logprobs": 5}
COMPLETION = {"model": "tiny", "prompt": "hi", "max_tokens": 32}
COMPLETION_WITH_LOGPROBS = {**COMPLETION, "logprobs": 5}


@dataclass(frozen=True)
class Choice:
    """One choice: its ids, a logprob row for each, and how many ids each chunk takes."""

    token_ids: list[int]
    rows: list[list[list]]
    widths: tuple[int, ...]

    @property
    def content(self) -> list[dict]:
        """The choice's logprobs as generate's token level has them, every candidate kept."""
        return content_of(self.token_ids, self.rows)

    def chunks(self) -> list[tuple[list[int], list[int], list[dict]]]:
        """Each chunk: the ids before it, its ids, its logprobs."""
        bounds = pairwise(accumulate(self.widths, initial=0))
        return [
            (self.token_ids[:start], self.token_ids[start:end], self.content[start:end])
            for start, end in bounds
        ]


# Lone lead and continuation bytes, which all decode to nothing, and a special token.
_LEADS = [byte_ids(text)[0] for text in "\u00e8\u20ac\U0001f600"]
_OTHERS = [byte_ids("\u00e8")[1], *_LEADS, 1, *byte_ids("z")]


def spelled(text: str, widths: tuple[int, ...]) -> Choice:
    """The text as one token a byte; of a position's five candidates, two or more decode alike."""
    token_ids = byte_ids(text)
    rows = [
        row(each, [other for other in _OTHERS if other != each][:4], rank=1 + at % 5)
        for at, each in enumerate(token_ids)
    ]
    return Choice(token_ids, rows, widths)


# Chunks end inside the characters: h+1, 1, 1+1, 1+2, 2+1 bytes.
SPLIT_TEXT = "h\u20ac\u00e9\U0001f600."
SPLIT = spelled(SPLIT_TEXT, widths=(2, 1, 2, 3, 3))
PLAIN_TEXT = "a\u00e9z"
PLAIN = spelled(PLAIN_TEXT, widths=(2, 2))


def steps(choices: tuple[Choice, ...], logprobs: int | None) -> list[dict]:
    """The engine's steps: the first chunk of every choice, then the second; all end on length."""
    told = []
    for number in range(max(len(choice.widths) for choice in choices)):
        for index, choice in enumerate(choices):
            if number >= len(choice.widths):
                continue
            start, width = sum(choice.widths[:number]), choice.widths[number]
            told.append(
                output(
                    index=index,
                    token_ids=choice.token_ids[start : start + width],
                    logprobs=None if logprobs is None else choice.rows[start : start + width],
                    finish_reason="length" if number == len(choice.widths) - 1 else None,
                )
            )
    return told


def token_request(choices: tuple[Choice, ...], logprobs: int | None) -> dict:
    """A generate body that leaves room for the longest choice."""
    room = max(len(choice.token_ids) for choice in choices)
    return {
        "token_ids": PROMPT,
        "sampling_params": {"n": len(choices), "logprobs": logprobs, "max_tokens": room},
    }


async def generate(
    wire: Any, engine: Any, *choices: Choice, logprobs: int | None = 5, **fields: Any
) -> dict:
    """A full generate answer that holds the choices."""
    if len(choices) > 1 and not since(wire.node, "0.29.0"):
        # Before 0.29 an answer with n > 1 loses choices (CASES 3), so each is made alone.
        alone = [
            await generate(wire, engine, each, logprobs=logprobs, **fields) for each in choices
        ]
        made = [body["choices"][0] | {"index": index} for index, body in enumerate(alone)]
        return alone[0] | {"choices": made}
    script = await engine.script(steps(choices, logprobs))
    answer = await wire.generate({**token_request(choices, logprobs), **fields}, script=script)
    return answer.expect(200).json


async def generate_chunks(
    wire: Any, engine: Any, *choices: Choice, logprobs: int | None = 5, **fields: Any
) -> list[dict]:
    """The chunks of a streamed generate answer that holds the choices."""
    script = await engine.script(steps(choices, logprobs))
    answer = await wire.generate_stream(
        {**token_request(choices, logprobs), **fields}, script=script
    )
    return answer.expect(200).chunks


async def derender_chunks(derender: Any, chunks: list[dict], **fields: Any) -> list[dict]:
    """Each generate chunk through derender, its choice's state carried; the answers' chunks."""
    states: dict[int | None, dict] = {}
    answers = []
    for chunk in chunks:
        index = chunk["choices"][0]["index"] if chunk["choices"] else None
        answer = await derender(
            stream=True, generate_chunk=chunk, stream_state=states.get(index), **fields
        )
        answers.append(answer.expect(200).json["chunk"])
        states[index] = answer.json["stream_state"]
    return answers
