"""The protocol as a document: every rule of the catalogue with its releases, references and cases,
every public fault with its rules, and what is left out.

Read from the files of a checkout, so that it needs no run: the rules and the list of known failures
are data, and a case names its rules where it stands.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from reports.check import ReportProblem


def document(suite: Path) -> Iterator[str]:
    """The lines of the document, as Markdown; `suite` is the folder `conformance`.

    Raises ReportProblem when a file is not there or cannot be read.
    """
    try:
        chapters = {
            file.stem: tomllib.loads(file.read_text(encoding="utf-8"))
            for file in sorted((suite / "requirements").glob("*.toml"))
        }
        failures = tomllib.loads((suite / "known_failing.toml").read_text(encoding="utf-8"))
        sources = tomllib.loads((suite / "sources.toml").read_text(encoding="utf-8"))
        cases = _cases(suite)
    except (OSError, SyntaxError, ValueError) as problem:
        raise ReportProblem(f"the catalogue in {suite} cannot be read: {problem}.") from None
    if not chapters:
        raise ReportProblem(f"{suite} has no requirements: it is not the suite's folder.")
    known: dict[str, list[Mapping]] = {}
    for entry in failures.get("known_failing", []):
        known.setdefault(entry["requirement"], []).append(entry)
    count = sum(map(len, chapters.values()))
    yield "# The wire protocol of vLLM's disaggregated serving"
    yield ""
    yield f"{count} rules in {len(chapters)} chapters. A rule binds the roles it names, from the"
    yield "release on in which stock vLLM began to hold it."
    for chapter, rules in chapters.items():
        yield ""
        yield f"## {chapter}"
        for name, rule in rules.items():
            yield ""
            yield f"### {name}"
            yield from _rule(rule, cases.get(name, ()), known.get(name, ()))
    rules = {name: rule for chapter in chapters.values() for name, rule in chapter.items()}
    yield from _public_faults(sources["cases"], sources["left_out"], rules)
    yield from _left_out(sources["left_out"])


def _public_faults(faults: Mapping, left_out: Mapping, rules: Mapping) -> Iterator[str]:
    """Each fault that people met, and the rules that hold it off."""
    yield from ("", "## Faults that people met")
    for number, fault in faults.items():
        reference = f"CASES {number}"
        named = [f"`{id}`" for id, rule in rules.items() if reference in rule["references"]]
        yield ""
        yield f"### {reference}"
        yield ""
        yield fault["about"]
        yield ""
        yield f"- reported in {', '.join(fault['reports']) or 'no public place: found on live nodes'}"
        guarded = ", ".join(named) or f"no rule: {left_out.get(reference, 'for no reason')}"
        yield f"- guarded by {guarded}"


def _left_out(left_out: Mapping[str, str]) -> Iterator[str]:
    """What the sources name and no rule covers; neighbours of one reason share a line."""
    yield from ("", "## Left out", "")
    for reason, group in groupby(left_out.items(), lambda item: item[1]):
        yield f"- {', '.join(reference for reference, _ in group)}: {reason}"


def _rule(rule: Mapping, cases: Sequence[str], known: Sequence[Mapping]) -> Iterator[str]:
    yield ""
    yield rule["text"].strip()
    yield ""
    since = rule["since"]
    held = "by no release yet" if since == "none yet" else f"from {since} on"
    yield f"- {rule['level']}, {' and '.join(rule['roles'])}; held {held}"
    if rule["needs"]:
        yield f"- builds on {', '.join(rule['needs'])}"
    yield f"- from {', '.join(rule['references'])}"
    for case in cases:
        yield f"- guarded by `{case}`"
    # Several entries often tell one fault of several cases.
    for target, reason, reference in dict.fromkeys(
        (entry["target"], entry["reason"], entry["reference"]) for entry in known
    ):
        yield f"- fails on {target}: {reason} ({reference})"


def _cases(suite: Path) -> dict[str, list[str]]:
    """Rule to the cases that name it; a mark on a table or a module stands for the whole file."""
    found: dict[str, list[str]] = {}
    for file in sorted(suite.rglob("test_*.py")):
        where = file.relative_to(suite.parent).as_posix()
        for statement in ast.parse(file.read_text(encoding="utf-8")).body:
            is_case = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            case = f"{where}::{statement.name}" if is_case else where
            for node in ast.walk(statement):
                for rule in _named(node):
                    if case not in found.setdefault(rule, []):
                        found[rule].append(case)
    return found


def _named(node: ast.AST) -> list[str]:
    """The rules that a call `requirement("…", …)` names."""
    match node:
        case ast.Call(func=ast.Name("requirement"), args=arguments):
            return [word.value for word in arguments if isinstance(word, ast.Constant)]
    return []
