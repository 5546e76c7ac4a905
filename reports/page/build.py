"""Puts the page together: a template, its style and script, and what the report says as data.

Nothing of a report becomes markup or code: it stands in the page as JSON without a `<`, which the script
shows as text. The policy in the page forbids everything but its own style and script, by their hashes.
"""

import base64
import gzip
import hashlib
import html
import json
import re
from pathlib import Path

from reports.compare import Comparison
from reports.page.content import content
from reports.record import Report
from reports.scores import Scores

FOLDER = Path(__file__).parent
SCRIPTS = (
    *("text.js", "evidence.js", "panel.js", "matrix.js", "sections.js"),
    *("dots.js", "plots.js", "scores.js", "page.js"),
)


def page(
    report: Report,
    old: Report | None = None,
    comparison: Comparison | None = None,
    scores: Scores | None = None,
) -> str:
    """The whole page as ASCII text, the same for the same reports and scores."""
    made = content(report, old, comparison, scores)
    style = _file("style.css")
    script = '(() => {\n"use strict";\n' + "\n".join(map(_file, SCRIPTS)) + "})();\n"
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(ascii_only(_title(report, old))),
        "style": style,
        "script": script,
        "index": embedded(made.index),
        "chunks": "\n".join(
            f'<script type="text/plain" id="chunk-{number}">{packed(chunk)}</script>'
            for number, chunk in enumerate(made.chunks)
        ),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _file("template.html"))


def embedded(value: object) -> str:
    """`value` as JSON that cannot end the element it stands in: ASCII, and without `<`, `>`, `&`."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def packed(value: object) -> str:
    """`value` as JSON, gzip and base64."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def ascii_only(text: str) -> str:
    """`text` with what is not ASCII escaped."""
    return text.encode("ascii", "backslashreplace").decode()


def _title(report: Report, old: Report | None) -> str:
    sides = [", ".join(side.header["targets"]) for side in (report, old) if side]
    return f"{' against '.join(sides)}: tokenwire"


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="ascii")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
