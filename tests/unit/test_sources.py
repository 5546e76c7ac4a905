"""Every public fault and every line of the requirements list has a rule, or a reason for none."""

import tomllib

import pytest

from fixtures.catalogue import is_reference, lint_sources, load_catalogue
from fixtures.outcome import SUITE

SOURCES = tomllib.loads((SUITE / "sources.toml").read_text(encoding="utf-8"))
SMALL = {
    "groups": {"GEN": {"about": "Generate", "count": 2}},
    "cases": {"7": {"about": "It stops.", "reports": []}},
    "evolution": {"2": "the fields"},
    "left_out": {"GEN-02": "It cannot be seen from outside."},
}
RULE = """
["generate.a"]
text = "A node MUST answer."
level = "must"
roles = ["generate"]
since = "0.22.1"
references = [{references}]
needs = []
"""


def test_nothing_is_forgotten():
    assert lint_sources(load_catalogue(SUITE / "requirements"), SOURCES) == []


def test_the_lists_are_whole():
    """As many lines and faults as were gathered: a shorter list would make the first test easy."""
    assert sum(group["count"] for group in SOURCES["groups"].values()) == 371
    assert len(SOURCES["cases"]) == 81


def test_reports_are_public():
    """Each is a reference that a rule could name, and a fault without one was found here."""
    reports = [report for case in SOURCES["cases"].values() for report in case["reports"]]
    assert [report for report in reports if not is_reference(report)] == []
    assert all(
        case["reports"] or number.startswith("N") for number, case in SOURCES["cases"].items()
    )


FAULTS = [
    ('"GEN-01", "CASES 7"', SMALL, []),
    ('"GEN-01"', SMALL, ["CASES 7 is named by no rule and left out without a reason."]),
    ('"GEN-01", "CASES 7", "CASES 8"', SMALL, ["generate.a: CASES 8 is not in sources.toml."]),
    ('"GEN-01", "CASES 7", "GEN-03"', SMALL, ["generate.a: GEN-03 is not in sources.toml."]),
    (
        '"GEN-01", "CASES 7", "EVOLUTION 9"',
        SMALL,
        ["generate.a: EVOLUTION 9 is not in sources.toml."],
    ),
    (
        '"GEN-01", "GEN-02", "CASES 7"',
        SMALL,
        ["GEN-02 is left out, but generate.a names it."],
    ),
    (
        '"GEN-01", "CASES 7"',
        {**SMALL, "left_out": {"GEN-02": " "}},
        ["GEN-02 is named by no rule and left out without a reason."],
    ),
    (
        '"GEN-01", "CASES 7"',
        {**SMALL, "left_out": {**SMALL["left_out"], "GEN-09": "Nothing."}},
        ["GEN-09 is left out, but stands in no list."],
    ),
]


@pytest.mark.parametrize(("references", "sources", "problems"), FAULTS)
def test_each_fault_is_told(tmp_path, references, sources, problems):
    (tmp_path / "generate.toml").write_text(RULE.format(references=references))
    assert lint_sources(load_catalogue(tmp_path), sources) == problems
