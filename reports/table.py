"""A report as comma-separated values (RFC 4180), one line per case, for a spreadsheet."""

import csv
import io
from collections.abc import Mapping

from reports.record import Report
from reports.summary import printable

COLUMNS = (
    "id",
    "target",
    "status",
    "observed",
    "requirements",
    "level",
    "engine",
    "node",
    "seconds",
    "message",
)
LEVELS = ("must", "should", "survey")  # the strongest first
# A spreadsheet takes a cell that begins so, also in full width, for a formula.
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def document(report: Report) -> str:
    """The whole table with its header; lines end in CR LF."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(COLUMNS)
    for case in report.cases:
        rows.writerow(_row(case, report.header["requirements"]))
    return text.getvalue()


def _row(case: Mapping, rules: Mapping[str, Mapping]) -> list[str | float]:
    levels = {rules[id]["level"] for id in case["requirements"]}
    return [
        _cell(case["id"]),
        _cell(case["target"]),
        case["status"],
        case.get("observed", case["status"]),
        _cell(" ".join(case["requirements"])),
        min(levels, key=LEVELS.index),
        case["engine"],
        _cell(case["node"] or ""),
        case["seconds"],
        _cell(case.get("message", "").partition("\n")[0]),
    ]


def _cell(text: str) -> str:
    """`text` on one line, and such that no spreadsheet computes it."""
    prefix = "'" if text.lstrip(" ").startswith(FORMULA) else ""
    return prefix + printable(text)
