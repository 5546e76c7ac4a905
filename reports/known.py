"""The list of known failures as reports read it: which cases on which targets an entry speaks of.

It is linted by fixtures/verdict.py, which judges by it.
"""

import datetime
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.version import InvalidVersion, Version

from reports.check import ReportProblem

FAILING, UNSUPPORTED, VANISHED = ACCEPTED = ("failing", "unsupported", "vanished")
TARGET = re.compile(
    r"(?P<implementation>[^@*\s]+)@"
    r"(?:(?P<first>[^@*\s]+?)\.\.(?P<last>[^@*\s]+)|(?P<exact>(?!\S*\.\.)[^@*\s]+)|\*)"
)


@dataclass(frozen=True)
class KnownFailing:
    """One entry of the list: on `target` (IMPLEMENTATION@RELEASE, release exact, A..B or *) these
    `cases` of `requirement` fail. `cases` matches a case id whole; `*` and `?` are wild, brackets
    are plain.

    Where no request of a case shows the fault by itself, `curl` has the shell lines that do, to the
    node at `$NODE`, and `shows` a regular expression found in their output.

    `accepts`: what the entry speaks of. Entries about cases that are unsupported, or gone, are no
    known failures: they accept that loss where two reports are compared.
    """

    target: str
    requirement: str
    cases: str
    reason: str
    reference: str
    since: str
    review_by: datetime.date
    curl: str = ""
    shows: str = ""
    accepts: str = FAILING

    def covers(self, target: str) -> bool:
        """Whether `target` (IMPLEMENTATION@RELEASE) is one this entry speaks of.

        An entry names one implementation or several, `reference,stock@0.33.0`; a range of releases
        includes both its ends.
        """
        pattern = TARGET.fullmatch(self.target)
        implementation, _, release = target.rpartition("@")
        if pattern is None or implementation not in pattern["implementation"].split(","):
            return False
        if pattern["first"]:
            try:
                return Version(pattern["first"]) <= Version(release) <= Version(pattern["last"])
            except InvalidVersion:
                return False  # a release without a number, such as a checkout's, lies in no range
        return pattern["exact"] in (None, release)

    def matches(self, target: str, case: str, requirements: Collection[str]) -> bool:
        """Whether this entry lists `case`, which judges `requirements` on `target`."""
        # A parametrised case id holds brackets, which fnmatch would read as a set of characters.
        return (
            self.requirement in requirements
            and fnmatchcase(case, self.cases.replace("[", "[[]"))
            and self.covers(target)
        )


def entries_of(table: Mapping) -> Iterator[KnownFailing]:
    """The entries of one table of the list: `cases` may be several, each an entry of its own that
    must match. Raises TypeError where a key is missing or unknown.
    """
    cases = table["cases"] if isinstance(table.get("cases"), list) else [table.get("cases")]
    for pattern in cases:
        yield KnownFailing(**{**table, "cases": pattern})


def read_list(file: Path) -> tuple[KnownFailing, ...]:
    """The entries of a list; raises ReportProblem for one that cannot be read."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("known_failing", [])
        return tuple(entry for table in tables for entry in entries_of(table))
    except (OSError, ValueError, TypeError) as problem:
        raise ReportProblem(f"the list {file} cannot be read: {problem}.") from None
