"""From the verdicts on single cases to that on a run: controls that did not hold, and the exit code.

Pure functions; a run resolves its cases by them, and so does a merge of reports.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from packaging.version import InvalidVersion

from reports.known import FAILING, KnownFailing
from reports.rules import Catalogue, Requirement

PASSED = "passed"
FAILED = "failed"  # the node is wrong
KNOWN_FAILING = "known_failing"  # the node is wrong, and the list says so
UNSUPPORTED = "unsupported"  # probed and absent
NOT_JUDGED = "not_judged"  # a control did not hold
ERROR = "error"  # the harness, the set-up, a lost worker
STATUSES = (PASSED, FAILED, KNOWN_FAILING, UNSUPPORTED, NOT_JUDGED, ERROR)
OUTCOMES = (PASSED, FAILED, UNSUPPORTED, ERROR)  # what a case can do by itself
GOOD = frozenset({PASSED, KNOWN_FAILING, UNSUPPORTED})  # the statuses that leave the exit code 0

# How the message of a known failure begins; a case's own begins with the name of an exception.
LISTED = "known failing since"
LATER = "stock vLLM holds"


@dataclass(frozen=True)
class Judged:
    """One case's verdict on one target. `observed`: what the case itself did, one of OUTCOMES."""

    case: str
    target: str
    requirements: tuple[str, ...]
    status: str
    observed: str
    message: str = ""

    @classmethod
    def from_line(cls, line: Mapping) -> Self:
        """The verdict that `line` was made from."""
        observed = line.get("observed", line["status"])
        requirements = tuple(line["requirements"])
        message = line.get("message", "")
        return cls(line["id"], line["target"], requirements, line["status"], observed, message)

    def line(self) -> dict:
        """The part of a report's case line that a verdict decides; `observed` stands there where it
        is not the status.
        """
        line = {
            "id": self.case,
            "target": self.target,
            "requirements": list(self.requirements),
            "status": self.status,
        }
        if self.observed != self.status:
            line["observed"] = self.observed
        if self.message:
            line["message"] = self.message
        return line


@dataclass(frozen=True)
class Verdict:
    """A whole run: every case with its final status, one sentence per problem of the run itself,
    and the exit code.
    """

    cases: tuple[Judged, ...]
    problems: tuple[str, ...]
    exit_code: int


def resolve(
    cases: Sequence[Judged],
    catalogue: Catalogue,
    entries: Sequence[KnownFailing],
    *,
    planned: Collection[str],
    complete: bool,
) -> Verdict:
    """The verdict on a whole run: judged cases in, final statuses out.

    `planned`: the ids of all cases the run set out to do. `complete`: the whole suite was planned,
    so that an entry of the known failures which matches nothing is stale, and a rule that holds on
    an older release than its `since` has a wrong one.
    """
    problems = _accounts(cases, planned)
    resolved = tuple(_after_controls(cases, catalogue))
    if complete and set(planned) <= {case.case for case in cases}:
        problems += _stale(cases, entries) + _too_late(resolved, catalogue)
    return Verdict(
        resolved, tuple(problems), exit_code((case.status for case in resolved), problems)
    )


def exit_code(statuses: Iterable[str], problems: Sequence[str] = ()) -> int:
    """0 when there is no problem, at least one case, and every status is a good one; else 1."""
    seen = set(statuses)
    return 0 if seen and seen <= GOOD and not problems else 1


def by_itself(case: Judged) -> Judged:
    """The verdict on `case` before controls left it unjudged: what `resolve` was given."""
    if case.status != NOT_JUDGED:
        return case
    status, message = case.observed, case.message.partition("\n")[2]
    if status == FAILED and message.startswith((LISTED, LATER)):
        status = KNOWN_FAILING
    elif status == PASSED and message:  # it is listed as failing
        status = FAILED
    return replace(case, status=status, message=message)


