"""Whether a line is one of a report, and whether the lines of a report hold together."""

import json
import math
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

SCHEMA_VERSION = 2
SCHEMA_FILE = Path(__file__).parent / "schema" / "report.schema.json"
KINDS = ("header", "shape", "case", "footer")

# JSON Schema takes 1.0 for an integer; as an exit code it is none.
_types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, it: type(it) is int)
_Validator = extend(Draft202012Validator, type_checker=_types)


class ReportProblem(Exception):
    """A report cannot be written or read; the text is one sentence for the user."""


class Check:
    """Looks at the lines of one report in order; each call returns its line, or raises
    ReportProblem naming `where`.
    """

    def __init__(self) -> None:
        self.header: dict = {}
        self.cases: set[tuple[str, str]] = set()
        self.shapes: dict[str, dict] = {}
        self.counts: Counter[str] = Counter()
        self.ended = False

    def __call__(self, line: Any, where: str) -> dict:
        if problem := self._problem(line):
            raise ReportProblem(f"{where}: {problem}.")
        return line

    def _problem(self, line: Any) -> str | None:
        kind = line.get("kind") if isinstance(line, dict) else None
        if kind not in KINDS:
            return f"not a line of a report: its kind is none of {', '.join(KINDS)}"
        if self.ended:
            return "a line stands after the footer"
        if (kind == "header") == bool(self.header):
            return "a second header" if self.header else f"a {kind} stands where the header must be"
        if kind == "header" and line.get("schema") != SCHEMA_VERSION:
            version = short(line.get("schema"))
            return f"schema version {version} is unknown: this tokenwire reads {SCHEMA_VERSION}"
        if error := best_match(_validator(kind).iter_errors(line)):
            place = "/".join(map(str, error.absolute_path))
            return f"{short(place)}: {short(error.message)}" if place else short(error.message)
        return getattr(self, f"_{kind}")(line)

    def _header(self, line: dict) -> None:
        self.header = line

    def _shape(self, line: dict) -> str | None:
        if line["name"] in self.shapes:
            return f"the shape {line['name']} stands here a second time"
        self.shapes[line["name"]] = line["paths"]
        return None

    def _case(self, line: dict) -> str | None:
        key = (line["id"], line["target"])
        if key in self.cases:
            return f"{short(line['id'])} on {line['target']} stands here a second time"
        if line["target"] not in self.header["targets"]:
            return f"target {line['target']} is not in the header"
        for requirement in line["requirements"]:
            if requirement not in self.header["requirements"]:
                return f"requirement {short(requirement)} is not in the header"
        for name in line.get("shapes", {}).values():
            if name not in self.shapes:
                return f"shape {name} does not stand before its case"
        cell = line.get("cell")
        if cell and line["status"] == "passed" and cell.get("outcome") != cell.get("expected"):
            return f"{short(line['id'])} passed although its cell did not end as expected"
        self.cases.add(key)
        self.counts[line["status"]] += 1
        return None

    def _footer(self, line: dict) -> str | None:
        if line["reported"] != len(self.cases):
            return f"the footer says {line['reported']} cases, the file holds {len(self.cases)}"
        if line["counts"] != self.counts:
            return "the footer's counts are not those of the file's cases"
        if line["exit_code"] == 0:
            if not self.cases:
                return "the exit code is 0 although no case was reported"
            if line["planned"] != line["reported"]:
                return (
                    f"the exit code is 0 although not all {line['planned']} planned cases reported"
                )
            if bad := sorted(line["counts"].keys() & {"failed", "error", "not_judged"}):
                return f"the exit code is 0 although cases are {' and '.join(bad)}"
            if line["problems"]:
                return (
                    f"the exit code is 0 although there was a problem: {short(line['problems'][0])}"
                )
        self.ended = True
        return None


@cache
def _validator(kind: str) -> Any:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return _Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})


def parse(raw: bytes, where: str, what: str = "a JSON line") -> Any:
    """The value of strict JSON; raises ReportProblem naming `where`, for it is not `what`."""
    try:
        return json.loads(
            raw.decode(),
            object_pairs_hook=_no_key_twice,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ReportProblem(f"{where}: not {what}: {short(error)}.") from error


def _no_key_twice(pairs: list[tuple[str, object]]) -> dict:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return mapping


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{short(text)} is too large a number")
    return number


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def printable(text: str) -> str:
    """`text` with everything a terminal would act on, or could not show, written as an escape."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def inert(line: str) -> str:
    """A printed line as GitHub's runner may read it, which takes `::` at its beginning and `##[`
    anywhere for a command; elsewhere it is left as it is, to be copied.
    """
    if not os.environ.get("GITHUB_ACTIONS"):
        return line
    return re.sub(r"^(\s*)::", r"\1\\::", line).replace("##[", r"##\[")


def short(value: object) -> str:
    """At most 200 printable characters, on one line: what a file holds may be long, or made to fool
    a terminal.
    """
    text = str(value)
    text = text if len(text) <= 200 else text[:197] + "…"
    return text.encode("unicode_escape").decode() if not text.isprintable() else text
