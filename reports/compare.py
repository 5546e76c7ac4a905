"""Two reports side by side: what got worse, what got better, and what can no longer be said.

The old report is what a team runs today, the new one what it would run tomorrow. A case is compared
with itself by its id. Worse is what held, or could at least be judged, and does so no more; a smaller
denominator is no better result.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from reports import known
from reports.check import ReportProblem
from reports.known import KnownFailing
from reports.record import Report
from reports.shapes import Move, moves, readers
from reports.summary import BAD, case_lines, cut, print_lines, printable, words

FAILS = frozenset({"failed", "known_failing", "not_judged", "error"})
NEWLY_FAILING = "newly failing"
NEWLY_UNSUPPORTED = "newly unsupported"
VANISHED = "vanished"
NEW_FAILING = "new and failing"
STILL_FAILING = "still failing"
FIXED = "fixed"
NEWLY_SUPPORTED = "newly supported"
NEW = "new"
SAME = "same"
# In the order they are printed; the first three are worse unless they are waived.
KINDS = (
    NEWLY_FAILING,
    NEWLY_UNSUPPORTED,
    VANISHED,
    NEW_FAILING,
    STILL_FAILING,
    FIXED,
    NEWLY_SUPPORTED,
    NEW,
    SAME,
)
# What was bad of these is what the old side did.
TOLD_BY_OLD = frozenset({FIXED, NEWLY_SUPPORTED})
STYLES = {NEWLY_FAILING: "bold red", NEWLY_UNSUPPORTED: "red", VANISHED: "red", FIXED: "green"}

# What an entry of the list of known failures has to accept for a change to be waived.
ACCEPTS = {
    NEWLY_FAILING: known.FAILING,
    NEWLY_UNSUPPORTED: known.UNSUPPORTED,
    VANISHED: known.VANISHED,
}


@dataclass(frozen=True)
class Change:
    """One case on both sides; `old` or `new` is None where that side has no such case."""

    kind: str
    old: Mapping | None
    new: Mapping | None
    waived: str = ""

    @property
    def case(self) -> Mapping:
        """The case as the newer side that has it tells it."""
        return self.new or self.old

    @property
    def is_worse(self) -> bool:
        """Whether it speaks against the new side."""
        return self.kind in ACCEPTS and not self.waived


@dataclass(frozen=True)
class Comparison:
    """Every case of both sides, and what is wrong with the new run itself."""

    old: str
    new: str
    changes: tuple[Change, ...]
    problems: tuple[str, ...]
    moves: tuple[Move, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 for what is worse and not waived, and for a new run that did not come to its end."""
        return int(bool(self.problems) or any(change.is_worse for change in self.changes))

    def of(self, kind: str) -> list[Change]:
        """The changes of one kind, in the order of the new report."""
        return [change for change in self.changes if change.kind == kind]


def compare(old: Report, new: Report, entries: Sequence[KnownFailing]) -> Comparison:
    """Compare every case by its id; `entries` waive what they accept.

    Raises ReportProblem where one of the reports is of several targets, or has no case.
    """
    targets = [target_of(report) for report in (old, new)]
    before = {case["id"]: case for case in old.cases}
    after = {case["id"]: case for case in new.cases}
    entries = [entry for entry in entries if entry.covers(targets[1])]
    changes = []
    for id in [*after, *(id for id in before if id not in after)]:
        here, there = before.get(id), after.get(id)
        kind = _kind(here and here["status"], there and there["status"])
        why = ""
        # The run itself judged by the list already, or by what later releases hold.
        if kind == NEWLY_FAILING and there["status"] == "known_failing":
            why = there.get("message", "").partition("\n")[0] or words("known_failing")
        elif entry := _waiver(kind, id, targets[1], (there or here)["requirements"], entries):
            why = f"{entry.reason} ({entry.reference})"
        changes.append(Change(kind, here, there, why))
    problems = [f"{targets[0]}, the old side: {problem}" for problem in old.footer["problems"]]
    problems += new.footer["problems"]
    if broken := sum(case["status"] == "error" for case in new.cases):
        problems.append(f"{broken} case{'s' * (broken > 1)} of {targets[1]} ended as error.")
    if (
        (code := new.footer["exit_code"])
        and not problems
        and not FAILS & new.footer["counts"].keys()
    ):
        problems.append(f"the run of {targets[1]} ended with {code}, and does not say why.")
    problems += _stale(entries, targets[1], changes)
    return Comparison(*targets, tuple(changes), tuple(problems), tuple(moves(old, new)))


def _stale(
    entries: Sequence[KnownFailing], target: str, changes: Sequence[Change]
) -> Iterator[str]:
    """One sentence for each entry that accepts a loss of cases of which none is lost.

    An entry of cases that neither side has says nothing: the run may be of other chapters.
    """
    for entry in entries:
        if entry.accepts == known.FAILING:
            continue
        there = [
            change.new
            for change in changes
            if entry.matches(target, change.case["id"], change.case["requirements"])
        ]
        lost = [new is None or new["status"] == "unsupported" for new in there]
        if there and not any(lost):
            yield (
                f"the list accepts that {entry.cases} is {entry.accepts} on {entry.target}, but "
                "none of it is: mend or remove the entry."
            )


