"""A report as Markdown for a comment on a pull request: two lines where all is well, else what is wrong.

What a server sent stands in code alone, where GitHub and others act on nothing: no HTML, no mention, no
link, no reference.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from reports.compare import KINDS, Comparison, bad_cases
from reports.record import Report
from reports.shapes import readers
from reports.summary import STYLES, by_chapter, cut, details, printable, words

LONGEST = 60_000  # characters; GitHub refuses a comment of more than 65,536
LONGEST_BLOCK = 8_000
MOST_ROWS = 100
MOST_LINES = 50


def document(report: Report, comparison: Comparison | None = None) -> str:
    """The whole text; `comparison`: that of `report` with an older one, whose verdict it then tells."""
    head = "\n".join(_head(report, comparison)) + "\n"
    tail = "".join(_folded(*block) for block in _blocks(report, comparison))
    room = LONGEST - len(head) - len(tail) - 200
    told, left_out = [], 0
    for count, block in _wrong(report, comparison):
        if len(block) > room or left_out:
            left_out += count
        else:
            told.append(block)
            room -= len(block)
    if left_out:
        told.append(f"\n{left_out:,} more cases are left out here: they stand in the report.\n")
    return head + "".join(told) + tail


def _head(report: Report, comparison: Comparison | None) -> Iterator[str]:
    footer = report.footer
    good = not (comparison.exit_code if comparison else footer["exit_code"])
    targets = ", ".join(code(target) for target in report.header["targets"][:MOST_LINES])
    ends = ", ".join(
        f"{footer['counts'][status]:,} {words(status)}"
        for status in STYLES
        if footer["counts"].get(status)
    )
    if comparison:
        verdict = "nothing got worse" if good else "it got worse"
    else:
        verdict = "good" if good else f"exit code {footer['exit_code']}"
    yield f"**tokenwire: {verdict}**"
    yield ""
    yield f"{len(report.cases):,} cases on {targets}: {ends or 'none ran'}."
    if comparison:
        kinds = Counter(change.kind for change in comparison.changes)
        waived = Counter(change.kind for change in comparison.changes if change.waived)
        told = ", ".join(
            f"{kinds[kind]:,} {kind}" + (f" ({waived[kind]:,} waived)" if waived[kind] else "")
            for kind in KINDS
            if kinds[kind]
        )
        yield f"Against {code(comparison.old)}: {told}."


def _wrong(report: Report, comparison: Comparison | None) -> Iterator[tuple[int, str]]:
    """How many cases, and their block: one for the run's own problems, and one per rule that does not
    hold, with its first case.
    """
    rules = report.header["requirements"]
    problems = comparison.problems if comparison else report.footer["problems"]
    if problems:
        told = [cut(problem) for problem in problems[:MOST_LINES]]
        if len(problems) > MOST_LINES:
            told.append(f"… {len(problems) - MOST_LINES} more in the report")
        yield 1, f"\n**problems of the run itself**\n\n{fence(told)}"
    by_rule: dict[tuple[str, str], list[Mapping]] = {}
    for what, case in bad_cases(report, comparison):
        by_rule.setdefault((what, case["requirements"][0]), []).append(case)
    for (what, _), cases in by_rule.items():
        more = f", and {len(cases) - 1:,} more of its rule" if len(cases) > 1 else ""
        yield (
            len(cases),
            f"\n**{what}** {code(cases[0]['id'])}{more}\n\n{fence(details(cases[0], rules))}",
        )


def _blocks(report: Report, comparison: Comparison | None) -> Iterator[tuple[str, str]]:
    """Title and content of each part that is folded away."""
    if comparison and comparison.moves:
        moves = [cut(str(move)) for move in comparison.moves[:MOST_ROWS]]
        if len(comparison.moves) > MOST_ROWS:
            moves.append(f"… {len(comparison.moves) - MOST_ROWS} more")
        yield (
            "the wire's shape",
            fence([*moves, "", *readers(comparison.moves)], 2 * LONGEST_BLOCK),
        )
    yield "by chapter", "\n".join(_table(report)) + "\n"


def _folded(title: str, content: str) -> str:
    """`content` under a title of our own."""
    return f"\n<details>\n<summary>{title}</summary>\n\n{content}\n</details>\n"


def _table(report: Report) -> Iterator[str]:
    statuses = [status for status in STYLES if report.footer["counts"].get(status)]
    yield f"| chapter | cases |{''.join(f' {words(status)} |' for status in statuses)}"
    yield f"|---|---:|{'---:|' * len(statuses)}"
    rows = list(by_chapter(report).items())
    for key, cases in rows[:MOST_ROWS]:
        counts = Counter(case["status"] for case in cases)
        cells = [_cell(" on ".join(key)), len(cases), *(counts[s] or "" for s in statuses)]
        yield f"| {' | '.join(map(str, cells))} |"
    if len(rows) > MOST_ROWS:
        yield f"\n{len(rows) - MOST_ROWS} more rows stand in the report."


def _cell(text: str) -> str:
    """`text` as code in a table, which a bar would end and a backslash could keep open."""
    return code(re.sub(r"[|\\]", "?", printable(text)[:100]))


def code(text: str) -> str:
    """`text` as code within a line: nothing in it can end the code."""
    shown = cut(text) or " "
    ticks = "`" * (_longest_run(shown) + 1)
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def fence(lines: Iterable[str], longest: int = LONGEST_BLOCK) -> str:
    """`lines`, which must be printable, as a block of code: nothing in them can end it."""
    text = "\n".join(line.removeprefix("  ") for line in lines)
    if len(text) > longest:
        text = text[:longest] + "\n… cut here"
    ticks = "`" * max(3, _longest_run(text) + 1)
    return f"{ticks}\n{text}\n{ticks}\n"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
