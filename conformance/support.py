"""What chapters share: bodies as a node sends them, and the three-step route as one call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from packaging.version import Version

from fixtures.case import Node, own_id
from fixtures.models import tokenizer
from fixtures.wire import Exchange, Wire

END_OF_TEXT, IM_START, IM_END = 0, 1, 2
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
ABSENT = type("Absent", (), {"__repr__": lambda self: "absent"})()
PARSERS = (
    "--enable-auto-tool-choice",
    "--tool-call-parser",
    "hermes",
    "--reasoning-parser",
    "qwen3",
)
# A real node to itself: up to 0.30 the requests beside one can change what it samples
# (generate.isolation.same-as-alone).
UNDISTURBED = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", exclusive=True), id="real")], indirect=True
)
# So long that a whole generation takes many seconds.
LONG_CONTEXT = "--max-model-len", "8192", "--hf-overrides", '{"max_position_embeddings": 8192}'
WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}


# Text and ids


def encode(text: str) -> list[int]:
    """The ids of `text`, nothing added."""
    return tokenizer().encode(text, add_special_tokens=False).ids


# A chat prompt with the assistant's turn open, and the same with its reasoning closed.
OPEN_PROMPT = encode("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n")
CLOSED_PROMPT = [*OPEN_PROMPT, *encode("<think>\n\n</think>\n\n")]


def decode(token_ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
    """The text of `token_ids`, decoded at once."""
    return tokenizer().decode(list(token_ids), skip_special_tokens=skip_special_tokens)


def partitions(token_ids: Sequence[int], cuts: Iterable[int]) -> list[list[int]]:
    """`token_ids` cut before each position of `cuts`; every piece holds at least one id."""
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(token_ids)}), len(token_ids)]
    return [list(token_ids[start:end]) for start, end in pairwise(edges)]


# What a node is


def since(node: Any, release: str) -> bool:
    """Whether the node's release is `release` or a later one."""
    return Version(node.spec.release) >= Version(release)


# Bodies as a generate node sends them


def response(*outputs: Sequence[int] | dict, request_id: str | None = None, **fields: Any) -> dict:
    """A full generate response; an output is its token ids or a whole choice without its index.

    Its request id is `own_id("r")`, if none is given.
    """
    choices = [output if isinstance(output, dict) else {"token_ids": output} for output in outputs]
    return {
        "request_id": request_id or own_id("r"),
        "choices": [
            {"index": index, "finish_reason": "length", **choice}
            for index, choice in enumerate(choices)
        ],
        **fields,
    }


def chunk(
    token_ids: Sequence[int] | None,
    finish_reason: str | None = None,
    *,
    request_id: str | None = None,
    index: int = 0,
    **choice: Any,
) -> dict:
    """One streamed generate chunk with one choice; its request id as in `response`."""
    entry = {"index": index, "token_ids": token_ids, "finish_reason": finish_reason, **choice}
    return {"request_id": request_id or own_id("r"), "choices": [entry]}


def chunks(pieces: Sequence[Sequence[int]], finish_reason: str = "length") -> list[dict]:
    """One chunk a piece, the last with `finish_reason`."""
    last = len(pieces) - 1
    return [chunk(piece, finish_reason if at == last else None) for at, piece in enumerate(pieces)]


def logprob_entry(
    node: Any,
    token_id: int,
    alternatives: Sequence[tuple[int, float]],
    logprob: float | None = None,
) -> dict:
    """One position of logprobs as the node's release writes it; `alternatives` by rank.

    Integer ids with ranks from 0.32 on, `token_id:N` before (CASES 25).
    """
    value = dict(alternatives).get(token_id, -9.0) if logprob is None else logprob
    if since(node, "0.32.0"):
        tops = [
            {"token_id": other, "logprob": own, "rank": rank}
            for rank, (other, own) in enumerate(alternatives, start=1)
        ]
        rank = next((top["rank"] for top in tops if top["token_id"] == token_id), len(tops) + 1)
        return {"token_id": token_id, "logprob": value, "rank": rank, "top_logprobs": tops}
    tops = [
        {"token": f"token_id:{other}", "logprob": own, "bytes": None} for other, own in alternatives
    ]
    return {"token": f"token_id:{token_id}", "logprob": value, "bytes": None, "top_logprobs": tops}


