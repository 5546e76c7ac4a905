"""A report on the terminal: a table by chapter, each case that keeps the run from being good, and
one last sentence.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from reports.check import inert, printable
from reports.measured import summary_lines
from reports.record import Report
from reports.releases import print_releases, spans_releases
from reports.scores import comparison

STYLES = {
    "passed": "green",
    "failed": "red",
    "known_failing": "yellow",
    "unsupported": "dim",
    "not_judged": "magenta",
    "error": "bold red",
}
BAD = ("failed", "error", "not_judged")  # in the order they are printed
MESSAGE_LINES = 12
LINE_WIDTH = 300
CURL_WIDTH = 4000
KNOWN_SINCE = re.compile(r"^known failing since \S+: ")


def print_summary(report: Report, console: Console | None = None) -> None:
    """Print the whole summary; its last line is `verdict_sentence(report)`."""
    console = console or Console()
    table = _table(report)
    # Narrower than its longest words it would be a table of fragments.
    if Measurement.get(console, console.options.update(width=1000), table).minimum > console.width:
        print_lines(console, _table_lines(report))
    else:
        console.print(table)
    print_lines(console, _differences(report))
    for status in BAD:
        for case in report.cases:
            if case["status"] == status:
                print_lines(console, case_lines(case, report.header["requirements"]))
    if spans_releases(report):
        print_releases(report, console)
    print_lines(
        console,
        (
            Text(f"problem: {printable(problem)}", "bold red")
            for problem in report.footer["problems"]
        ),
    )
    print_lines(console, (Text(cut(line)) for line in summary_lines(report)))
    if beside := comparison(len({case["id"] for case in report.cases})):
        print_lines(console, [Text(printable(beside), "dim")])
    good = report.footer["exit_code"] == 0
    print_lines(console, [Text(verdict_sentence(report), "bold green" if good else "bold red")])


def verdict_sentence(report: Report) -> str:
    """One sentence: how many cases on which targets, how they ended, and why the exit code is not
    0.
    """
    counts, problems, exit_code = (
        report.footer[key] for key in ("counts", "problems", "exit_code")
    )
    ends = ", ".join(f"{counts[status]} {words(status)}" for status in STYLES if counts.get(status))
    cases = "1 case" if len(report.cases) == 1 else f"{len(report.cases)} cases"
    sentence = printable(
        f"tokenwire: {cases} on {', '.join(report.header['targets'])}: {ends or 'none ran'}"
    )
    bad = [f"{counts[status]} {words(status)}" for status in BAD if counts.get(status)]
    if problems:
        bad.append(f"{len(problems)} problem{'s' * (len(problems) > 1)} of the run itself")
    if exit_code:
        sentence += f"; exit code {exit_code}" + (f" because of {' and '.join(bad)}" if bad else "")
    elif bad:
        sentence += "; exit code 0"
    return sentence


def by_chapter(report: Report) -> dict[tuple[str, ...], list[Mapping]]:
    """(chapter,), or (chapter, target) where there are several targets, to its cases; sorted."""
    several = len(report.header["targets"]) > 1
    found: dict[tuple[str, ...], list[Mapping]] = {}
    for case in report.cases:
        chapter = case["requirements"][0].partition(".")[0]
        key = (chapter, case["target"]) if several else (chapter,)
        found.setdefault(key, []).append(case)
    return dict(sorted(found.items()))


def _table(report: Report) -> Table:
    """Chapter by statuses, one row per target where there are several; statuses that never occur
    have no column.
    """
    statuses = [status for status in STYLES if report.footer["counts"].get(status)]
    several = len(report.header["targets"]) > 1
    table = Table(box=box.SIMPLE, show_footer=True, header_style="bold", footer_style="bold")
    table.add_column("chapter", "all", overflow="fold")
    if several:
        widest = max(len(target) for target in report.header["targets"])
        table.add_column("target", overflow="fold", min_width=min(widest, 24))
    table.add_column("cases", str(len(report.cases)), justify="right")
    for status in statuses:
        table.add_column(
            words(status),
            str(report.footer["counts"][status]),
            justify="right",
            style=STYLES[status],
        )
    for key, cases in by_chapter(report).items():
        counts = Counter(case["status"] for case in cases)
        names = [Text(inert(printable(name))) for name in key]
        table.add_row(
            *names, str(counts.total()), *(str(counts[status] or "") for status in statuses)
        )
    return table


def _table_lines(report: Report) -> Iterator[Text]:
    """The same as one line per chapter."""
    for key, cases in by_chapter(report).items():
        counts = Counter(case["status"] for case in cases)
        ends = (f"{counts[status]} {words(status)}" for status in STYLES if counts[status])
        total = "1 case" if len(cases) == 1 else f"{len(cases)} cases"
        yield Text(printable(f"{' on '.join(key)}: {', '.join([total, *ends])}"))


def _differences(report: Report) -> Iterator[Text]:
    """One line per rule and reason where the Rust server is known to fail what Python holds."""
    found: dict[tuple[str, str], int] = {}
    for case in report.cases:
        if case["status"] == "known_failing" and case["target"].startswith("rust@"):
            reason = case.get("message", "").partition("\n")[0]
            key = case["requirements"][0], KNOWN_SINCE.sub("", reason)
            found[key] = found.get(key, 0) + 1
    if found:
        yield Text("Rust differs from Python:", "bold")
    for (rule, reason), cases in sorted(found.items()):
        yield Text(f"  {printable(rule)} ({cases}): {cut(reason)}")


def case_lines(case: Mapping, rules: Mapping[str, Mapping]) -> Iterator[Text]:
    status = case["status"]
    yield Text()
    yield Text.assemble((words(status), STYLES[status]), " ", (printable(case["id"]), "bold"))
    message = case.get("message", "").splitlines()
    if status == "not_judged":  # the control has a block of its own
        yield Text(f"  {cut(message[0] if message else '')} (by itself: {case['observed']})")
        return
    yield from map(Text, details(case, rules))


def details(case: Mapping, rules: Mapping[str, Mapping]) -> Iterator[str]:
    """What a reader needs of a case beside its name: rules, node, message, and how to repeat it;
    printable lines.
    """
    message = case.get("message", "").splitlines()
    for id in case["requirements"]:
        text = rules[id]["text"] if id in rules else "(no longer a rule)"
        yield f"  rule    {printable(id)}: {printable(text)}"
    node = printable(case["node"] or "none")
    yield f"  node    {node} ({printable(case['target'])}, engine {case['engine']})"
    for line in message[:MESSAGE_LINES]:
        yield f"  {cut(line)}".rstrip()
    if len(message) > MESSAGE_LINES:
        yield f"  … {len(message) - MESSAGE_LINES} more lines in the report"
    if case["exchanges"]:
        curl = printable(case["exchanges"][-1]["curl"])
        yield (
            f"  {curl}"
            if len(curl) <= CURL_WIDTH
            else f"  curl    {len(curl)} characters long: it stands in the report"
        )
    if "replay" in case:
        yield f"  {printable(case['replay'])}"


def print_lines(console: Console, lines: Iterator[Text] | list[Text]) -> None:
    for line in lines:
        # what the console's encoding cannot hold is escaped, and no line is wrapped: it can be
        # copied and run
        plain = inert(line.plain).encode(console.encoding, "backslashreplace")
        line.plain = plain.decode(console.encoding)
        console.print(line, soft_wrap=True)


def cut(line: str) -> str:
    line = printable(line.expandtabs())
    return line if len(line) <= LINE_WIDTH else line[: LINE_WIDTH - 1] + "…"


def words(status: str) -> str:
    """A status as it is said."""
    return status.replace("_", " ")
