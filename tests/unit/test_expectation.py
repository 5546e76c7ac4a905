"""The table of expectations: which rule speaks of a cell, and one sentence per fault."""

import pytest

from fixtures.catalogue import CatalogueError
from fixtures.expectation import Uncovered, expected, load_expectations, unmatched
from fixtures.settings import UPGRADE

RULE = """
[{name}]
exchanges = ["chat", "max_tokens[16]"]
outcome = "degrades"
reason = "it is lost"
reference = "EVOLUTION 3.2"
{more}
"""


def table(tmp_path, *rules):
    """A table of (name, further lines) rules."""
    file = tmp_path / "expected.toml"
    file.write_text("\n".join(RULE.format(name=name, more=more) for name, more in rules))
    return load_expectations(file)


def found(rules, exchange="chat", **cell):
    cell = {role: target if "@" in target else f"stock@{target}" for role, target in cell.items()}
    try:
        return expected(rules, exchange, cell).name
    except Uncovered:
        return None


def test_the_table_of_the_chapter_is_sound():
    assert load_expectations(UPGRADE / "expected.toml")


def test_the_first_rule_that_covers_a_cell_decides(tmp_path):
    rules = table(tmp_path, ("old", 'render = "..0.24.0"'), ("all", ""))
    assert found(rules, render="0.24.0", generate="0.33.0") == "old"
    assert found(rules, render="0.25.1", generate="0.33.0") == "all"


@pytest.mark.parametrize(
    ("targets", "inside", "outside"),
    [
        ("0.25.1", ["0.25.1"], ["0.25.0", "0.26.0"]),
        ("0.25.1..0.30.0", ["0.25.1", "0.30.0"], ["0.24.0", "0.31.0"]),
        ("0.30.0..", ["0.30.0", "0.100.0"], ["0.29.0", "checkout"]),
        ("..0.9.0", ["0.9.0"], ["0.10.0", "checkout"]),
        ("reference@0.25.1..", ["reference@0.33.0"], ["stock@0.33.0", "reference@0.24.0"]),
    ],
)
def test_ranges_hold_both_ends(tmp_path, targets, inside, outside):
    rules = table(tmp_path, ("rule", f'generate = "{targets}"'))
    assert [found(rules, generate=target) for target in inside] == ["rule"] * len(inside)
    assert [found(rules, generate=target) for target in outside] == [None] * len(outside)


def test_a_rule_for_a_role_says_nothing_of_a_cell_without_it(tmp_path):
    rules = table(tmp_path, ("rule", 'derender = "0.24.0.."'))
    assert found(rules, render="0.33.0", generate="0.33.0") is None


def test_an_exchange_is_named_whole_or_with_all_its_parameters(tmp_path):
    rules = table(tmp_path, ("rule", ""))
    names = ["chat", "chat[a-b]", "max_tokens[16]", "max_tokens[17]", "max_tokens", "chats"]
    assert [found(rules, name) for name in names] == ["rule", "rule", "rule", None, None, None]


def test_a_cell_without_a_rule_is_named(tmp_path):
    rules = table(tmp_path, ("rule", ""))
    with pytest.raises(Uncovered, match=r"no rule for stream with render stock@0\.33\.0\."):
        expected(rules, "stream", {"render": "stock@0.33.0"})


def test_a_rule_that_judged_no_cell_is_named(tmp_path):
    rules = table(tmp_path, ("old", 'render = "..0.24.0"'), ("all", ""))
    assert [problem.partition(": no cell")[0] for problem in unmatched(rules, ["all", None])] == [
        "expected.toml: old"
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('outcome = "fine"', "unknown outcome 'fine'"),
        ('reference = "somewhere"', "reference 'somewhere' is of no known form"),
        ('reason = " "', "reason must be a sentence"),
        ("exchanges = []", "exchanges must be a list of names"),
        ('exchanges = "chat"', "exchanges must be a list of names"),
        ('render = "new"', "render 'new' is none of A, A..B, A.. and ..B"),
        ('render = ".."', "render '..' is none of A, A..B, A.. and ..B"),
        ("render = 33", "render 33 is none of A, A..B, A.. and ..B"),
        ('render = "0.33.0..0.24.0"', "render '0.33.0..0.24.0' ends before it begins"),
        ('renderer = "0.33.0"', "unknown key renderer"),
        ('contradicts = ""', "contradicts must be a sentence"),
        ('outcome = "refuses_cleanly"', "says belongs to a rule with the outcome refuses_cleanly"),
        ('says = "newer"', "says belongs to a rule with the outcome refuses_cleanly"),
        ("reason =", "not valid TOML"),
    ],
)
def test_each_fault_is_one_sentence(tmp_path, line, fault):
    key = line.partition(" ")[0]
    lines = [
        own for own in RULE.format(name="rule", more="").split("\n") if not own.startswith(key)
    ]
    file = tmp_path / "expected.toml"
    file.write_text("\n".join([*lines, line]))
    with pytest.raises(CatalogueError) as error:
        load_expectations(file)
    [problem] = error.value.problems
    assert problem.startswith("expected.toml: ") and fault in problem and problem.endswith(".")


def test_what_is_missing_is_named(tmp_path):
    file = tmp_path / "expected.toml"
    file.write_text('rule = 1\n[other]\noutcome = "breaks"\n')
    with pytest.raises(CatalogueError) as error:
        load_expectations(file)
    assert error.value.problems == (
        "expected.toml: rule: a rule is a table.",
        "expected.toml: other: exchanges and reason and reference missing.",
    )