def entry_id(entry: dict) -> int:
    """The token a logprob entry names, in either shape."""
    return (
        entry["token_id"] if "token_id" in entry else int(entry["token"].removeprefix("token_id:"))
    )


# The three-step route


@dataclass(frozen=True)
class Split:
    """One answer by way of render, generate and derender."""

    rendered: Any
    generated: Any
    answer: Any


async def split_chat(wire: Wire, request: dict) -> Split:
    """Chat render, generate and derender of one request."""
    rendered = (await wire.render_chat(request)).expect(200).json
    generated = (await wire.generate(rendered)).expect(200).json
    body = {
        "generate_response": generated,
        "chat_request": {"model": "tiny", **request},
        "prompt_tokens": len(rendered["token_ids"]),
        "prompt_token_ids": rendered["token_ids"],
    }
    answer = (await wire.derender_chat(body)).expect(200).json
    return Split(rendered, generated, answer)


async def split_completions(wire: Wire, request: dict) -> Split:
    """Completions render, one generate per prompt, and derender of one request."""
    rendered = (await wire.render_completions(request)).expect(200).json
    generated = [(await wire.generate(item)).expect(200).json for item in rendered]
    answer = await wire.derender_completions(
        generate_responses=generated,
        completion_request={"model": "tiny", **request},
        prompt_tokens=[len(item["token_ids"]) for item in rendered],
        prompt_token_ids=[item["token_ids"] for item in rendered],
    )
    return Split(rendered, generated, answer.expect(200).json)


async def derender_each(call: Any, stream: Sequence[dict], **fields: Any) -> list[Exchange]:
    """Derender the chunks of `stream` one by one, each with the state the one before handed back.

    `call` is `wire.derender_chat` or `wire.derender_completions`.
    """
    state, answers = None, []
    for item in stream:
        answer = await call(stream=True, generate_chunk=item, stream_state=state, **fields)
        answers.append(answer.expect(200))
        state = answer.json["stream_state"]
    return answers


def joined_text(answers: Sequence[Exchange]) -> str:
    """The text of derendered chunks, chat or completions, put together."""
    parts = [choice for answer in answers for choice in answer.json["chunk"]["choices"]]
    return "".join(
        (part["delta"]["content"] if "delta" in part else part["text"]) or "" for part in parts
    )


def assembled(stream: Sequence[dict]) -> dict:
    """What the deltas of chat chunks with one choice add up to.

    A tool call is {"name", "arguments"}; `ids` counts the different ids each call was given.
    """
    content = reasoning = ""
    calls: dict[int, dict] = {}
    finish = None
    for part in (choice for item in stream for choice in item["choices"]):
        delta = part["delta"]
        content += delta.get("content") or ""
        reasoning += delta.get("reasoning") or ""
        finish = part["finish_reason"] or finish
        for call in delta.get("tool_calls") or []:
            own = calls.setdefault(call["index"], {"name": "", "arguments": "", "ids": set()})
            own["name"] += call["function"].get("name") or ""
            own["arguments"] += call["function"].get("arguments") or ""
            own["ids"] |= {call["id"]} if call.get("id") else set()
    tools = [{**call, "ids": len(call["ids"])} for _, call in sorted(calls.items())]
    return {
        "content": content,
        "reasoning": reasoning,
        "tool_calls": tools,
        "finish_reason": finish,
    }


def without(value: dict, *keys: str) -> dict:
    """A copy of `value` that lacks `keys`."""
    return {key: item for key, item in value.items() if key not in keys}
