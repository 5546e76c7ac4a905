"""What the override chapter expects, worked out from token ids alone.

Logprobs come in as generate's token level sends them (`content`: entries of `token_id`,
`logprob`, `top_logprobs`) or as the scripted engine is told them (rows of
`[id, logprob, rank]`); out come the logprobs a client must see, by name or by placeholder.
"""

import copy
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from conformance.support import entry_id
from fixtures.case import Node
from fixtures.models import tokenizer
from fixtures.wire import OMIT

FLAG = "--return-tokens-as-token-ids"
KEY = "return_tokens_as_token_ids"
ABSENT = OMIT
TRI_STATE = {"true": True, "false": False, "null": None, "absent": ABSENT}
# As many preceding tokens as vLLM looks back over to complete a character (DCS-24).
CONTEXT = 4
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def either_flag(engine: str, *flags: str, exclusive: bool = False) -> pytest.MarkDecorator:
    """The module's node, once without --return-tokens-as-token-ids and once with it."""
    nodes = [
        pytest.param(Node(engine, *flags, exclusive=exclusive), id="flag-off"),
        pytest.param(Node(engine, *flags, FLAG, exclusive=exclusive), id="flag-on"),
    ]
    return pytest.mark.parametrize("node", nodes, indirect=True)


def with_value(request: dict, value: object) -> dict:
    """The request with the key set to true, false or null, or left out for ABSENT."""
    return request if value is ABSENT else {**request, KEY: value}


def server_flag(node: Any) -> bool:
    """Whether the node was started with --return-tokens-as-token-ids."""
    return FLAG in node.spec.flags


def by_placeholder(value: object, flag: bool) -> bool:
    """The rule: an explicit value wins; null or absent falls back to the server's flag."""
    return value if isinstance(value, bool) else flag


def placeholder(token_id: int) -> str:
    """`token_id:N`."""
    return f"token_id:{token_id}"


def decode(token_ids: list[int]) -> str:
    """The ids as text, special tokens included."""
    return tokenizer().decode(token_ids, skip_special_tokens=False)


def text_of(token_id: int, history: list[int]) -> str:
    """The text one token adds after the sampled ids before it (CASES 30, LPS-25).

    A token that ends inside a character adds nothing; the one that completes the character
    adds all of it.
    """
    if tokenizer().id_to_token(token_id) is None:
        return ""
    own = decode([token_id])
    if not own.endswith(REPLACEMENT):
        return own
    for width in range(1, min(len(history), CONTEXT) + 1):
        context = history[-width:]
        joined = decode([*context, token_id])
        if not joined.endswith(REPLACEMENT):
            while context and decode([context[-1]]).endswith(REPLACEMENT):
                context = context[:-1]
            return joined.removeprefix(decode(context))
    return ""


def named(token_id: int, logprob: float, as_ids: bool, history: list[int]) -> dict:
    """One chat logprob: a placeholder with null bytes, or decoded text with its UTF-8 bytes."""
    if as_ids:
        return {"token": placeholder(token_id), "logprob": logprob, "bytes": None}
    text = text_of(token_id, history)
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def chat_logprobs(
    content: list[dict], as_ids: bool, top: int | None = None, history: Sequence[int] = ()
) -> dict:
    """`choices[].logprobs` of a chat answer; `top` cuts the alternatives, None keeps them all."""
    history, entries = list(history), []
    for entry in content:
        alternatives = [
            named(entry_id(other), other["logprob"], as_ids, history)
            for other in entry["top_logprobs"][:top]
        ]
        sampled = named(entry_id(entry), entry["logprob"], as_ids, history)
        entries.append({**sampled, "top_logprobs": alternatives})
        history.append(entry_id(entry))
    return {"content": entries}


def completion_logprobs(
    content: list[dict], as_ids: bool, offset: int = 0, history: Sequence[int] = ()
) -> dict:
    """`choices[].logprobs` of a completion; decoded names that are alike share one key."""
    answer: dict[str, list] = {
        "text_offset": [],
        "token_logprobs": [],
        "tokens": [],
        "top_logprobs": [],
    }
    for entry in chat_logprobs(content, as_ids, history=history)["content"]:
        answer["text_offset"].append(offset)
        answer["token_logprobs"].append(entry["logprob"])
        answer["tokens"].append(entry["token"])
        names = {other["token"]: other["logprob"] for other in entry["top_logprobs"]}
        answer["top_logprobs"].append(names or None)
        offset += len(entry["token"])
    return answer


def empty_bytes_alike(logprobs: dict | None) -> dict | None:
    """Null bytes of a token without text read as [], for the two are one answer (CASES 26)."""
    logprobs = copy.deepcopy(logprobs)
    for entry in (logprobs or {}).get("content") or []:
        for item in [entry, *entry["top_logprobs"]]:
            if item["token"] == "" and item["bytes"] is None:
                item["bytes"] = []
    return logprobs


def row(sampled: int, others: list[int], rank: int = 1) -> list[list]:
    """A scripted position: the sampled id first, then the others in rank order, each at -rank/4."""
    free = (place for place in count(1) if place != rank)
    ranked = [(sampled, rank), *((other, next(free)) for other in others)]
    return [[token_id, -0.25 * place, place] for token_id, place in ranked]


def content_of(token_ids: list[int], rows: list[list[list]]) -> list[dict]:
    """The token-level logprobs that a script stands for."""
    return [
        {
            "token_id": token_id,
            "logprob": candidates[0][1],
            "top_logprobs": [
                {"token_id": other, "logprob": value} for other, value, _ in candidates
            ],
        }
        for token_id, candidates in zip(token_ids, rows, strict=True)
    ]


def byte_ids(text: str) -> list[int]:
    """One byte token for each UTF-8 byte, so that a character outside ASCII is split."""
    return [_BYTE_IDS[byte] for byte in text.encode()]


def _byte_alphabet() -> dict[int, int]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable}
    characters |= {byte: chr(256 + position) for position, byte in enumerate(others)}
    return {byte: tokenizer().token_to_id(character) for byte, character in characters.items()}


_BYTE_IDS = _byte_alphabet()
