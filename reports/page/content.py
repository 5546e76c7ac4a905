"""What the page shows: an index that is small enough to open at once, and the evidence in chunks.

The index has every case with one letter for each column; the evidence of a case is kept where the case
did not simply pass, and of the smallest passed case of each rule as an example.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reports import grid, measured
from reports.compare import KINDS, Comparison, sentence
from reports.evidence import bounded_text
from reports.page.scores import scores_part
from reports.record import Report
from reports.releases import LETTERS
from reports.scores import Scores
from reports.shapes import readers
from reports.summary import verdict_sentence

MAX_TEXT = 16 * 1024  # characters of a body, a message or a curl line on the page
MAX_EVIDENCE = 128 * 1024  # characters of a case's exchanges on one target, the last ones first
CHUNK = 256 * 1024  # characters of evidence that are unpacked together
ABSENT = "."  # the column has no such case


@dataclass(frozen=True)
class Content:
    """The index, and chunks of evidence; a case of the index names its chunk and its place there."""

    index: dict
    chunks: list[list]


@dataclass
class _LeftOut:
    """What the report has and the page has not."""

    cases: int = 0
    exchanges: int = 0
    texts: int = 0


@dataclass
class _Chunks:
    chunks: list[list] = field(default_factory=list)
    size: int = CHUNK

    def add(self, detail: list) -> list[int]:
        """The chunk and the place where `detail` now is."""
        if self.size >= CHUNK:
            self.chunks.append([])
            self.size = 0
        self.chunks[-1].append(detail)
        self.size += len(json.dumps(detail))
        return [len(self.chunks) - 1, len(self.chunks[-1]) - 1]


def content(
    report: Report,
    old: Report | None = None,
    comparison: Comparison | None = None,
    scores: Scores | None = None,
) -> Content:
    """The content of a page of `report`, a column for each target, or of two that were compared."""
    sides = [report] if old is None else [old, report]
    columns = [(side, target) for side in sides for target in side.header["targets"]]
    by_id: dict[str, list[Mapping | None]] = {}
    for number, (side, target) in enumerate(columns):
        for case in side.cases:
            if case["target"] == target:
                by_id.setdefault(case["id"], [None] * len(columns))[number] = case
    changes = {change.case["id"]: change for change in comparison.changes} if comparison else {}
    rules = {id: rule for side in sides for id, rule in side.header["requirements"].items()}
    place = {id: number for number, id in enumerate(rules)}
    examples = _examples(by_id.values())
    chunks, left_out = _Chunks(), _LeftOut()
    files: dict[str, int] = {}
    reasons: dict[str, int] = {}
    cases = []
    for id, row in by_id.items():
        file, _, name = id.partition("::")
        change = changes.get(id)
        line = [
            files.setdefault(file, len(files)),
            name,
            [place[rule] for rule in _newest(row)["requirements"]],
            "".join(LETTERS[case["status"]] if case else ABSENT for case in row),
            chunks.add(_detail(row, left_out)) if id in examples or _is_told(row) else 0,
        ]
        left_out.cases += line[-1] == 0
        if change:
            line.append(KINDS.index(change.kind))
            if change.waived:
                line.append(reasons.setdefault(change.waived, len(reasons)))
        cases.append(line)
    index = {
        "columns": _labels(columns),
        "sentence": _sentence(report, comparison),
        "problems": list(comparison.problems if comparison else report.footer["problems"]),
        "letters": {letter: status for status, letter in LETTERS.items()},
        "runs": [_run(side) for side in sides],
        "rules": [[id, *_rule(rule)] for id, rule in rules.items()],
        "files": list(files),
        "cases": cases,
        "kinds": list(KINDS) if comparison else [],
        "waived": list(reasons),
        "shapes": _shapes(sides, comparison),
        "measured": measured.plots(by_id),
        "grid": _grid(report, {id: number for number, id in enumerate(by_id)}),
        "scores": scores_part(scores),
        "left_out": vars(left_out),
    }
    return Content(index, chunks.chunks)


def _sentence(report: Report, comparison: Comparison | None) -> str:
    if comparison is None:
        return verdict_sentence(report).removeprefix("tokenwire: ")
    # The page's title says which two are compared.
    return sentence(comparison).partition(f"{comparison.old}: ")[2]


def _labels(columns: Sequence[tuple[Report, str]]) -> list[str]:
    names = [target for _, target in columns]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({word})" for name, word in zip(names, ("old", "new"), strict=True)]


def _newest(row: Sequence[Mapping | None]) -> Mapping:
    return next(case for case in reversed(row) if case)


def _is_told(row: Sequence[Mapping | None]) -> bool:
    return any(case and case["status"] != "passed" for case in row)


def _examples(rows) -> set[str]:
    """The passed case of each rule with the least evidence."""
    smallest: dict[str, tuple[int, str]] = {}
    for row in rows:
        case = _newest(row)
        if _is_told(row) or not case["exchanges"]:
            continue
        size = len(json.dumps(case["exchanges"]))
        for rule in case["requirements"]:
            smallest[rule] = min(smallest.get(rule, (size, case["id"])), (size, case["id"]))
    return {id for _, id in smallest.values()}


def _detail(row: Sequence[Mapping | None], left_out: _LeftOut) -> list:
    """For each column None or its side: all that did not pass, and the newest that did."""
    passed = [number for number, case in enumerate(row) if case and case["status"] == "passed"]
    return [
        _side(case, left_out)
        if case and (case["status"] != "passed" or number == passed[-1])
        else None
        for number, case in enumerate(row)
    ]


def _side(case: Mapping, left_out: _LeftOut) -> dict:
    side = {
        key: case[key]
        for key in ("status", "observed", "engine", "node", "seconds", "replay")
        if key in case
    }
    if "message" in case:
        side["message"] = _bounded(case["message"], left_out)
    made = len(case["exchanges"]) + case.get("exchanges_left_out", 0)
    kept: list[dict] = []
    room = MAX_EVIDENCE
    for number, exchange in reversed(list(enumerate(case["exchanges"], 1))):
        # The last exchange of a case is always in the report, whatever was left out before it.
        number = made if number == len(case["exchanges"]) else number
        line = _exchange(exchange, left_out) | {"number": number}
        room -= len(json.dumps(line))
        if room < 0 and kept:
            break
        kept.append(line)
    left_out.exchanges += len(case["exchanges"]) - len(kept)
    return side | {"exchanges": kept[::-1], "made": made}


def _exchange(exchange: Mapping, left_out: _LeftOut) -> dict:
    line = {key: value for key, value in exchange.items() if key != "url" and value is not None}
    line["curl"] = _bounded(exchange["curl"], left_out)
    for key in ("request", "body"):
        if body := line.get(key):
            form = "text" if "text" in body else "base64"
            line[key] = body | {form: body[form][:MAX_TEXT]}
            # Without a mark in the text, so that the page can still lay it out.
            if gone := len(body[form]) - len(line[key][form]):
                line[key]["cut"] = gone
                left_out.texts += 1
    return line


def _bounded(text: str, left_out: _LeftOut) -> str:
    left_out.texts += len(text) > MAX_TEXT
    return bounded_text(text, MAX_TEXT)


def _rule(rule: Mapping) -> list:
    return [
        rule["text"],
        rule["level"],
        rule.get("roles", []),
        rule.get("since", ""),
        rule.get("references", []),
        rule.get("needs", []),
    ]


def _run(report: Report) -> dict:
    header, footer = report.header, report.footer
    return {
        **{key: header[key] for key in ("started", "command", "targets", "engines", "seed")},
        **{key: header[key] for key in ("python", "platform")},
        **{key: footer[key] for key in ("finished", "planned", "reported", "exit_code")},
        "releases": [
            [name, release["version"], release["obtained"]]
            for name, release in header["releases"].items()
        ],
    }


def _shapes(sides: Sequence[Report], comparison: Comparison | None) -> dict | None:
    """The moves of the wire's shape; None where a side has no shapes to compare."""
    if not comparison or not all(any("shapes" in case for case in side.cases) for side in sides):
        return None
    moves = [[move.kind, move.route, move.path, move.told, move.rules] for move in comparison.moves]
    return {"moves": moves, "readers": list(readers(comparison.moves))}