def _after_controls(cases: Sequence[Judged], catalogue: Catalogue) -> Iterator[Judged]:
    by_control: dict[tuple[str, str], list[Judged]] = {}
    for case in cases:
        for requirement in case.requirements:
            by_control.setdefault((case.target, requirement), []).append(case)
    broken = {key: culprit for key, judged in by_control.items() if (culprit := _culprit(judged))}
    for case in cases:
        # A case that judges its own control too is not excused by it.
        needed = {need for id in case.requirements for need in catalogue.needed(id)}
        culprits = [
            (need, culprit)
            for need in sorted(needed.difference(case.requirements))
            if (culprit := broken.get((case.target, need)))
            # Before stock vLLM began to hold a control, what passes without it has passed.
            and not (culprit.status == KNOWN_FAILING and held_later(case.target, catalogue, need))
        ]
        hard = [pair for pair in culprits if pair[1].status != KNOWN_FAILING]
        # Where the control fails as listed, a case that fails as listed, lacks support or broke
        # still says what it says.
        if hard or (culprits and case.status in (PASSED, FAILED)):
            need, culprit = (hard or culprits)[0]
            reason = f"needs {need}, which is {culprit.status} in {culprit.case}"
            message = f"{reason}\n{case.message}".rstrip()
            yield replace(case, status=NOT_JUDGED, message=message)
        else:
            yield case


def _culprit(judged: Sequence[Judged]) -> Judged | None:
    """The case for which a control does not hold: one that failed or broke, or a known failure
    where none passed.
    """
    # What passed although it is listed as failing is a fault of the list: the control itself held.
    first = {case.status: case for case in reversed(judged) if case.observed != PASSED}
    if any(case.observed == PASSED for case in judged):
        first.pop(KNOWN_FAILING, None)
    return first.get(FAILED) or first.get(ERROR) or first.get(KNOWN_FAILING)


def _accounts(cases: Sequence[Judged], planned: Collection[str]) -> list[str]:
    problems = []
    reported = Counter(case.case for case in cases)
    if not cases:
        problems.append("not one case was reported: a run without a case proves nothing.")
    for ids, what in (
        (sorted(set(planned) - set(reported)), "planned but never reported"),
        (sorted(set(reported) - set(planned)), "reported but never planned"),
        (sorted(id for id, count in reported.items() if count > 1), "reported more than once"),
    ):
        if ids:
            more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
            problems.append(f"{what}: {', '.join(ids[:3])}{more}.")
    return problems


def _stale(cases: Sequence[Judged], entries: Iterable[KnownFailing]) -> list[str]:
    targets = sorted({case.target for case in cases})
    return [
        f"known failing {entry.requirement} on {entry.target} matches no case on {target} "
        f"({entry.cases}): mend or remove the entry."
        for entry in entries
        for target in targets
        if entry.accepts == FAILING
        and entry.covers(target)
        and not any(
            entry.matches(target, case.case, case.requirements)
            for case in cases
            if case.target == target
        )
    ]


def held_later(target: str, catalogue: Catalogue, *ids: str) -> Requirement | None:
    """The first of the rules `ids` that stock vLLM began to hold only after `target`'s release; None
    for any implementation but stock vLLM and the reference.
    """
    implementation, _, release = target.rpartition("@")
    if implementation not in ("stock", "reference"):
        return None
    # What a mix is expected to do stands in a table of its own.
    rules = (catalogue[id] for id in ids if id in catalogue and catalogue[id].chapter != "upgrade")
    try:
        return next((rule for rule in rules if rule.began_after(release)), None)
    except InvalidVersion:
        return None  # a mix of releases, or one without a number, is older than none


def _too_late(cases: Iterable[Judged], catalogue: Catalogue) -> list[str]:
    """One sentence for each rule whose every case passed on stock vLLM of a release older than its
    `since`, on which all held that it needs. The reference may be ahead of its release.
    """
    statuses: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        for id in case.requirements:
            statuses.setdefault((case.target, id), set()).add(case.status)
    return [
        f"since of {id} is too late: it holds on {target.rpartition('@')[2]}."
        for (target, id), seen in sorted(statuses.items())
        if seen == {PASSED}
        and target.startswith("stock@")
        and held_later(target, catalogue, id)
        and not held_later(target, catalogue, *catalogue.needed(id))
    ]
