"""The known faults of a run as a document for who maintains the server: rule, request, answer.

A fault is what one reason and one reference of the list of known failures stand for. It is shown by
the shell lines that the list has for it, or else by the case whose last request is easiest to repeat:
one that a script does not decide, and short.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version

from reports.known import KnownFailing
from reports.record import Report

KNOWN = re.compile(
    r"known failing since (?P<since>\d+(?:\.\d+)+): (?P<reason>.*) \((?P<reference>[^()]*)\)"
)
HELD_LATER = re.compile(r"stock vLLM holds (?P<what>.*) from (?P<since>\S+) on")
NODE_NAME = re.compile(
    r"(?P<target>\S+) (?P<engine>\S+) (?P<role>serve|render) (?P<dtype>\S+) (?P<model>\S+)"
    r"(?P<flags>.*?)(?: #\d+)?"
)
ADDRESS = re.compile(r"https?://[^/\s']+")
SCRIPT = "x-engine-script"
EXCERPT = 1200  # characters of an answer
MESSAGE_LINES = 8


@dataclass
class Finding:
    """One fault: why its cases fail, on which releases, and all of the cases, by any target."""

    reason: str
    reference: str
    since: str
    cases: list[Mapping] = field(default_factory=list)

    @property
    def releases(self) -> list[str]:
        """The releases it was seen on, oldest first."""
        return sorted({case["target"].rpartition("@")[2] for case in self.cases}, key=_version)

    @property
    def rules(self) -> list[str]:
        """The rules that it breaks, those of the most cases first."""
        counted: dict[str, int] = {}
        for case in self.cases:
            counted[case["requirements"][0]] = counted.get(case["requirements"][0], 0) + 1
        return sorted(counted, key=lambda id: (-counted[id], id))

    @property
    def shown(self) -> Mapping:
        """The case on the newest release whose last request is easiest to repeat."""
        newest = [c for c in self.cases if c["target"].rpartition("@")[2] == self.releases[-1]]
        return min(newest, key=_effort)


def findings(reports: Sequence[Report]) -> list[Finding]:
    """The faults of all reports, those seen on the newest release first, then by their rules."""
    found: dict[tuple[str, str], Finding] = {}
    for report in reports:
        for case in report.cases:
            first = case.get("message", "").partition("\n")[0]
            if case["status"] == "known_failing" and (known := KNOWN.fullmatch(first)):
                key = known["reason"], known["reference"]
                finding = found.setdefault(key, Finding(*key, known["since"]))
                finding.since = min(finding.since, known["since"], key=Version)
                finding.cases.append(case)

    def order(finding: Finding) -> tuple:
        return finding.rules[0], finding.reason

    newest_first = sorted({f.releases[-1] for f in found.values()}, key=_version, reverse=True)
    return [
        finding
        for release in newest_first
        for finding in sorted(found.values(), key=order)
        if finding.releases[-1] == release
    ]


def _version(release: str) -> Version:
    """A release's place in order; what is no version comes first."""
    try:
        return Version(release)
    except InvalidVersion:
        return Version("0")


def listed_lines(entries: Iterable[KnownFailing]) -> dict[tuple[str, str], tuple[str, str]]:
    """(reason, reference) to the shell lines that show it and a regular expression of their output,
    for the entries that have them.
    """
    return {(e.reason, e.reference): (e.curl.strip(), e.shows) for e in entries if e.curl}


def document(
    reports: Sequence[Report], lines: Mapping[tuple[str, str], tuple[str, str]]
) -> Iterator[str]:
    """The lines of the document, as Markdown; `lines` as `listed_lines` gives them."""
    rules = {id: rule for report in reports for id, rule in report.header["requirements"].items()}
    targets = sorted({target for report in reports for target in report.header["targets"]})
    found = findings(reports)
    yield "# Findings"
    yield ""
    made = "Made by `python -m reports findings` from a report of each."
    yield f"{len(found)} faults on {', '.join(targets)}. {made}"
    yield ""
    yield "Every request below repeats its fault by itself. `python -m fixtures model RELEASE` makes the"
    yield "model and prints the lines that serve it; add the words that a fault names (`NAME=value` goes"
    yield "before the line, `{NAME}` is the folder of that model, and `--tokens-only` or"
    yield "`--no-enable-scale-out` says that `--enable-scale-out` is left away). `--model NAME` makes another"
    yield "model. Then:"
    yield ""
    yield "```"
    yield "NODE=http://127.0.0.1:8000"
    yield "```"
    for number, finding in enumerate(found, 1):
        yield ""
        yield f"## {number}. {_plain(finding.reason)}"
        yield ""
        yield from _finding(finding, rules, lines.get((finding.reason, finding.reference)))
    if later := _held_later(reports):
        yield ""
        yield "## Held by later releases"
        yield ""
        yield "| rule | held from | cases that fail before |"
        yield "|---|---|---|"
        for (id, since), count in sorted(later.items()):
            yield f"| `{id}` | {since} | {count} |"


