"""Reports of one run that was split over machines, as the report of the whole.

A shard has judged its cases without the controls of the others, so every case is resolved anew: the
merged report says what one run of all cases would have said. Nothing is guessed: shards that do not
belong together are refused.

Which cases another shard would have had no report tells: that none is missing is known where their
number is given, or where every rule must have a case.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError
from pathlib import Path

from reports import resolve
from reports.check import ReportProblem, short
from reports.known import KnownFailing
from reports.place import not_over
from reports.record import Report, Writer, read
from reports.resolve import Judged
from reports.rules import Catalogue

ALIKE = {"targets": "other targets", "requirements": "other requirements", "seed": "another seed"}
# Its cells are the product of releases, and what is expected of them stands in no report.
UPGRADE = "upgrade"


def merge(
    files: Sequence[Path],
    out: Path,
    *,
    shards: int | None = None,
    complete: bool = False,
    entries: Sequence[KnownFailing] = (),
) -> Report:
    """Write the report of all `files` to `out` and return it; its cases are in the files' order.

    `shards`: how many there must be. `complete`: the whole suite ran, so that every rule must have a
    case on every target, and an entry of the list of known failures must match one.

    Raises ReportProblem, and leaves no file at `out`, where a shard is no whole report, where two do
    not belong together or contradict each other, and where one is missing.
    """
    not_over(out, *files)
    _remove(out)
    parts = _parts(files)
    if shards is not None and len(parts) != shards:
        raise ReportProblem(f"{len(parts)} reports were given, and there are {shards} shards.")
    header = _header(parts)
    lines = _cases(parts)
    rules = Catalogue.from_described(header["requirements"])
    if complete:
        _every_rule(lines, rules, header["targets"])
    lost = sum(max(part.footer["planned"] - len(part.cases), 0) for part in parts.values())
    try:
        cases, problems = _resolved(lines, rules, entries, complete=complete and not lost)
    except CycleError:
        raise ReportProblem(f"{files[0]}: the rules of its header need each other.") from None
    problems = list(dict.fromkeys([*_problems(parts), *problems]))
    writer = Writer(out, header)
    try:
        for line in lines:
            writer.case(line)
        writer.finish(
            [case.line() for case in cases],
            planned=len(lines) + lost,
            exit_code=_exit_code(parts.values(), cases, problems),
            problems=problems,
        )
    except ReportProblem:
        writer.close()
        _remove(out)
        raise
    return read(out)


def _remove(out: Path) -> None:
    """An older report must not pass for this one where the merge is refused."""
    if out.exists() and not out.is_file():  # a device, which a super-user could remove
        raise ReportProblem(f"{out}: it cannot be replaced: it is no file.")
    try:
        out.unlink(missing_ok=True)
    except OSError as error:
        raise ReportProblem(f"{out}: it cannot be replaced: {error.strerror}.") from None


def _parts(files: Sequence[Path]) -> dict[Path, Report]:
    parts: dict[Path, Report] = {}
    for file in files:
        report = read(file)
        if twin := next((other for other in parts if report == parts[other]), None):
            raise ReportProblem(f"{file}: it is the same report as {twin}.")
        parts[file] = report
    return parts


def _header(parts: Mapping[Path, Report]) -> dict:
    """The header of all; what differs between machines, not between releases, is joined."""
    headers = [part.header for part in parts.values()]
    first_file, first = next(iter(parts)), headers[0]
    for file, part in parts.items():
        pairs = {what: (part.header[key], first[key]) for key, what in ALIKE.items()}
        pairs["other releases"] = _installed(part.header), _installed(first)
        for what, (here, there) in pairs.items():
            if here != there:
                raise ReportProblem(
                    f"{file}: it has {what} than {first_file}{_where(here, there)}: "
                    "these are no shards of one run."
                )
    return first | {
        "started": min(header["started"] for header in headers),
        "command": ["python", "-m", "reports", "merge", *map(str, parts)],
        "releases": {
            name: release
            | {"obtained": _joined(header["releases"][name]["obtained"] for header in headers)}
            for name, release in first["releases"].items()
        },
        "engines": sorted({engine for header in headers for engine in header["engines"]}),
        "python": _joined(header["python"] for header in headers),
        "platform": _joined(header["platform"] for header in headers),
    }


def _where(one: object, other: object) -> str:
    """Of two mappings the first key in which they differ, to be said in a sentence."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return ""
    different = (key for key in {**one, **other} if one.get(key) != other.get(key))
    return f" ({short(next(different))})"


