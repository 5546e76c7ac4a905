"""The books of a router's traffic: every accepted request has exactly one ending, the right one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from conformance.support import assembled
from fixtures.router import DONE, Answer

Ending = dict[str, Any]


class Broken(AssertionError):
    """What a client got is neither one complete answer nor one clean error; the text says why."""


def ending(answer: Answer) -> Ending:
    """How one request ended: {"error": status}, or the complete answer with its token ids.

    Raises Broken for no ending, more than one, or half of one.
    """
    if answer.problem:
        raise Broken(answer.problem)
    events = list(answer.events)
    stream = bool(answer.request.get("stream"))
    if stream:
        if events.count(DONE) != 1 or events[-1] != DONE:
            raise Broken(
                f"[DONE] came {events.count(DONE)} times in {len(events)} events, or early"
            )
        events.pop()
    elif len(events) != 1:
        raise Broken(f"{len(events)} bodies came for one request")
    errors = [event for event in events if "error" in event]
    if errors:
        return _error(errors, events)
    try:
        return _complete(events, stream) | {"token_ids": answer.token_ids}
    except (LookupError, TypeError, AttributeError) as fault:
        raise Broken(f"an answer of no known form ({fault!r})") from None


def _error(errors: Sequence[dict], events: Sequence[dict]) -> Ending:
    if len(errors) > 1 or events[-1] is not errors[0]:
        raise Broken(f"{len(errors)} errors came, or something after one")
    error = errors[0]["error"]
    if not (isinstance(error.get("code"), int) and error["code"] >= 400 and error.get("message")):
        raise Broken(f"an error without a status or words: {error}")
    return {"error": error["code"]}


def _complete(events: Sequence[dict], stream: bool) -> Ending:
    if len({event["id"] for event in events}) != 1:
        raise Broken(f"the answer has the ids {sorted({event['id'] for event in events})}")
    choices = [choice for event in events for choice in event["choices"]]
    if {choice["index"] for choice in choices} != {0}:
        raise Broken(f"the choices are {[choice['index'] for choice in choices]}")
    reasons = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    if len(reasons) != 1 or choices[-1]["finish_reason"] is None:
        raise Broken(f"{len(reasons)} finish reasons came, or something after one")
    return {
        **assembled(events if stream else [_as_chunk(events[0])]),
        "logprobs": [
            (entry["token"], entry["logprob"])
            for choice in choices
            for entry in (choice.get("logprobs") or {}).get("content") or ()
        ],
        "usage": _usage(events),
    }


def _as_chunk(body: dict) -> dict:
    """A full answer as the one chunk of a stream."""
    choices = [
        {
            "delta": choice["message"]
            | {
                "tool_calls": [
                    {"index": index, **call}
                    for index, call in enumerate(choice["message"].get("tool_calls") or [])
                ]
            },
            "finish_reason": choice["finish_reason"],
        }
        for choice in body["choices"]
    ]
    return {"choices": choices}


def _usage(events: Sequence[dict]) -> tuple[int, int]:
    """(prompt tokens, completion tokens) of the last event that counts them."""
    usage = [event["usage"] for event in events if event.get("usage")]
    if not usage:
        raise Broken("the answer has no usage")
    return usage[-1]["prompt_tokens"], usage[-1]["completion_tokens"]


def never(answer: Answer, status: int) -> bool:
    """No error is allowed but one that a release gives unmixed."""
    return False


def faults(
    answers: Iterable[Answer],
    unmixed: Mapping[str, Mapping[str, Ending]],
    may_fail: Callable[[Answer, int], bool] = never,
) -> dict[Answer, str]:
    """What is wrong with an answer, for each with which something is.

    `unmixed`: release -> kind of request -> how it ends where every node is of that release. An
    ending must be that of a release which took part; `may_fail(answer, status)` allows an error.
    """
    found: dict[Answer, str] = {}
    owner: dict[str, Answer] = {}
    for answer in answers:
        try:
            own = ending(answer)
        except Broken as why:
            found[answer] = str(why)
            continue
        allowed = [unmixed[release][answer.kind] for release in sorted(releases(answer))]
        if "error" in own:
            if own not in allowed and not may_fail(answer, own["error"]):
                found[answer] = f"the error {answer.events[0 if len(answer.events) == 1 else -2]}"
        elif own not in allowed:
            found[answer] = f"answered {own}, unmixed {allowed}"
        elif owner.setdefault(answer.events[0]["id"], answer) is not answer:
            found[answer] = f"its answer is that of {owner[answer.events[0]['id']].id} too"
    return found


def releases(answer: Answer) -> set[str]:
    """The releases of the nodes that worked on a request."""
    return {node.spec.release for _, node in answer.nodes}


def told(found: Mapping[Answer, str], limit: int = 5) -> list[str]:
    """A line for each of the first faults, with its request and the nodes that worked on it."""
    lines = [
        f"{answer.id} ({answer.kind}) by "
        f"{', '.join(dict.fromkeys(f'{role} {node.name}' for role, node in answer.nodes))}: {why}"
        for answer, why in list(found.items())[:limit]
    ]
    if len(found) > limit:
        lines.append(f"… and {len(found) - limit} more")
    return lines
