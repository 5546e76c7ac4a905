"""`python -m reports COMMAND …`: what can be done with a report once it is written."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reports import annotations as workflow
from reports import badge as picture
from reports import catalogue as protocol
from reports import compare as comparing
from reports import findings as faults
from reports import junit as xml
from reports import markdown as comment
from reports import mutants as lies
from reports import scores as scored
from reports import table
from reports.check import inert, printable
from reports.compact import compact as compacted
from reports.grid import print_grids
from reports.known import read_list
from reports.merge import merge as merged
from reports.page import build
from reports.place import is_device, not_over, put
from reports.record import Report, ReportProblem, read
from reports.summary import print_summary, verdict_sentence

SUITE = Path(__file__).resolve().parents[1] / "conformance"


def validate(arguments: argparse.Namespace) -> int:
    """Every file is looked at; the exit code is 1 if one is not a whole and consistent report."""
    code = 0
    for file in arguments.files:
        try:
            print(inert(f"{file}: {verdict_sentence(read(file))}"))
        except ReportProblem as problem:
            _complain(problem)
            code = 1
    return code


def show(arguments: argparse.Namespace) -> int:
    report = read(arguments.file)
    print_summary(report)
    if comparison := _against(report, arguments):
        comparing.print_comparison(comparison, report.header["requirements"])
    return 0


def junit(arguments: argparse.Namespace) -> int:
    return _put(xml.document(read(arguments.file)), arguments.out)


def markdown(arguments: argparse.Namespace) -> int:
    report = read(arguments.file)
    return _put(comment.document(report, _against(report, arguments)), arguments.out)


def annotations(arguments: argparse.Namespace) -> int:
    report = read(arguments.file)
    lines = workflow.commands(report, arguments.checkout, _against(report, arguments))
    return _put("".join(f"{line}\n" for line in lines), None)


def badge(arguments: argparse.Namespace) -> int:
    return _put(picture.document(read(arguments.file)), arguments.out)


def csv(arguments: argparse.Namespace) -> int:
    return _put(table.document(read(arguments.file)), arguments.out)


def merge(arguments: argparse.Namespace) -> int:
    """The shards as one report; the exit code is that of the run that it tells of."""
    report = merged(
        arguments.shards,
        arguments.out,
        shards=arguments.of,
        complete=arguments.complete,
        entries=read_list(arguments.known_failing),
    )
    print(verdict_sentence(report))
    return report.footer["exit_code"]


def compact(arguments: argparse.Namespace) -> int:
    """The report without its exchanges, small enough to be kept as what a release once did."""
    report = compacted(arguments.file, arguments.out)
    _tell(arguments.out, verdict_sentence(report))
    return 0


def _against(report: Report, arguments: argparse.Namespace) -> comparing.Comparison | None:
    """The comparison that --against asks for."""
    if arguments.against is None:
        return None
    entries = read_list(arguments.known_failing)
    return comparing.compare(read(arguments.against), report, entries)


def _put(text: str, out: Path | None) -> int:
    """Write `text` to a file, or to the standard output as it is: UTF-8, and no line end changed."""
    data = text.encode()
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return 0
    put(data, out)
    return 0


def _tell(out: Path, sentence: str) -> None:
    """Say what was written, which may be the standard output itself."""
    print(inert(f"{out}: {sentence}"), file=sys.stderr if is_device(out) else sys.stdout)


def catalogue(arguments: argparse.Namespace) -> int:
    for line in protocol.document(arguments.suite):
        print(line)
    return 0


def findings(arguments: argparse.Namespace) -> int:
    """The known faults of all files as one document."""
    reports = [read(file) for file in arguments.files]
    lines = faults.listed_lines(read_list(arguments.known_failing))
    for line in faults.document(reports, lines):
        print(line)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Two reports side by side; exit code 1 where the new one is worse and it is not waived."""
    new = read(arguments.new)
    comparison = comparing.compare(read(arguments.old), new, read_list(arguments.known_failing))
    comparing.print_comparison(comparison, new.header["requirements"])
    return comparison.exit_code


def html(arguments: argparse.Namespace) -> int:
    """One report, or two side by side, as a page that needs no network."""
    new = read(arguments.file)
    old = comparison = None
    if arguments.against:
        old = read(arguments.against)
        comparison = comparing.compare(old, new, read_list(arguments.known_failing))
    scores = scored.read(arguments.scores) if arguments.scores else scored.committed()
    out = arguments.out or arguments.file.with_suffix(".html")
    if out == arguments.file:
        raise ReportProblem(f"{out}: --out must say where the page goes.")
    text = build.page(new, old, comparison, scores)
    _put(text, out)
    count = "1 case" if len(new.cases) == 1 else f"{len(new.cases)} cases"
    _tell(out, f"{count}, {len(text) / 1e6:.1f} MB.")
    return 0


def mutants(arguments: argparse.Namespace) -> int:
    """The scores of the suite; exit code 1 where a lie survived or doing nothing passes too much."""
    scores = scored.read(arguments.file)
    older = scored.difference(scores, SUITE.parent)
    return lies.print_scores(scores, rule=arguments.rule, verbose=arguments.verbose, older=older)


def grid(arguments: argparse.Namespace) -> int:
    """The upgrade matrix, of one exchange or of all; exit code 1 where the report has none."""
    try:
        print_grids(read(arguments.file), arguments.exchange)
    except ValueError as problem:
        raise ReportProblem(f"{arguments.file}: {problem}.") from None
    return 0


