"""How well the suite tells right from wrong: the lies that its cases catch, and how many of them a
server that does nothing passes.

What the file of scores holds stands in schema/scores.schema.json.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from reports.check import ReportProblem, parse, short

COMMITTED = Path(__file__).parent / "scores.json"
COMMAND = "pytest tests/mutants tests/nulls --scores reports/scores.json"
SCHEMA_VERSION = 1
SCHEMA_FILE = Path(__file__).parent / "schema" / "scores.schema.json"
LARGEST = 16 * 1024 * 1024  # bytes
ALLOWED = (
    0.05  # the share of the suite's cases that a server which does nothing may pass, less than
)


@dataclass(frozen=True)
class Chapter:
    """How many rules of level must a chapter has, how many a lie guards, and its lies."""

    musts: int
    guarded: int
    mutants: int
    caught: int


@dataclass(frozen=True)
class Scores:
    """A whole file of scores, as the schema has it."""

    document: Mapping[str, Any]

    @property
    def mutants(self) -> Mapping[str, Mapping]:
        return self.document["mutants"]

    @property
    def nulls(self) -> Mapping[str, Mapping]:
        return self.document["nulls"]

    @property
    def release(self) -> str:
        """The release of vLLM; all runs of a file are on one."""
        return self.document["runs"][-1]["release"]

    @property
    def survived(self) -> list[str]:
        return [name for name, mutant in self.mutants.items() if not mutant["caught"]]

    @cached_property
    def guards(self) -> dict[str, dict[str, list[str]]]:
        """Rule to the mutants that a case of it caught, each with these cases."""
        found: dict[str, dict[str, list[str]]] = {}
        for name, mutant in self.mutants.items():
            for case, seen in mutant["cases"].items():
                for rule in seen["rules"] if seen["failed"] else ():
                    found.setdefault(rule, {}).setdefault(name, []).append(case)
        return found

    @property
    def musts(self) -> list[str]:
        return [rule for rule, level in self.document["rules"].items() if level == "must"]

    @property
    def unguarded(self) -> list[str]:
        """The rules of level must that no caught lie guards."""
        return [rule for rule in self.musts if rule not in self.guards]

    def chapters(self) -> dict[str, Chapter]:
        """By name, sorted; a mutant counts where the first rule of its first case stands."""
        own = {name: chapter_of(mutant) for name, mutant in self.mutants.items()}
        musts = [(rule.partition(".")[0], rule) for rule in self.musts]
        return {
            chapter: Chapter(
                musts=sum(of == chapter for of, _ in musts),
                guarded=sum(of == chapter and rule in self.guards for of, rule in musts),
                mutants=sum(of == chapter for of in own.values()),
                caught=sum(
                    of == chapter and self.mutants[name]["caught"] for name, of in own.items()
                ),
            )
            for chapter in sorted({*own.values(), *(of for of, _ in musts)})
        }

    def shares(self) -> dict[str, float]:
        """Which part of the cases each null passes."""
        return {
            name: null["counts"].get("passed", 0) / null["cases"]
            for name, null in self.nulls.items()
        }

    def problems(self) -> Iterator[str]:
        """Why the scores are not good, in words."""
        if count := len(self.survived):
            yield f"{count} {'lie is' if count == 1 else 'lies are'} not caught"
        for name, share in self.shares().items():
            if share >= ALLOWED:
                yield f"{name} passes {percent(share)} of the cases, and {percent(ALLOWED)} is too much"


def chapter_of(mutant: Mapping) -> str:
    """The chapter of the first rule of a mutant's first case."""
    return next(iter(mutant["cases"].values()))["rules"][0].partition(".")[0]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def read(path: Path) -> Scores:
    """The scores at `path`; raises ReportProblem for anything but a whole and consistent file."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise ReportProblem(f"{path}: there are no scores; {COMMAND} makes them.") from None
    except OSError as error:
        raise ReportProblem(
            f"{path}: the scores cannot be read: {error.strerror or error}."
        ) from error
    if len(raw) > LARGEST:
        raise ReportProblem(f"{path}: the file is larger than any this tool writes.")
    return check(parse(raw, str(path), "a file of scores"), str(path))


def committed(path: Path = COMMITTED) -> Scores | None:
    """This checkout's scores; None where it has none. Raises ReportProblem for a broken file."""
    return read(path) if path.exists() else None


