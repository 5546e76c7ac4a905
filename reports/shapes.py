"""How the wire's shape moved between two reports, in words: what each kind of reader would meet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reports.record import Report

# What a node's OpenAPI document declares has a shape too, by these names.
ROUTES = "declared routes"
SENT = "declared request of "
ANSWERS = "declared answer of "

# What breaks whom, most breaking first. A strict reader refuses keys it does not know.
REMOVED, RETYPED, NULLABLE, OPTIONAL, NEW_WORD, ADDED, WORD_GONE, FIRMER = (
    "removed",
    "retyped",
    "may be null now",
    "may be absent now",
    "new value",
    "added",
    "value gone",
    "firmer",
)
BREAKS_LENIENT = frozenset({REMOVED, RETYPED, NULLABLE, OPTIONAL, NEW_WORD})
BREAKS_STRICT = BREAKS_LENIENT | {ADDED}
# Of what is declared for a request: who sends is broken by what is taken no more.
UNDECLARED, REFUSED, REQUIRED, CHANGED, TAKEN = SENDING = (
    "declared no more",
    "taken no more",
    "required now",
    "default or bound changed",
    "taken now",
)
BREAKS_SENDER = frozenset({UNDECLARED, REFUSED, REQUIRED})
# In the order they are told.
KINDS = (
    *(REMOVED, RETYPED, UNDECLARED, REFUSED, REQUIRED, NULLABLE, OPTIONAL, NEW_WORD, ADDED),
    *(CHANGED, WORD_GONE, FIRMER, TAKEN),
)
BODY = "(body)"
OTHERS = "(other keys)"  # of an object that takes none but its own
# What is declared beside a property's types.
DETAILS = (
    *("default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems", "pattern"),
)
DETAIL = re.compile(rf"(.+) ({'|'.join(DETAILS)})")

Shape = Mapping[str, list[str]]


@dataclass(frozen=True)
class Move:
    """One difference of one route and status; `told` says it, `rules` are those of the cases that
    saw it.
    """

    kind: str
    route: str
    path: str
    told: str
    rules: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.route}: {self.path} {self.told}"


def moves(old: Report, new: Report) -> list[Move]:
    """Every difference, the most breaking first.

    Only what both sides were asked is compared: a case that one side has not, or does not support,
    asks the other for a form of answer of its own, and the cases themselves tell of those.
    """
    asked = _asked(old) & _asked(new)
    before, after = _shapes(old, asked), _shapes(new, asked)
    rules = _rules(new, asked)
    found = [
        Move(kind, route, path, told, rules.get((route, path), rules.get((route, ""), ())))
        for route in sorted(before.keys() & after.keys())
        for kind, path, told in _of_route(route, before[route], after[route])
    ]
    return sorted(found, key=lambda move: (KINDS.index(move.kind), move.route, move.path))


def readers(found: Sequence[Move]) -> tuple[str, ...]:
    """One sentence each for a client that refuses unknown keys and for one that skips them; a third
    for what a client sends, where the documents differ in what they take.
    """

    def said(who: str, breaking: frozenset, good: str) -> str:
        hit = [move for move in found if move.kind in breaking]
        routes = len({move.route for move in hit})
        if not hit:
            return f"{who} still works: {good}."
        differences = f"{len(hit)} difference{'s' * (len(hit) > 1)}"
        return f"{who} may break: {differences} on {routes} route{'s' * (routes > 1)}."

    read = "nothing it reads has moved"
    sentences = [
        said("A client that refuses unknown keys", BREAKS_STRICT, read),
        said("A client that skips unknown keys", BREAKS_LENIENT, read),
    ]
    if any(move.kind in SENDING for move in found):
        who = "A client that sends what was declared"
        sentences.append(said(who, BREAKS_SENDER, "all of it is declared still"))
    return tuple(sentences)


def _of_route(route: str, old: Shape, new: Shape) -> Iterator[tuple[str, str, str]]:
    removed, added, moved = (
        (_undeclared, _declared, _moved_request)
        if route.startswith(SENT)
        else (_removed, _added, _moved)
    )
    for path in sorted(old.keys() | new.keys()):
        before, after = set(old.get(path, ())), set(new.get(path, ()))
        if before == after:
            continue
        if route.startswith(ANSWERS) and (DETAIL.fullmatch(path) or path.endswith(OTHERS)):
            continue  # what a server fills in, or promises of a number, no reader has to know
        if not after - {"absent"}:
            if _has_place_for(path, new):
                yield removed(path, before)
        elif not before - {"absent"}:
            if _has_place_for(path, old):
                yield added(path, after)
        else:
            yield from ((kind, path, told) for kind, told in moved(path, before, after))


def _has_place_for(path: str, shape: Shape) -> bool:
    """Whether the other side could have it: of an object or array that it lacks the keys say no
    more, nor of a key that it lacks the default.
    """
    if detail := DETAIL.fullmatch(path):
        return detail[1] in shape
    around = _around(path)
    return around is None or bool({"object", "array"} & set(shape.get(around, ())))


def _removed(path: str, before: set[str]) -> tuple[str, str, str]:
    return REMOVED, path, f"was removed ({_words(before)})"


def _added(path: str, after: set[str]) -> tuple[str, str, str]:
    always = ", always null" if after - {"absent"} == {"null"} else ""
    return ADDED, path, f"was added ({_words(after)}{always})"


def _undeclared(path: str, before: set[str]) -> tuple[str, str, str]:
    if DETAIL.fullmatch(path):
        return CHANGED, path, f"was {_words(before)}, is not declared"
    if path.endswith(OTHERS):
        return TAKEN, path, "are not refused any more"
    return UNDECLARED, path, f"is declared no more ({_words(before)})"


def _narrows(detail: re.Match, before: set[str], after: set[str]) -> bool:
    """Whether a bound refuses what it took before; of none at all `before` is empty."""
    name = detail[2].lower()
    if "min" not in name and "max" not in name:
        return False
    try:
        old, new = ([float(bound) for bound in bounds] for bounds in (before, after))
    except ValueError:  # a server's document may call anything a bound
        return False
    if not new:
        return False
    # Of several alternatives the widest counts.
    return not old or (max(new) < max(old) if "max" in name else min(new) > min(old))


def _declared(path: str, after: set[str]) -> tuple[str, str, str]:
    if path.endswith(OTHERS):
        return REFUSED, path, "are refused now"
    if detail := DETAIL.fullmatch(path):
        kind = REFUSED if _narrows(detail, set(), after) else CHANGED
        return kind, path, f"is {_words(after)}, was not declared"
    kind = TAKEN if "absent" in after else REQUIRED
    return kind, path, f"is {'declared' if kind == TAKEN else 'required'} now ({_words(after)})"


def _moved_request(path: str, before: set[str], after: set[str]) -> Iterator[tuple[str, str]]:
    """Of what may be sent, more is harmless and less is not."""
    if detail := DETAIL.fullmatch(path):
        kind = REFUSED if _narrows(detail, before, after) else CHANGED
        yield kind, f"was {_words(before)}, is {_words(after)}"
        return
    if "absent" in before - after:
        yield REQUIRED, "must be given now"
    if "absent" in after - before:
        yield TAKEN, "need not be given now"
    if "any" not in after and (gone := before - after - {"absent"}):
        yield REFUSED, f"takes {_words(gone)} no more"
    if new := after - before - {"absent"}:
        yield TAKEN, f"takes {_words(new)} too"


def _moved(path: str, before: set[str], after: set[str]) -> Iterator[tuple[str, str]]:
    types = [{_type(kind) for kind in kinds} - {"null", "absent"} for kinds in (before, after)]
    if types[0] and types[1] and not types[1] <= types[0]:
        yield RETYPED, f"was {_words(types[0])}, is {_words(types[1])}"
    if types[1] and not types[0]:
        yield ADDED, f"was always null, may be {_words(types[1])} now"
    if "null" in after - before:
        yield NULLABLE, "may be null now" + ("" if types[1] else ", and always is")
    if "absent" in after - before:
        yield OPTIONAL, "may be absent now"
    words = [{kind for kind in kinds if kind.startswith('"')} for kinds in (before, after)]
    if words[0] and "string" in after - before:
        yield NEW_WORD, "may be any string now"
    if all(words) and (new := words[1] - words[0]):
        yield NEW_WORD, f"has a new value: {_words(new)}"
    if all(words) and (gone := words[0] - words[1]):
        yield WORD_GONE, f"was never {_words(gone)}"
    if gone := {"null", "absent"} & before - after:
        yield FIRMER, f"is never {_words(gone)} now"


def _type(kind: str) -> str:
    return "string" if kind.startswith('"') else kind


def _words(kinds: set[str]) -> str:
    return " or ".join(sorted(kinds))


def _asked(report: Report) -> set[str]:
    """The cases that the server was able to be asked."""
    return {case["id"] for case in report.cases if case["status"] not in ("unsupported", "error")}


def _shapes(report: Report, asked: set[str]) -> dict[str, Shape]:
    """Route and status to the shape of all answers to the cases `asked`."""
    found: dict[str, dict[str, list[str]]] = {}
    for case in (case for case in report.cases if case["id"] in asked):
        for route, shape in case.get("shapes", {}).items():
            found[route] = join(found[route], shape) if route in found else dict(shape)
    return found


def join(one: Shape, other: Shape) -> dict[str, list[str]]:
    """The shape of both; a key that only one has, beside an object in the other, may be absent."""
    return {path: sorted(_types(path, one) | _types(path, other)) for path in {**one, **other}}


def _types(path: str, own: Shape) -> set[str]:
    if path in own:
        return set(own[path])
    around = _around(path)
    is_member = around is None or "object" in own.get(around, ())
    return {"absent"} if is_member and path != BODY else set()


def _around(path: str) -> str | None:
    """The path of the object or array that `path` lies in; None for the body and a header."""
    if path == BODY or path.startswith("header ") or path == "[DONE]":
        return None
    if path.endswith("[]"):
        return path[:-2] or BODY
    return path.rpartition(".")[0] or BODY


def _rules(report: Report, asked: set[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """(route, path) to the first three rules whose cases saw it; the path "" stands for any."""
    found: dict[tuple[str, str], list[str]] = {}
    for case in (case for case in report.cases if case["id"] in asked):
        for route, shape in case.get("shapes", {}).items():
            for path in ("", *shape):
                seen = found.setdefault((route, path), [])
                if len(seen) < 3 and case["requirements"][0] not in seen:
                    seen.append(case["requirements"][0])
    return {key: tuple(rules) for key, rules in found.items()}
