"""A report over several releases: the table, and where each fault begins and ends."""

import io

import pytest
from rich.console import Console

from reports import record
from reports.record import Report
from reports.releases import fault_lines, faults, print_releases, spans_releases
from tests.unit.report_lines import RULE, case

RELEASES = ("0.9.0", "0.31.0", "0.32.0", "0.33.0")
# One letter a case, the releases apart by spaces, oldest first.
STATUSES = {
    "P": "passed",
    "F": "failed",
    "K": "known_failing",
    "U": "unsupported",
    "N": "not_judged",
    "E": "error",
}


def report_of(since="0.33.0", implementation="stock", **outcomes):
    """A report whose requirement `generate.NAME` has the outcomes of `outcomes[NAME]`."""
    # The newest first, as a text order would have it: versions must decide.
    targets = [f"{implementation}@{release}" for release in sorted(RELEASES)]
    rule = RULE | {"since": since, "references": ["tokenwire", "CASES 7"]}
    header = record.header(
        targets=targets,
        releases={},
        engines=["scripted"],
        requirements={f"generate.{name}": rule for name in outcomes},
        seed=None,
    )
    cases = [
        case(
            f"t::{name}[{number}]",
            STATUSES[letter],
            requirements=[f"generate.{name}"],
            target=f"{implementation}@{release}",
        )
        for name, spans in outcomes.items()
        for release, letters in zip(RELEASES, spans.split(" "), strict=True)
        for number, letter in enumerate(letters.replace("-", ""))
    ]
    return Report(header, tuple(cases), {})


def printed(report):
    out = io.StringIO()
    print_releases(report, Console(file=out, width=100))
    return out.getvalue()


def test_table_has_only_what_is_not_simply_passed():
    rows = [
        line.split()
        for line in printed(report_of(fine="P PP P P", odd="E FP KKP U")).splitlines()
        if line.strip()
    ]
    assert rows[0] == ["requirement", *RELEASES]
    assert ["generate.odd", "E", "f", "k", "U"] in rows
    assert not [row for row in rows if "generate.fine" in row]


@pytest.mark.parametrize(
    ("letters", "row"),
    [
        ("UP P P P", ["u", "P", "P", "P"]),
        ("NP KF EF -", ["n", "f", "e"]),
        ("N K E -", ["N", "K", "E"]),
    ],
)
def test_a_cell_is_the_worst_status_and_small_where_others_differ(letters, row):
    assert ["generate.a", *row] in [
        line.split() for line in printed(report_of(a=letters)).splitlines()
    ]


@pytest.mark.parametrize(
    ("letters", "said"),
    [
        ("K K K P", "fails on 0.9.0..0.32.0, ended in 0.33.0"),
        ("P PF K P", "fails on 0.31.0..0.32.0, began in 0.31.0, ended in 0.33.0"),
        ("U U K K", "fails on 0.32.0..0.33.0, came with the feature in 0.32.0"),
        # Some of its cases need a feature that the release lacks.
        ("K UP K P", "fails on 0.9.0, 0.32.0, ended in 0.31.0, began in 0.32.0, ended in 0.33.0"),
        ("K P K K", "fails on 0.9.0, 0.32.0..0.33.0, ended in 0.31.0, began in 0.32.0"),
        ("K K K K", "fails on 0.9.0..0.33.0"),
        # Nothing is said of a turn that a broken or missing case hides.
        ("K E P P", "fails on 0.9.0"),
        ("K - P P", "fails on 0.9.0"),
        ("N F U P", "fails on 0.31.0"),
    ],
)
def test_a_fault_says_where_it_turns(letters, said):
    (fault,) = faults(report_of(a=letters))
    assert str(fault) == f"generate.a: {said}"


def test_only_what_fails_is_a_fault():
    assert faults(report_of(a="P U P P", b="E N P P")) == []


@pytest.mark.parametrize(
    ("since", "letters", "verdict"),
    [
        ("0.33.0", "K K K P", "agrees"),
        ("0.33.0", "U K E P", "agrees"),
        ("0.33.0", "PU K K P", "agrees"),
        ("0.32.0", "K K K P", "disagrees: fails on 0.32.0"),
        ("0.33.0", "K K P P", "disagrees: holds on 0.32.0"),
        ("none yet", "K K K K", "agrees"),
        ("none yet", "K K K P", "disagrees: holds on 0.33.0"),
        ("0.9.0", "P K K P", "agrees"),
        ("0.31.0", "U K K P", "disagrees: fails on 0.31.0 and fails on 0.32.0"),
    ],
)
def test_the_catalogue_agrees_or_not(since, letters, verdict):
    line, count = fault_lines(report_of(since, a=letters))
    assert line.endswith(f" (tokenwire, CASES 7); since {since}: {verdict}")
    agree = int(verdict == "agrees")
    assert count == f"1 faults, {agree} agree with since, {1 - agree} disagree"


def test_a_rule_that_fails_before_what_it_needs_held_agrees():
    report = report_of("0.9.0", a="K K K P", b="K P P P", c="P P P P")
    rules = report.header["requirements"]
    rules["generate.a"] |= {"needs": ["generate.b"]}
    rules["generate.b"] |= {"since": "0.31.0", "needs": ["generate.c"]}
    rules["generate.c"] |= {"since": "0.32.0"}
    first, second, _ = fault_lines(report)
    assert first.endswith("since 0.9.0: disagrees: fails on 0.32.0")
    assert second.endswith("since 0.31.0: agrees")


def test_other_implementations_are_not_compared_with_since():
    (line,) = fault_lines(report_of("0.31.0", "reference", a="K K K P"))
    assert line == ("generate.a: fails on 0.9.0..0.32.0, ended in 0.33.0 (tokenwire, CASES 7)")


@pytest.mark.parametrize(
    ("targets", "spans"),
    [
        (["stock@0.32.0", "stock@0.33.0"], True),
        (["stock@0.33.0"], False),
        (["stock@0.33.0", "reference@0.33.0"], False),
        (["stock@0.32.0..0.33.0", "stock@0.31.0"], False),
    ],
)
def test_which_reports_are_over_releases(targets, spans):
    report = report_of(a="P P P P")
    report.header["targets"] = targets
    assert spans_releases(report) is spans


def test_no_rule_is_markup_or_steers_the_terminal():
    report = report_of(**{"[/nope]\x1b[2J": "P P F P"})
    text = printed(report)
    assert "\x1b" not in text and text.count(r"generate.[/nope]\x1b[2J") == 2


def test_no_rule_is_a_command_of_github(monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    report = report_of(odd="P P F P")
    rules = report.header["requirements"]
    rules["::error::x"] = rules.pop("generate.odd")
    for line in report.cases:
        line["requirements"] = ["::error::x"]
    lines = [line.strip() for line in printed(report).splitlines()]
    assert sum(line.startswith(r"\::error::x") for line in lines) == 2
    assert not [line for line in lines if line.startswith("::")]