def check(document: Any, where: str) -> Scores:
    """`document` as scores; raises ReportProblem naming `where` for what is none."""
    if problem := _problem(document):
        raise ReportProblem(f"{where}: not a file of scores: {problem}.")
    return Scores(document)


def _problem(document: Any) -> str | None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    version = document.get("schema", SCHEMA_VERSION) if isinstance(document, dict) else None
    if isinstance(document, dict) and version != SCHEMA_VERSION:
        return f"schema version {short(version)} is unknown: this tokenwire reads {SCHEMA_VERSION}"
    if error := best_match(Draft202012Validator(schema).iter_errors(document)):
        place = "/".join(map(str, error.absolute_path))
        return f"{short(place)}: {short(error.message)}" if place else short(error.message)
    if len({run["release"] for run in document["runs"]}) > 1:
        return "its runs are of several releases"
    for name, entry in [*document["mutants"].items(), *document["nulls"].items()]:
        if entry["run"] >= len(document["runs"]):
            return f"the run of {short(name)} is not in it"
    for name, mutant in document["mutants"].items():
        if mutant["caught"] != any(case["failed"] for case in mutant["cases"].values()):
            return f"whether {short(name)} was caught is not what its cases say"
    for name, null in document["nulls"].items():
        if sum(null["counts"].values()) != null["cases"]:
            return f"the counts of {short(name)} are not those of its cases"
    return None


def lies_of(checkout: Path) -> dict[str, list[str]] | None:
    """Every mutant of a checkout to the cases that must catch it; None where it has none.

    Raises ReportProblem for a list that cannot be read.
    """
    file = checkout / "tests" / "mutants" / "caught.toml"
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise ReportProblem(f"the list {file} cannot be read: {problem}.") from None


def difference(scores: Scores, checkout: Path) -> str | None:
    """One sentence on the mutants that a checkout and its scores do not share; None where they agree."""
    if (lies := lies_of(checkout)) is None:
        return None
    told = []
    if missing := [name for name in lies if name not in scores.mutants]:
        told.append(f"not in it: {_some(missing)}")
    if gone := [name for name in scores.mutants if name not in lies]:
        told.append(f"no longer mutants: {_some(gone)}")
    return f"The scores are not those of this checkout; {'; '.join(told)}." if told else None


def _some(names: list[str], most: int = 5) -> str:
    count = "1 mutant" if len(names) == 1 else f"{len(names)} mutants"
    return f"{count} ({', '.join(names[:most])}{', …' if len(names) > most else ''})"


def comparison(cases: int, path: Path = COMMITTED) -> str | None:
    """The line beside the result of a run of `cases` cases: what a server that does nothing passes.

    None where there are no scores, or where the run is less than half of the suite that they know.
    """
    name = "/".join(path.parts[-2:])
    try:
        scores = committed(path)
    except ReportProblem as problem:
        return f"for comparison: {problem}"
    if not scores or not scores.nulls:
        return None
    if 2 * cases < max(null["cases"] for null in scores.nulls.values()):
        return None
    return f"for comparison: {in_words(scores)} ({name})"


def in_words(scores: Scores) -> str:
    """The scores in a few words."""
    parts = []
    if shares := scores.shares():
        most = max(shares, key=shares.__getitem__)
        parts.append(f"servers that do nothing pass at most {percent(shares[most])} ({most})")
    if count := len(scores.mutants):
        parts.append(f"{count - len(scores.survived)} of {count} lies are caught")
    return "; ".join(parts) or "nothing was measured"
