"""A report without its exchanges: what a release did, small enough to be kept in a repository.

It holds every verdict, what failed in the case's own words, and every shape, which is all that a later
run is compared by; the exchanges, the nodes' names, the lines that repeat a case, and where on the
machine a release and the checkout lie are left out.
"""

import re
import tempfile
from pathlib import Path

from reports.evidence import bounded_text
from reports.place import not_over, put
from reports.record import Report, Writer, read

LONGEST_MESSAGE = 1000  # characters
# Where a release is installed and where the reference lies, which some servers say in their refusals.
FOLDERS = re.compile(r"/[^\s\"']*/(?=environments/\d|impl/)")


def compact(file: Path, out: Path) -> Report:
    """Write the report `file` to `out` and return it; its command and exit code stay those of the
    run.

    Raises ReportProblem, and leaves `out` as it was, where `file` is no whole report, `out` is the
    same file, or it cannot be written.
    """
    not_over(out, file)
    report = read(file)
    cases = [_smaller(case) for case in report.cases]
    footer = report.footer
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "compact.jsonl")
        writer = Writer(whole, report.header)
        for case in cases:
            writer.case(case)
        writer.finish(
            cases,
            planned=footer["planned"],
            exit_code=footer["exit_code"],
            problems=footer["problems"],
            finished=footer["finished"],
        )
        put(whole.read_bytes(), out)
        return read(whole)


def _smaller(case: dict) -> dict:
    kept = {key: value for key, value in case.items() if key not in ("replay", "exchanges")}
    if "message" in kept:
        message = FOLDERS.sub("", kept["message"])
        kept["message"] = bounded_text(message, LONGEST_MESSAGE)
    made = len(case["exchanges"]) + kept.pop("exchanges_left_out", 0)
    # A node's name leads to its log, which is gone.
    kept["node"] = None
    return kept | {"exchanges": []} | ({"exchanges_left_out": made} if made else {})