def _waiver(
    kind: str, id: str, target: str, rules: Sequence[str], entries: Sequence[KnownFailing]
) -> KnownFailing | None:
    return next(
        (
            entry
            for entry in entries
            if entry.accepts == ACCEPTS.get(kind) and entry.matches(target, id, rules)
        ),
        None,
    )


def target_of(report: Report) -> str:
    """The one target of a report; raises ReportProblem where it cannot be compared."""
    targets = report.header["targets"]
    if len(targets) != 1:
        raise ReportProblem(
            f"the report is of {', '.join(targets)}: only a report of one target can be compared."
        )
    if not report.cases:
        raise ReportProblem(f"{targets[0]}: the report has no case to compare.")
    return targets[0]


def _kind(old: str | None, new: str | None) -> str:
    if new is None:
        return VANISHED
    if old is None:
        return NEW_FAILING if new in FAILS else NEW
    if new == "unsupported":
        return SAME if old == "unsupported" else NEWLY_UNSUPPORTED
    if new in FAILS:
        # Of a case that the harness broke it is not known whether it was as bad.
        was_as_bad = old in FAILS and (old != "error" or new == "error")
        return STILL_FAILING if was_as_bad else NEWLY_FAILING
    if old == "unsupported":
        return NEWLY_SUPPORTED
    return FIXED if old in FAILS else SAME


def bad_cases(
    report: Report, comparison: Comparison | None = None
) -> Iterator[tuple[str, Mapping]]:
    """What speaks against `report`, the worst first: what to call it, and the case. With a
    comparison that is what got worse, or is an error.
    """
    if comparison is None:
        for status in BAD:
            yield from ((words(status), case) for case in report.cases if case["status"] == status)
        return
    worse = [change for change in comparison.changes if change.is_worse]
    for kind in KINDS:
        yield from ((kind, change.case) for change in worse if change.kind == kind)
    told = {change.case["id"] for change in worse}
    for case in report.cases:
        if case["status"] == "error" and case["id"] not in told:
            yield words("error"), case


def print_comparison(
    comparison: Comparison, rules: Mapping, console: Console | None = None
) -> None:
    """Print what changed, the worst first and in full, and one last sentence."""
    console = console or Console()
    for kind in (NEWLY_FAILING, NEWLY_UNSUPPORTED, VANISHED):
        changes = [change for change in comparison.of(kind) if not change.waived]
        for change in changes:
            print_lines(console, _in_full(change, rules))
    for kind in KINDS[:-1]:
        for line in _in_short(comparison, kind):
            print_lines(console, [line])
    if comparison.moves:
        print_lines(console, [Text(), Text("the wire's shape", "bold")])
        print_lines(console, (Text(cut(f"  {move}")) for move in comparison.moves))
        print_lines(console, (Text(f"  {line}") for line in readers(comparison.moves)))
    print_lines(
        console,
        (Text(f"problem: {printable(problem)}", "bold red") for problem in comparison.problems),
    )
    style = "bold red" if comparison.exit_code else "bold green"
    print_lines(console, [Text(sentence(comparison), style)])


def _in_full(change: Change, rules: Mapping) -> Iterator[Text]:
    yield Text()
    yield Text.assemble(
        (f"{change.kind}: ", STYLES[change.kind]), (printable(change.case["id"]), "bold")
    )
    yield from case_lines(change.case, rules)


def _in_short(comparison: Comparison, kind: str) -> Iterator[Text]:
    """A rule at a time, for a bump that breaks a rule often breaks many cases of it; what moved has
    the first case as evidence.
    """
    by_rule: dict[tuple[str, str], list[Change]] = {}
    for change in comparison.of(kind):
        by_rule.setdefault((change.case["requirements"][0], change.waived), []).append(change)
    if by_rule:
        yield Text()
        yield Text(kind, STYLES.get(kind, "bold"))
    for (rule, waived), changes in sorted(by_rule.items()):
        why = f", waived: {waived}" if waived else ""
        yield Text(cut(f"  {rule} ({len(changes)}){why}"))
        if kind in TOLD_BY_OLD or kind in ACCEPTS:
            yield from (Text(cut(f"    {line}"), "dim") for line in _evidence(changes[0]))


def _evidence(change: Change) -> Iterator[str]:
    """Which case it was, and what the side that fails, or cannot, said of it."""
    yield change.case["id"]
    case = change.old if change.kind in TOLD_BY_OLD else change.new
    lines = (case or {}).get("message", "").splitlines()
    # The first line of a known failure is the list's.
    if case and case["status"] == "known_failing" and len(lines) > 1:
        lines = lines[1:]
    if lines:
        yield f"{case['target']}: {lines[0]}"


def sentence(comparison: Comparison) -> str:
    """The comparison in one sentence."""
    told = []
    for kind in KINDS:
        changes = comparison.of(kind)
        waived = sum(bool(change.waived) for change in changes)
        if changes:
            told.append(f"{len(changes)} {kind}" + (f" ({waived} waived)" if waived else ""))
    verdict = "nothing got worse" if not comparison.exit_code else "it got worse"
    sides = printable(f"{comparison.new} against {comparison.old}")
    return f"tokenwire: {sides}: {', '.join(told)}: {verdict}"
