"""A report without its exchanges: what a release did, small enough to be kept in a repository.

It holds every verdict, what failed in the case's own words, and every shape, which is all that a later
run is compared by; the exchanges, the nodes' names, and the lines that repeat a case are left out.
"""

from pathlib import Path

from reports.check import ReportProblem
from reports.evidence import bounded_text
from reports.record import Writer, read

LONGEST_MESSAGE = 1000  # characters


def compact(file: Path, out: Path) -> None:
    """Write the report `file` to `out`; its command and exit code stay those of the run.

    Raises ReportProblem where `file` is no whole report or `out` is the same file.
    """
    if file.resolve() == out.resolve():
        raise ReportProblem(f"{out}: the compact report would stand in the place of the whole one.")
    report = read(file)
    writer = Writer(out, report.header)
    cases = [_smaller(case) for case in report.cases]
    for case in cases:
        writer.case(case)
    footer = report.footer
    writer.finish(
        cases,
        planned=footer["planned"],
        exit_code=footer["exit_code"],
        problems=footer["problems"],
        finished=footer["finished"],
    )


def _smaller(case: dict) -> dict:
    kept = {key: value for key, value in case.items() if key not in ("replay", "exchanges")}
    if "message" in kept:
        kept["message"] = bounded_text(kept["message"], LONGEST_MESSAGE)
    made = len(case["exchanges"]) + kept.pop("exchanges_left_out", 0)
    # A node's name leads to its log, which is gone.
    kept["node"] = None
    return kept | {"exchanges": []} | ({"exchanges_left_out": made} if made else {})
