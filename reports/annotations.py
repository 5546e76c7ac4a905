"""The cases that failed as workflow commands, which GitHub shows beside the lines of a pull request."""

import ast
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from reports.case_id import CaseId
from reports.compare import Comparison, bad_cases
from reports.record import Report
from reports.summary import details, printable, words

AT_MOST = 50  # what GitHub keeps of a job


def commands(report: Report, checkout: Path, comparison: Comparison | None = None) -> Iterator[str]:
    """One line per failed or broken case and per problem of the run, and one on what is left out.

    `checkout`: the folder in which the cases' files are looked for, for the line of each function.
    `comparison`: that of `report` with an older one; then what got worse has a line, and what fails
    as it did has none.
    """
    rules = report.header["requirements"]
    problems = comparison.problems if comparison else report.footer["problems"]
    found = [_problem(problem) for problem in problems]
    unjudged = 0
    for what, case in bad_cases(report, comparison):
        # Its control has a line, and may have left hundreds unjudged.
        if what == words("not_judged"):
            unjudged += 1
        else:
            found.append(_case(what, case, rules, checkout))
    yield from found[:AT_MOST]
    rest = []
    if len(found) > AT_MOST:
        rest.append(f"{len(found) - AT_MOST} more failures are left out")
    if unjudged:
        rest.append(f"not judged, because a rule they build on did not hold: {unjudged} cases")
    if rest:
        yield command("notice", f"{'; '.join(rest)}. They stand in the report.", title="tokenwire")


def command(kind: str, message: str, **properties: object) -> str:
    """One workflow command, on one line whatever `message` and the properties hold."""
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{kind} {told}::{_data(message)}"


def _problem(problem: str) -> str:
    return command("error", printable(problem), title="tokenwire: the run itself")


def _case(what: str, case: Mapping, rules: Mapping[str, Mapping], checkout: Path) -> str:
    id = CaseId.of(case["id"])
    place: dict[str, object] = {}
    if path := _inside(checkout, id.file):
        place["file"] = id.file
        if line := _lines(path).get(id.names):
            place["line"] = line
    title = printable(f"{what}: {case['requirements'][0]}")
    told = [printable(case["id"]), *details(case, rules)]
    return command("error", "\n".join(told), **place, title=title)


def _inside(checkout: Path, name: str) -> Path | None:
    """The file of that name, where it is one of the checkout: a report may name anything."""
    try:
        root = Path(os.path.realpath(checkout))
        path = Path(os.path.realpath(root / name))
        return path if path.suffix == ".py" and path.is_file() and root in path.parents else None
    except (OSError, ValueError):
        return None


@cache
def _lines(file: Path) -> dict[tuple[str, ...], int]:
    """Names of classes and function, outermost first, to the line of the `def`."""
    try:
        module = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    return dict(_functions(module, ()))


def _functions(node: ast.AST, outer: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (*outer, child.name), child.lineno
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, (*outer, child.name))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
