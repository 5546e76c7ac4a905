"""What a real engine produced, as a script for the scripted one."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.kinds import Kind
from fixtures.nodes.script import hang, output, step
from fixtures.tolerance import assert_same
from fixtures.wire import Exchange, Wire

MASKED = frozenset({"id", "request_id", "created", "last_tool_call_ids"})


async def script_of(kind: Kind, wire: Wire, answer: Exchange) -> list[list[Mapping]] | None:
    """The steps of each generate() call behind `answer`, which the node of `wire` gave to `kind`.

    The same request is sent once more, at the level of tokens, where ids, ranks and the engine's
    own finish reason stand on the wire. None: nothing was sampled.
    """
    if not kind.samples:
        return None
    sent = kind.body_for(wire.node)
    if kind.route == "generate":
        bodies = [sent]
    else:
        rendered = (await wire.post(f"{kind.path}/render", sent)).expect(200).json
        bodies = rendered if isinstance(rendered, list) else [rendered]
    generated = [(await wire.generate(_whole(body))).expect(200).json for body in bodies]
    if len(generated) > 1:
        return [steps_of(body, None) for body in generated]
    return [steps_of(generated[0], deltas(answer) if answer.is_event_stream else None)]


def _whole(body: Mapping) -> dict:
    """`body` as a whole answer in tokens; one candidate more, where a release cuts the last."""
    sampling = dict(body["sampling_params"])
    if 0 < (sampling.get("logprobs") or 0) < 20:
        sampling["logprobs"] += 1
    other = {"stream": False, "stream_options": None, "output_mode": "tokens"}
    return {**body, **other, "sampling_params": sampling}


def deltas(answer: Exchange) -> list[list[tuple[int, int]]]:
    """Per chunk that has tokens, or ends a choice: (choice, number of tokens) of each choice."""
    counted: Counter[int] = Counter()
    found = []
    for chunk in answer.chunks:
        parts = []
        for choice in chunk["choices"]:
            index = choice["index"]
            total = (chunk.get("usage") or {}).get("completion_tokens")
            count = _count(choice, None if total is None else total - counted.total())
            counted[index] += count
            if count or choice.get("finish_reason"):
                parts.append((index, count))
        if parts:
            found.append(parts)
    return found


def _count(choice: Mapping, by_usage: int | None) -> int:
    """How many tokens a streamed choice stands for, by whatever of it tells."""
    logprobs = choice.get("logprobs") or {}
    for tokens in (choice.get("token_ids"), logprobs.get("content"), logprobs.get("tokens")):
        if tokens is not None:
            return len(tokens)
    if by_usage is not None:
        return by_usage
    return 0 if "role" in choice.get("delta", {}) else 1


def steps_of(generated: Mapping, chunks: Sequence | None) -> list[Mapping]:
    """Engine steps that make `generated`; one token of each choice a step, or as `chunks` are."""
    choices = {choice["index"]: choice for choice in generated["choices"]}
    left = {index: len(choice["token_ids"]) for index, choice in choices.items()}
    told = Counter()
    for parts in chunks or ():
        for index, count in parts:
            told[index] += count
    if chunks is None or told != Counter(left):
        longest = max(left.values())
        chunks = [[(i, 1) for i in left if at < left[i]] for at in range(longest)]
    given: Counter[int] = Counter()
    steps = []
    for parts in chunks:
        outputs = []
        for index, count in parts:
            start, given[index] = given[index], given[index] + count
            outputs.append(_output(generated, choices[index], start, given[index]))
        steps.append(step(*outputs))
    return [*steps, hang()]


def _output(generated: Mapping, choice: Mapping, start: int, end: int) -> dict:
    """The part of a choice between two of its tokens, as EngineCore sends it."""
    content = (choice["logprobs"] or {}).get("content")
    others: dict[str, Any] = {}
    if start == 0 and generated["prompt_logprobs"] is not None:
        others["prompt_logprobs"] = [_prompt_row(row) for row in generated["prompt_logprobs"]]
    # A stop string is found by vLLM's own output processor, not by EngineCore.
    if end == len(choice["token_ids"]) and not isinstance(choice["stop_reason"], str):
        others["finish_reason"] = choice["finish_reason"]
        others["stop_reason"] = choice["stop_reason"]
    return output(
        choice["token_ids"][start:end],
        index=choice["index"],
        logprobs=None if content is None else [_row(entry) for entry in content[start:end]],
        **others,
    )


def _row(entry: Mapping) -> list[list]:
    """The sampled token and then its alternatives, each with its rank."""
    own = [entry["token_id"], entry["logprob"], entry["rank"]]
    others = [[top["token_id"], top["logprob"], top["rank"]] for top in entry["top_logprobs"]]
    return [own, *(other for other in others if other[0] != own[0])]


def _prompt_row(row: Mapping | None) -> list[list] | None:
    """The prompt's own token comes first on the wire too."""
    if row is None:
        return None
    return [[int(name), entry["logprob"], entry["rank"]] for name, entry in row.items()]


def same(forced: Exchange, real: Exchange) -> None:
    """AssertionError unless two answers are one but for ids and times.

    Numbers are compared exactly: a float32 goes over the wire, into a script and back unchanged.
    """
    assert (forced.status, content_type(forced)) == (real.status, content_type(real))
    parts = [bodies(exchange) for exchange in (forced, real)]
    assert_same(*parts, logprob_abs=0.0, ignore=())
    # the text also keeps the order of keys
    for own, other in zip(*parts, strict=True):
        assert json.dumps(own) == json.dumps(other)


def content_type(exchange: Exchange) -> str | None:
    return exchange.headers.get("content-type")


def bodies(exchange: Exchange) -> list[Any]:
    """What an answer is made of, masked: one body or none; of a stream its chunks and its end."""
    if exchange.is_event_stream:
        return [*map(masked, exchange.chunks), exchange.done]
    return [masked(exchange.json)] if exchange.body else []


def masked(value: Any) -> Any:
    """`value` with the type in place of every id and time."""
    if isinstance(value, dict):
        return {
            key: type(item).__name__ if key in MASKED else masked(item)
            for key, item in value.items()
        }
    return [masked(item) for item in value] if isinstance(value, list) else value