def _grid(report: Report, numbers: Mapping[str, int]) -> dict | None:
    """The upgrade matrix; each cell with the exchanges that met it, None where there is none."""
    cases = [case for case in report.cases if "cell" in case]
    if not cases:
        return None
    rules = list(dict.fromkeys(case["cell"].get("rule", "") for case in cases))
    return {
        "states": {state: letter for state, (letter, _) in grid.LETTERS.items()},
        "rules": [_grid_rule(rule, cases) for rule in rules],
        "planes": list(_planes(cases, rules, numbers)),
    }


def _grid_rule(rule: str, cases: Sequence[Mapping]) -> list:
    own = [case["cell"] for case in cases if case["cell"].get("rule", "") == rule]
    keys = ("expected", "reason", "reference", "contradicts")
    return [rule or "(no rule)", len(own), *(own[0].get(key, "") for key in keys)]


def _planes(
    cases: Sequence[Mapping], rules: Sequence[str], numbers: Mapping[str, int]
) -> Iterator[dict]:
    met: dict[tuple, list] = {}
    for case in cases:
        cell = case["cell"]
        roles = [role for role in grid.ROLES if role in cell]
        key = (roles[0], roles[-1]), (cell[roles[0]], cell[roles[-1]])
        mix = ", ".join(f"{role} {cell[role]}" for role in roles)
        line = [cell["exchange"], mix, grid.state(case), rules.index(cell.get("rule", ""))]
        line += [numbers[case["id"]], cell.get("outcome", "")]
        met.setdefault(key, []).append(line)
    for axes, cells in grid.planes(cases).items():
        rows, columns = (
            sorted({place[axis] for place in cells}, key=grid.order) for axis in (0, 1)
        )
        yield {
            "axes": axes,
            "rows": rows,
            "columns": columns,
            "labels": [grid.short(column) for column in columns],
            "cells": [
                [rows.index(place[0]), columns.index(place[1]), state, met[axes, place]]
                for place, state in cells.items()
            ],
        }
