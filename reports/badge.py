"""A report as a badge: one small SVG that needs nothing beside it."""

from xml.sax.saxutils import escape

from reports.record import Report
from reports.summary import STYLES, printable, verdict_sentence, words

NAME = "tokenwire"
# (ground, text); each pair can be read by eyes that see little contrast.
GREEN, YELLOW, RED = ("#2e7d32", "#fff"), ("#f9c823", "#222"), ("#b71c1c", "#fff")
CHARACTER = 6.6  # of 11 pixels, about; the text is stretched to the width that this gives
PADDING = 8


def document(report: Report) -> str:
    """The picture; green where all that can be judged passed, yellow where some fail as known."""
    words, (ground, ink) = _told(report), _colour(report)
    left, right = (len(text) * CHARACTER + 2 * PADDING for text in (NAME, words))
    width = left + right
    title = escape(printable(verdict_sentence(report)), {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="20" role="img" '
        f'aria-label="{title}">\n'
        f"  <title>{title}</title>\n"
        f'  <clipPath id="r"><rect width="{width:.0f}" height="20" rx="3"/></clipPath>\n'
        f'  <g clip-path="url(#r)">\n'
        f'    <rect width="{left:.0f}" height="20" fill="#444"/>\n'
        f'    <rect x="{left:.0f}" width="{right:.0f}" height="20" fill="{ground}"/>\n'
        f"  </g>\n"
        f'  <g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" aria-hidden="true">\n'
        f"    {_text(NAME, PADDING, '#fff')}\n"
        f"    {_text(words, left + PADDING, ink)}\n"
        f"  </g>\n"
        f"</svg>\n"
    )


def _text(words: str, x: float, ink: str) -> str:
    width = len(words) * CHARACTER
    return f'<text x="{x:.1f}" y="14" textLength="{width:.1f}" fill="{ink}">{escape(words)}</text>'


def _told(report: Report) -> str:
    counts, problems = report.footer["counts"], report.footer["problems"]
    told = [f"{counts.get('passed', 0):,} of {len(report.cases):,}"]
    told += [
        f"{counts[status]:,} {words(status)}"
        for status in STYLES
        if status != "passed" and counts.get(status)
    ]
    if problems:
        told.append(f"{len(problems):,} problem{'s' * (len(problems) > 1)}")
    return " · ".join(told)


def _colour(report: Report) -> tuple[str, str]:
    if report.footer["exit_code"]:
        return RED
    return YELLOW if report.footer["counts"].get("known_failing") else GREEN