def _finding(
    finding: Finding, rules: Mapping[str, Mapping], lines: tuple[str, str] | None
) -> Iterator[str]:
    case = finding.shown
    rule, others, count = case["requirements"][0], len(finding.rules) - 1, len(finding.cases)
    more = f"; it breaks {others} more" if others else ""
    yield f"- on {', '.join(finding.releases)}, since {finding.since}; {finding.reference}"
    yield f"- rule `{rule}`: {_plain(rules[rule]['text'])}{more}"
    yield f"- {count} case{'s' * (count > 1)}; shown by `{case['id']}`"
    if not case["exchanges"]:
        return
    exchange = shown_exchange(case)
    yield f"- node: {node_words(exchange['node'], plain=lines is not None or not needs_script(exchange))}"
    yield from _block("", lines[0] if lines else curl(exchange))
    if lines:
        yield from _block("Actual, the output matches:", lines[1])
    else:
        yield from _block("Actual:", "\n".join(_answer(exchange)))
    yield from _block("What the case expected:", "\n".join(_expected(case)))


def _block(title: str, text: str) -> Iterator[str]:
    yield from ["", title] if title else []
    yield from ["", "```", *fenced(text), "```"]


def curl(exchange: Mapping) -> str:
    """The request as one command; the address is the shell variable NODE."""
    return ADDRESS.sub("$NODE", exchange["curl"], count=1)


def node_words(name: str, plain: bool = False) -> str:
    """What a node's name in a report says about how to start it; a `plain` one has a real engine."""
    parts = NODE_NAME.fullmatch(name)
    if parts is None:
        return f"`{name}`"
    kind = {"serve": "vllm serve", "render": "vllm launch render"}[parts["role"]]
    scripted = parts["engine"] == "scripted" and not plain
    engine = ", behind it the scripted engine" if scripted else ""
    model = "" if parts["model"] == "tiny" else f" with the model {parts['model']}"
    return f"`{kind}` `--dtype {parts['dtype']}{parts['flags']}`{model}{engine}"


def needs_script(exchange: Mapping) -> bool:
    """Whether the answer depends on what a case scripted, so that no plain server repeats it."""
    return SCRIPT in exchange["request_headers"]


def shown_exchange(case: Mapping) -> Mapping:
    """The exchange that shows a case's fault: the last, or the first that broke the server, after
    which no later one says anything.
    """
    broke = (e for e in case["exchanges"] if not e["status"] or e["status"] >= 500)
    return next(broke, case["exchanges"][-1])


def _effort(case: Mapping) -> tuple:
    if not case["exchanges"]:
        return (9,)
    last = shown_exchange(case)
    incomplete = not last["status"] or "# request.body" in last["curl"]
    return needs_script(last), incomplete, len(last["curl"]), case["id"]


def _answer(exchange: Mapping) -> Iterator[str]:
    body = exchange["body"] or {}
    text = body.get("text", f"({body.get('bytes', 0)} bytes that are no text)")
    yield f"{exchange['status'] or ''} {exchange.get('error', '')}".strip()
    yield text if len(text) <= EXCERPT else f"{text[:EXCERPT]} …"


def _expected(case: Mapping) -> Iterator[str]:
    lines = case["message"].splitlines()[1:]
    lines = [line for line in lines if line.strip() and "Use -v to get more diff" not in line]
    for line in lines[:MESSAGE_LINES]:
        yield line[:400] + (" …" if len(line) > 400 else "")


def _held_later(reports: Sequence[Report]) -> dict[tuple[str, str], int]:
    """(rule, the release that began to hold it): how many cases fail before."""
    found: dict[tuple[str, str], int] = {}
    for report in reports:
        for case in report.cases:
            if case["status"] == "known_failing" and (
                later := HELD_LATER.match(case.get("message", ""))
            ):
                what = later["what"]
                rule = case["requirements"][0] if what == "this" else what.partition(",")[0]
                found[rule, later["since"]] = found.get((rule, later["since"]), 0) + 1
    return found


def _plain(text: str) -> str:
    """`text` on one line, with what Markdown or HTML would act on made harmless."""
    return re.sub(r"([\\`*<>|\[\]])", r"\\\1", " ".join(text.split())).rstrip(".")


def fenced(text: str) -> list[str]:
    """The lines of `text` for a fenced block: nothing in them can end it."""
    shown = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return shown.replace("```", "` ` `").splitlines() or [""]
