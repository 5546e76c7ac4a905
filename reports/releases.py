"""A report over several releases: requirement by release, and where each fault began or ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from packaging.version import InvalidVersion, Version
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.check import inert, printable
from reports.record import Report

State = Literal["holds", "holds in part", "fails", "unsupported", "unknown"]
# Worst first; a capital says every case of the requirement there, a small letter only some.
LETTERS = {
    "error": "E",
    "failed": "F",
    "not_judged": "N",
    "known_failing": "K",
    "unsupported": "U",
    "passed": "P",
}
LEGEND = (
    "P passed, K known failing, U unsupported, F failed, N not judged, E error; small: some cases"
)
NONE_YET = "none yet"


@dataclass(frozen=True)
class Fault:
    """A requirement that fails on some of the releases; `states` has one for each, oldest first."""

    requirement: str
    states: Mapping[str, State]
    since: str
    references: tuple[str, ...]
    judgeable: str | None = None
    """The release from which all hold that it needs; None where they always did."""

    def __str__(self) -> str:
        return f"{self.requirement}: fails on {self.fails_on}{self.turns}"

    @property
    def fails_on(self) -> str:
        """The releases it fails on, neighbours as a range."""
        spans = []
        for fails, group in groupby(self.states.items(), lambda item: item[1] == "fails"):
            releases = [release for release, _ in group]
            if fails:
                first, last = releases[0], releases[-1]
                spans.append(first if first == last else f"{first}..{last}")
        return ", ".join(spans)

    @property
    def turns(self) -> str:
        """Where it began and ended, as far as the releases before and after show it."""
        said = ""
        for (_, before), (release, now) in pairwise(self.states.items()):
            if (before, now) == ("unsupported", "fails"):
                said += f", came with the feature in {release}"
            elif before.startswith("holds") and now == "fails":
                said += f", began in {release}"
            elif before == "fails" and now.startswith("holds"):
                said += f", ended in {release}"
        return said

    @property
    def contradictions(self) -> list[str]:
        """What speaks against `since`, the release in which vLLM began to hold the rule."""
        said, seen = [], False
        for release, state in self.states.items():
            begun = self.since != NONE_YET and Version(release) >= Version(self.since)
            seen |= begun and state.startswith("holds")
            judgeable = not self.judgeable or Version(release) >= Version(self.judgeable)
            # What held and then broke is a new fault, of which `since` says nothing.
            if (state == "holds" and not begun) or (
                state == "fails" and begun and judgeable and not seen
            ):
                said.append(f"{state} on {release}")
        return said


def faults(report: Report) -> list[Fault]:
    """Every requirement that fails on one of the report's releases, in the catalogue's order."""
    found = []
    for id, by_release in _statuses(report).items():
        states = {release: _state(statuses) for release, statuses in by_release.items()}
        if "fails" in states.values():
            rule = report.header["requirements"][id]
            since, references = rule.get("since", NONE_YET), tuple(rule.get("references", ()))
            judgeable = _judgeable(id, report.header["requirements"])
            found.append(Fault(id, states, since, references, judgeable))
    return found


def _judgeable(id: str, rules: Mapping[str, Mapping]) -> str | None:
    """The newest release in which a rule that `id` needs began to hold."""
    needed, waiting = set(), [id]
    while waiting:
        new = {need for need in rules[waiting.pop()].get("needs", ()) if need in rules} - needed
        needed |= new
        waiting += new
    begun = [since for need in needed if (since := rules[need].get("since", NONE_YET)) != NONE_YET]
    return max(begun, key=Version, default=None)


def spans_releases(report: Report) -> bool:
    """Whether the report is of one implementation on several releases."""
    implementations = {target.rpartition("@")[0] for target in report.header["targets"]}
    try:
        _releases(report)
    except InvalidVersion:
        return False
    return len(implementations) == 1 and len(report.header["targets"]) > 1


def print_releases(report: Report, console: Console) -> None:
    """Print the table of what is not simply passed, and a line per fault."""
    releases = _releases(report)
    table = Table(box=box.SIMPLE, header_style="bold", caption=LEGEND, caption_justify="left")
    table.add_column("requirement", overflow="fold")
    for release in releases:
        table.add_column(release, justify="center")
    for id, by_release in _statuses(report).items():
        letters = [_letter(by_release[release]) for release in releases]
        if set(letters) != {"P"}:
            table.add_row(Text(inert(printable(id))), *letters)
    if table.row_count:
        console.print(table)
    for line in fault_lines(report):
        console.print(Text(inert(printable(line))), soft_wrap=True)


def fault_lines(report: Report) -> Iterator[str]:
    """One sentence per fault, then how many agree with the catalogue.

    The catalogue's `since` speaks of vLLM as released, so that other implementations are not
    compared with it.
    """
    found = faults(report)
    stock = report.header["targets"][0].startswith("stock@")
    disagree = 0
    for fault in found:
        line = f"{fault} ({', '.join(fault.references)})"
        if stock:
            against = fault.contradictions
            disagree += bool(against)
            verdict = f"disagrees: {' and '.join(against)}" if against else "agrees"
            line += f"; since {fault.since}: {verdict}"
        yield line
    if stock and found:
        yield f"{len(found)} faults, {len(found) - disagree} agree with since, {disagree} disagree"


def _releases(report: Report) -> list[str]:
    """The releases, oldest first; raises InvalidVersion for a target that is a mix of them."""
    return sorted((target.rpartition("@")[2] for target in report.header["targets"]), key=Version)


def _statuses(report: Report) -> dict[str, dict[str, list[str]]]:
    """Requirement to release to the statuses of its cases there, for each with a case at all."""
    releases = _releases(report)
    found = {id: {release: [] for release in releases} for id in report.header["requirements"]}
    for case in report.cases:
        for id in case["requirements"]:
            found[id][case["target"].rpartition("@")[2]].append(case["status"])
    return {id: by_release for id, by_release in found.items() if any(by_release.values())}


def _state(statuses: Sequence[str]) -> State:
    seen = set(statuses)
    if seen & {"failed", "known_failing"}:
        return "fails"
    if seen & {"error", "not_judged"} or not seen:
        return "unknown"
    if "passed" not in seen:
        return "unsupported"
    return "holds in part" if "unsupported" in seen else "holds"


def _letter(statuses: Sequence[str]) -> str:
    """The worst status; blank where no case reported."""
    for status, letter in LETTERS.items():
        if status in statuses:
            return letter if set(statuses) == {status} else letter.lower()
    return ""