@dataclass(frozen=True)
class Command:
    """A word of the command line: what it does, and its arguments as argparse takes them."""

    run: Callable[[argparse.Namespace], int]
    help: str
    arguments: dict[str, dict]


LIST = {
    "--known-failing": {
        "type": Path,
        "metavar": "LIST",
        "default": SUITE / "known_failing.toml",
        "help": "the list that the run was judged with; default: this checkout's",
    }
}

FILE = {"file": {"type": Path, "metavar": "FILE"}}
OUT = {"--out": {"type": Path, "metavar": "FILE", "help": "default: the standard output"}}
AGAINST = {
    "--against": {"type": Path, "metavar": "OLD", "help": "the report to compare with"},
    **LIST,
}

COMMANDS = {
    "compare": Command(
        compare,
        "say what changed from one report to another; exit code 1 for what got worse",
        {
            "old": {"type": Path, "metavar": "OLD"},
            "new": {"type": Path, "metavar": "NEW"},
            **LIST,
        },
    ),
    "validate": Command(
        validate,
        "say whether each file is a whole report",
        {"files": {"nargs": "+", "type": Path, "metavar": "FILE"}},
    ),
    "catalogue": Command(
        catalogue,
        "print the protocol as a document: rules, releases, references, cases",
        {
            "--suite": {
                "type": Path,
                "metavar": "FOLDER",
                "default": SUITE,
                "help": "the folder of the suite; default: this checkout's",
            }
        },
    ),
    "show": Command(show, "print a report's summary", {**FILE, **AGAINST}),
    "junit": Command(junit, "write a report as JUnit XML", {**FILE, **OUT}),
    "markdown": Command(
        markdown,
        "write a report, or what changed since an older one, as a comment on a pull request",
        {**FILE, **AGAINST, **OUT},
    ),
    "annotations": Command(
        annotations,
        "print the failures of a report, or what got worse, as workflow commands of GitHub",
        {
            **FILE,
            **AGAINST,
            "--checkout": {
                "type": Path,
                "metavar": "FOLDER",
                "default": SUITE.parent,
                "help": "where the cases' files are looked for; default: this checkout",
            },
        },
    ),
    "badge": Command(badge, "draw a report's verdict as a small SVG", {**FILE, **OUT}),
    "csv": Command(csv, "write a report's cases as comma-separated values", {**FILE, **OUT}),
    "merge": Command(
        merge,
        "make one report of those of a run that was split; exit code as of the whole run",
        {
            "shards": {"nargs": "+", "type": Path, "metavar": "SHARD"},
            "--out": {"type": Path, "metavar": "FILE", "required": True},
            "--of": {"type": int, "metavar": "N", "help": "how many shards there must be"},
            "--complete": {
                "action": "store_true",
                "help": "the whole suite ran: every rule must have a case",
            },
            **LIST,
        },
    ),
    "compact": Command(
        compact,
        "write a report without its exchanges, to be kept and compared with",
        {**FILE, "--out": {"type": Path, "metavar": "FILE", "required": True}},
    ),
    "findings": Command(
        findings,
        "print the known faults of reports as a document for who maintains the server",
        {
            "files": {"nargs": "+", "type": Path, "metavar": "FILE"},
            **LIST,
        },
    ),
    "html": Command(
        html,
        "make a page of a report, for a browser",
        {
            **FILE,
            **AGAINST,
            "--out": {
                "type": Path,
                "metavar": "PAGE",
                "help": "where the page goes; default: beside the report",
            },
            "--scores": {
                "type": Path,
                "metavar": "FILE",
                "help": "the scores of the suite that the page shows; default: this checkout's",
            },
        },
    ),
    "mutants": Command(
        mutants,
        "print which lies the suite catches, and what servers that do nothing pass",
        {
            "file": {
                "nargs": "?",
                "type": Path,
                "metavar": "FILE",
                "default": scored.COMMITTED,
                "help": "the scores; default: this checkout's",
            },
            "--rule": {"metavar": "ID", "help": "only the lies that guard this rule"},
            "--verbose": {
                "action": "store_true",
                "help": "also which lies guard each rule, and by which case",
            },
        },
    ),
    "grid": Command(
        grid,
        "print the upgrade matrix of a report",
        {
            **FILE,
            "--exchange": {"metavar": "NAME", "help": "one exchange alone, such as max_tokens[16]"},
        },
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m reports", description="Work with tokenwire's reports."
    )
    words = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        word = words.add_parser(name, help=command.help, description=command.help)
        for argument, options in command.arguments.items():
            word.add_argument(argument, **options)
    arguments = parser.parse_args(argv)
    if sys.stdout is None:  # it was closed before
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")  # whatever PYTHONIOENCODING asks for
    try:
        if out := vars(arguments).get("out"):
            not_over(out, *(vars(arguments).get(name) for name in ("file", "against")))
        code = COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
        return code
    except ReportProblem as problem:
        _complain(problem)
    except BrokenPipeError:  # who reads has seen enough
        _drop_output()
    except OSError as error:
        if error.filename is None:
            _drop_output()
            _complain(f"the standard output cannot be written: {error.strerror}.")
        else:
            _complain(f"{error.filename} cannot be read or written: {error.strerror}.")
    return 1


def _complain(problem: object) -> None:
    print(inert(printable(str(problem))), file=sys.stderr)


def _drop_output() -> None:
    """What is left of it cannot be written at the exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
