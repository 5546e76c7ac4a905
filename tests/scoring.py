"""What the tests of mutants and nulls found, and the file in which `--scores` keeps it.

A run of a part is laid over what the file holds: each entry says which run it comes from.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fixtures.catalogue import load_catalogue
from fixtures.outcome import ROOT, SUITE
from fixtures.releases import catalogue
from reports import scores
from reports.check import ReportProblem
from reports.record import Report
from reports.scores import Scores
from tests.nulls import NULLS


@dataclass
class Found:
    """What this run found; filled in by its tests."""

    mutants: dict[str, dict] = field(default_factory=dict)
    nulls: dict[str, dict] = field(default_factory=dict)

    def mutant(
        self, name: str, lie: str, named: Sequence[str], cases: Sequence[Mapping], honest: set[str]
    ) -> None:
        """Take in the `cases` reported of the ones `named`; one that is not `honest`, which means
        that it passes on the reference, catches nothing.

        A mutant of which not every named case was judged is not taken in.
        """
        statuses = {case["id"]: case["status"] for case in cases}
        if set(statuses) != set(named) or "error" in statuses.values():
            return
        seen = {
            case["id"]: {
                "failed": case["status"] == "failed" and case["id"] in honest,
                "rules": case["requirements"],
            }
            for case in cases
        }
        caught = any(case["failed"] for case in seen.values())
        self.mutants[name] = {"lie": " ".join(lie.split()), "caught": caught, "cases": seen}

    def null(self, name: str, does: str, report: Report) -> None:
        """Take in the report of a whole run."""
        footer = report.footer
        if footer["planned"] == footer["reported"] > 0:
            self.nulls[name] = {
                "does": " ".join(does.split()),
                "cases": footer["reported"],
                "counts": footer["counts"],
            }

    def scores(self, command: Sequence[str], older: Scores | None = None) -> Scores:
        """This run's entries, laid over those that `older` has of mutants and nulls of today.

        Raises ReportProblem where nothing was judged.
        """
        if not (self.mutants or self.nulls):
            raise ReportProblem("nothing was judged.")
        run = {
            "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "command": ["pytest", *command],
            "release": newest(),
        }
        if older and older.release != run["release"]:
            older = None  # every entry was made anew, or is not known on this release
        runs = [*(older.document["runs"] if older else []), run]
        kinds: dict[str, dict] = {}
        for kind, names in names_of_today().items():
            known = dict(older.document[kind]) if older else {}
            for name, entry in getattr(self, kind).items():
                known[name] = {"run": len(runs) - 1, **entry}
            kinds[kind] = {name: known[name] for name in names if name in known}
        used = sorted({entry["run"] for known in kinds.values() for entry in known.values()})
        for known in kinds.values():
            for name, entry in known.items():
                known[name] = {**entry, "run": used.index(entry["run"])}
        rules = load_catalogue(SUITE / "requirements")
        document = {
            "schema": scores.SCHEMA_VERSION,
            "runs": [runs[place] for place in used],
            "rules": {id: rule.level for id, rule in rules.items()},
            **kinds,
        }
        return scores.check(document, "the scores of this run")


FOUND = pytest.StashKey[Found]()
OLDER = pytest.StashKey[Scores | None]()


def newest() -> str:
    """The release on which mutants and nulls run."""
    return catalogue.load().newest.version


def names_of_today() -> dict[str, list[str]]:
    """The mutants and the nulls that the checkout has."""
    return {
        "mutants": list(scores.lies_of(ROOT) or ()),
        "nulls": [null.__name__ for null in NULLS],
    }


def selected(items: Sequence[pytest.Item]) -> dict[str, set[str]]:
    """The mutants and the nulls that `items` judge."""
    found: dict[str, set[str]] = {"mutants": set(), "nulls": set()}
    for item in items:
        for name, value in item.callspec.params.items() if hasattr(item, "callspec") else ():
            if f"{name}s" in found and item.path.parent.name == f"{name}s":
                found[f"{name}s"].add(value)
    return found


def refusal(file: Path, older: Scores | None, chosen: Mapping[str, set[str]]) -> str | None:
    """Why a run of what is `chosen` cannot be kept in `file`, which holds `older`."""
    if not any(chosen.values()):
        return f"--scores {file}: this run has no mutant and no null."
    left = [
        name
        for kind, names in names_of_today().items()
        for name in names
        if older and name in older.document[kind] and name not in chosen[kind]
    ]
    if left and older and older.release != newest():
        return (
            f"--scores {file}: it holds {len(left)} mutants and nulls, such as {left[0]}, on "
            f"{older.release}; on {newest()} all are to be run, or another file is to be named."
        )
    return None


def put(file: Path, made: Scores) -> None:
    """Write the file in one step; raises OSError."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(made.document, indent=1) + "\n", encoding="ascii")
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
