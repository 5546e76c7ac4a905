"""The upgrade matrix of a report: a grid a plane, a line a rule, and where EVOLUTION is contradicted.

A cell that several exchanges met shows the worst of them. A cell of three roles stands in the plane
of its first and its last.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from packaging.version import InvalidVersion, Version
from rich.console import Console
from rich.text import Text

from reports.check import printable
from reports.record import Report
from reports.summary import print_lines

ROLES = ("render", "generate", "derender", "successor")
# Outcome: letter and style, from the best to the worst.
LETTERS = {
    "interoperates": (".", "green"),
    "refuses_cleanly": ("r", "cyan"),
    "degrades": ("d", "yellow"),
    "breaks": ("B", "red"),
    "unexpected": ("!", "bold red"),
    "error": ("E", "bold red"),
}
ORDER = tuple(LETTERS)


def print_grids(
    report: Report, exchange: str | None = None, console: Console | None = None
) -> None:
    """Print every plane; of one exchange alone, or of all with the rules that judged them.

    `exchange` is a name with its parameters, `max_tokens[16]`, or without them for all of these.
    Raises ValueError where the report has no such cell.
    """
    console = console or Console()
    cases = [
        case
        for case in report.cases
        if "cell" in case and exchange in (None, *names(case["cell"]["exchange"]))
    ]
    if not cases:
        raise ValueError(f"no cell of the upgrade matrix{f' for {exchange}' if exchange else ''}")
    for axes, cells in planes(cases).items():
        console.print(Text("\n{} (rows) and {} (columns)".format(*axes), "bold"))
        print_lines(console, grid(cells))
    key = ", ".join(f"{letter} {word.replace('_', ' ')}" for word, (letter, _) in LETTERS.items())
    console.print(f"\n{key}", soft_wrap=True)
    lines = [*rule_lines(cases), *contradictions(cases)]
    print_lines(console, [Text(printable(line)) for line in lines])


def names(exchange: str) -> tuple[str, str]:
    """The exchange's name with its parameters and without them."""
    return exchange, exchange.partition("[")[0]


def state(case: Mapping) -> str:
    """What a case adds to its cell: a key of LETTERS."""
    if case["status"] == "passed":
        return case["cell"]["outcome"]
    return "unexpected" if case["status"] == "failed" else "error"


def planes(cases: Sequence[Mapping]) -> dict[tuple[str, str], dict[tuple[str, str], str]]:
    """Axes to cells: (first target, last target) to the worst state."""
    found: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for case in cases:
        cell = case["cell"]
        roles = [role for role in ROLES if role in cell]
        axes = roles[0], roles[-1]
        plane = found.setdefault(axes, {})
        place = cell[axes[0]], cell[axes[1]]
        plane[place] = max(plane.get(place, ORDER[0]), state(case), key=ORDER.index)
    return dict(sorted(found.items(), key=lambda item: [ROLES.index(role) for role in item[0]]))


def grid(cells: Mapping[tuple[str, str], str]) -> Iterator[Text]:
    """The lines of one plane: rows of the first role, columns of the second."""
    rows, columns = (sorted({place[axis] for place in cells}, key=order) for axis in (0, 1))
    labels = [printable(short(column)) for column in columns]
    width = max(len(printable(row)) for row in rows)
    yield Text(" " * width + "".join(f" {label:>2}" for label in labels))
    for row in rows:
        line = Text(f"{printable(row):>{width}}")
        for column, label in zip(columns, labels, strict=True):
            letter, style = LETTERS[cells[row, column]] if (row, column) in cells else (" ", "")
            line.append(f" {letter:>{max(2, len(label))}}", style)
        yield line


def rule_lines(cases: Sequence[Mapping]) -> Iterator[str]:
    """One line a rule, in the order of the cases: how many it covered, and why."""
    counts = Counter(case["cell"].get("rule", "(no rule)") for case in cases)
    cells = {case["cell"].get("rule", "(no rule)"): case["cell"] for case in cases}
    yield ""
    for rule, count in counts.items():
        cell = cells[rule]
        why = f"{cell.get('reason', '')} ({cell.get('reference', '')})"
        yield f"{count:5}  {cell.get('expected', 'error'):15}  {rule}: {why}"


def contradictions(cases: Sequence[Mapping]) -> Iterator[str]:
    """One line for each prediction that the cells' rule contradicts."""
    found = {case["cell"]["rule"]: case["cell"] for case in cases if "contradicts" in case["cell"]}
    if found:
        yield ""
        yield "predictions that the nodes contradict:"
    for rule, cell in found.items():
        yield f"  {rule}: {cell['contradicts']}; but it {cell['expected'].replace('_', ' ')}"


def _release(target: str) -> tuple[str, str]:
    implementation, _, release = target.rpartition("@")
    return implementation, release


def order(target: str) -> tuple:
    """A key that sorts targets by implementation and release."""
    implementation, release = _release(target)
    try:
        return implementation, 0, Version(release), release
    except InvalidVersion:
        return implementation, 1, release, release


def short(target: str) -> str:
    """The minor number of a release 0.N.P, by which vLLM's releases are told apart."""
    implementation, release = _release(target)
    parts = release.split(".")
    minor = parts[1] if len(parts) == 3 and parts[0] == "0" else release
    return minor if implementation == "stock" else f"{implementation}@{minor}"
