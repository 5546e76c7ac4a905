"""The scores on the terminal: by chapter how many rules a lie guards, what no lie guards, the lies that
survived, and what servers that do nothing pass.
"""

import shlex
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.check import ReportProblem
from reports.scores import ALLOWED, Scores, in_words, percent
from reports.summary import cut, print_lines, printable, words

ENDS = ("passed", "failed", "not_judged", "unsupported", "known_failing", "error")


def print_scores(
    scores: Scores,
    *,
    rule: str | None = None,
    verbose: bool = False,
    older: str | None = None,
    console: Console | None = None,
) -> int:
    """Print all of it, or what guards `rule` alone; return the exit code.

    `verbose`: also which lies guard each rule of level must. `older`: a sentence on how the checkout
    differs. Raises ReportProblem where there is no such rule.
    """
    console = console or Console()
    if rule is not None:
        if rule not in {**scores.document["rules"], **scores.guards}:
            raise ReportProblem(f"There is no rule {printable(rule)} in the scores.")
        print_lines(console, list(guard_lines(scores, rule)))
    else:
        print_chapters(scores, console)
        if verbose:
            for must in scores.musts:
                print_lines(console, list(guard_lines(scores, must)))
        elif scores.unguarded:
            print_lines(
                console, [Text("Rules of level must without a lie that is caught:", "bold")]
            )
            print_lines(console, [Text(f"  {printable(name)}") for name in scores.unguarded])
        print_lines(console, list(_survivors(scores)))
        if scores.nulls:
            console.print(_nulls(scores))
        print_lines(console, list(_runs(scores)))
    if older:
        print_lines(console, [Text(printable(older), "yellow")])
    bad = list(scores.problems())
    sentence = "; ".join([in_words(scores), *(["exit code 1: " + ", ".join(bad)] if bad else [])])
    print_lines(console, [Text(printable(sentence), "bold red" if bad else "bold green")])
    return 1 if bad else 0


def print_chapters(scores: Scores, console: Console | None = None) -> None:
    """Chapter by rules of level must, those that are guarded, lies, and those that are caught."""
    rows = scores.chapters()
    totals = [
        str(sum(getattr(row, name) for row in rows.values()))
        for name in ("musts", "guarded", "mutants", "caught")
    ]
    table = Table(box=box.SIMPLE, show_footer=True, header_style="bold", footer_style="bold")
    table.add_column("chapter", "all", overflow="fold")
    for name, total in zip(("musts", "guarded", "mutants", "caught"), totals, strict=True):
        table.add_column(name, total, justify="right")
    for name, row in rows.items():
        numbers = map(str, (row.musts, row.guarded, row.mutants, row.caught))
        table.add_row(Text(printable(name)), *numbers)
    (console or Console()).print(table)


def guard_lines(scores: Scores, rule: str) -> Iterator[Text]:
    """The rule, and each lie that guards it with the cases that caught it."""
    found = scores.guards.get(rule, {})
    yield Text(printable(rule) + ("" if found else ": no lie"), "bold" if found else "bold yellow")
    for name, cases in found.items():
        yield Text(f"  {cut(name)}: {cut(scores.mutants[name]['lie'])}")
        for case in cases:
            yield Text(f"    {printable(case)}", "dim")


def _survivors(scores: Scores) -> Iterator[Text]:
    for name in scores.survived:
        mutant = scores.mutants[name]
        yield Text.assemble(("survived", "red"), f" {cut(name)}: {cut(mutant['lie'])}")
        for case in mutant["cases"]:
            yield Text(f"  passed though it must fail: {printable(case)}")


def _nulls(scores: Scores) -> Table:
    """A row for each server that does nothing, with a column for each way its cases ended."""
    ends = [end for end in ENDS if any(null["counts"].get(end) for null in scores.nulls.values())]
    table = Table(box=box.SIMPLE, header_style="bold")
    table.add_column("server that does nothing", overflow="fold")
    for name in ("cases", *map(words, ends), "passes"):
        table.add_column(name, justify="right", no_wrap=True)
    for (name, null), share in zip(scores.nulls.items(), scores.shares().values(), strict=True):
        table.add_row(
            Text(f"{printable(name)}: {printable(null['does'])}"),
            str(null["cases"]),
            *(str(null["counts"].get(end, 0)) for end in ends),
            Text(percent(share), "red" if share >= ALLOWED else "green"),
        )
    return table


def _runs(scores: Scores) -> Iterator[Text]:
    for run in scores.document["runs"]:
        command = cut(shlex.join(run["command"]))
        yield Text(f"made {run['made']} on vLLM {printable(run['release'])} by {command}", "dim")