def _installed(header: Mapping) -> dict[str, tuple]:
    return {
        name: (release["version"], release["packages"])
        for name, release in header["releases"].items()
    }


def _joined(words: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(words))


def _cases(parts: Mapping[Path, Report]) -> list[dict]:
    """Every case once; one that several shards have must have the same verdict in all of them."""
    found: dict[tuple[str, str], tuple[Path, dict, Judged]] = {}
    for file, part in parts.items():
        for line in part.cases:
            case = resolve.by_itself(Judged.from_line(line))
            there, _, other = found.setdefault((case.case, case.target), (file, line, case))
            said = [(one.requirements, one.status, one.observed) for one in (other, case)]
            if said[0] != said[1]:
                raise ReportProblem(
                    f"{there} and {file} contradict each other: {short(case.case)} on "
                    f"{short(case.target)} is {other.status} and {case.status}"
                    + ("." if said[0][0] == said[1][0] else ", and judges other rules.")
                )
    return [line for _, line, _ in found.values()]


def _every_rule(lines: Sequence[Mapping], rules: Catalogue, targets: Sequence[str]) -> None:
    judged = {(rule, line["target"]) for line in lines for rule in line["requirements"]}
    if mixed := next((id for id, _ in judged if rules[id].chapter == UPGRADE), None):
        raise ReportProblem(
            f"--complete: whether the upgrade matrix is whole no report tells, and one judges {mixed}."
        )
    missing = [
        f"{id} on {target}"
        for target in targets
        for id, rule in rules.items()
        if rule.chapter != UPGRADE and (id, target) not in judged
    ]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise ReportProblem(
            f"--complete: no case judges {', '.join(map(short, missing[:3]))}{more}: "
            "a shard is missing, or its run lost cases."
        )


def _resolved(
    lines: Sequence[Mapping],
    rules: Catalogue,
    entries: Sequence[KnownFailing],
    *,
    complete: bool,
) -> tuple[list[Judged], list[str]]:
    """Final verdicts in the order of `lines`, and the problems of the whole."""
    by_target: dict[str, list[Judged]] = {}
    for line in lines:
        case = resolve.by_itself(Judged.from_line(line))
        by_target.setdefault(case.target, []).append(case)
    results = [
        resolve.resolve(
            cases, rules, entries, planned={case.case for case in cases}, complete=complete
        )
        for cases in by_target.values()
    ]
    final = {(case.case, case.target): case for result in results for case in result.cases}
    problems = [problem for result in results for problem in result.problems]
    return [final[line["id"], line["target"]] for line in lines], problems


def _problems(parts: Mapping[Path, Report]) -> list[str]:
    problems = []
    for file, part in parts.items():
        footer = part.footer
        problems += footer["problems"]
        good = footer["counts"].keys() <= resolve.GOOD
        if footer["exit_code"] and good and not footer["problems"]:
            problems.append(f"{file}: exit code {footer['exit_code']}, and it does not say why.")
        if len(part.cases) < footer["planned"] and not footer["problems"]:
            problems.append(f"{file}: not all {footer['planned']} planned cases reported.")
    return problems


def _exit_code(parts: Iterable[Report], cases: Iterable[Judged], problems: Sequence[str]) -> int:
    """As of one run: pytest's own reasons to end come before the verdicts."""
    own = (code for part in parts if (code := part.footer["exit_code"]) not in (0, 1))
    return max(next(own, 0), 0) or resolve.exit_code((case.status for case in cases), problems)
