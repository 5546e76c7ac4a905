"""The list of known failures as reports read it: which cases on which targets an entry speaks of.

What an entry looks like is checked here; fixtures/verdict.py, which judges by the list, also asks
whether the catalogue has its rule and where it was reported.
"""

import datetime
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.version import InvalidVersion, Version

from reports.check import ReportProblem, short

FAILING, UNSUPPORTED, VANISHED = ACCEPTED = ("failing", "unsupported", "vanished")
TARGET = re.compile(
    r"(?P<implementation>[^@*\s]+)@"
    r"(?:(?P<first>[^@*\s]+?)\.\.(?P<last>[^@*\s]+)|(?P<exact>(?!\S*\.\.)[^@*\s]+)|\*)"
)
RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?")


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
    must match. The table must be without `faults_of`.
    """
    cases = table["cases"] if isinstance(table["cases"], list) else [table["cases"]]
    for pattern in cases:
        yield KnownFailing(**{**table, "cases": pattern})


def read_list(file: Path) -> tuple[KnownFailing, ...]:
    """The entries of a list; raises ReportProblem for one that cannot be read."""
    try:
        tables, faults = tables_of(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as problem:
        raise ReportProblem(f"the list {file} cannot be read: {problem}.") from None
    for number, table in enumerate(tables, 1):
        faults += [f"entry {number}: {fault}" for fault in faults_of(table)]
    if faults:
        raise ReportProblem(f"the list {file} cannot be read: {short(faults[0])}.")
    return tuple(entry for table in tables for entry in entries_of(table))


def tables_of(document: Mapping) -> tuple[list[Mapping], list[str]]:
    """The tables of a list, and what is wrong with it as a whole."""
    faults = [f"unknown key {key}" for key in document if key != "known_failing"]
    tables = document.get("known_failing", [])
    if isinstance(tables, list) and all(isinstance(table, dict) for table in tables):
        return tables, faults
    return [], [*faults, "known_failing must be a list of tables, [[known_failing]]"]


def faults_of(table: Mapping) -> Iterator[str]:
    """What is wrong with one table of the list by itself."""
    fields = tuple(KnownFailing.__dataclass_fields__)
    optional = ("curl", "shows", "accepts")
    for key in sorted(table.keys() - set(fields)):
        yield f"unknown key {key}"
    missing = [key for key in fields if key not in table and key not in optional]
    if missing:
        yield f"{' and '.join(missing)} missing"
        return
    if ("curl" in table) != ("shows" in table):
        yield "curl and shows go together"
    for key in fields:
        if key == "review_by" or key not in table:
            continue
        several = key == "cases" and isinstance(table[key], list)
        values = table[key] if several else [table[key]]
        if not values or not all(isinstance(value, str) and value.strip() for value in values):
            yield f"{key} must be a string that is not empty" + several * ", or a list of such"
            return
    yield from _target_faults(table["target"])
    if table.get("accepts", FAILING) not in ACCEPTED:
        yield f"unknown accepts {table['accepts']!r}: one of {', '.join(ACCEPTED)}"
    if not RELEASE.fullmatch(table["since"]):
        yield f'since must be a release such as "0.24.0", not {table["since"]!r}'
    if type(table["review_by"]) is not datetime.date:  # a date with a time is a date too
        yield "review_by must be a date such as 2027-03-01"


def _target_faults(target: str) -> Iterator[str]:
    pattern = TARGET.fullmatch(target)
    if pattern is None:
        yield (
            f"target {target!r} is not IMPLEMENTATION@RELEASE, "
            "where RELEASE is one release, a range A..B, or *"
        )
    elif pattern["first"]:
        try:
            if Version(pattern["first"]) > Version(pattern["last"]):
                yield f"target {target!r} ends before it begins"
        except InvalidVersion:
            yield f"target {target!r} holds a range whose ends are not releases"
