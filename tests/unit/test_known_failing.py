"""Every way the list of known failures lies is refused; an entry matches just what it says."""

import datetime

import pytest
import tomli_w

from fixtures import verdict
from fixtures.catalogue import CatalogueError
from fixtures.verdict import KnownFailing
from reports.check import ReportProblem
from reports.known import read_list
from tests.unit.verdict_lines import ENTRY, TARGET, catalogue_of

RULES = catalogue_of(control=(), alone=())


def load(folder, *tables, **document):
    file = folder / "known_failing.toml"
    file.write_text(tomli_w.dumps({"known_failing": list(tables), **document}), encoding="utf-8")
    return verdict.load_known_failing(file, RULES)


def test_list_is_read_as_written(tmp_path):
    other = {**ENTRY, "target": "reference@0.27.1..0.33.0"}
    assert load(tmp_path, ENTRY, other) == (KnownFailing(**ENTRY), KnownFailing(**other))
    assert load(tmp_path) == ()


def test_several_cases_are_an_entry_each(tmp_path):
    several = load(tmp_path, {**ENTRY, "cases": ["t::a*", "t::b"]})
    assert [entry.cases for entry in several] == ["t::a*", "t::b"]
    assert several[0] == KnownFailing(**{**ENTRY, "cases": "t::a*"})
    assert read_list(tmp_path / "known_failing.toml") == several


def without(key):
    return {name: value for name, value in ENTRY.items() if name != key}


TARGET_RULE = "is not IMPLEMENTATION@RELEASE, where RELEASE is one release, a range A..B, or *"


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        (without("review_by"), "review_by missing"),
        ({**ENTRY, "note": "x", "issue": "x"}, "unknown key issue"),
        ({**ENTRY, "reason": ""}, "reason must be a string that is not empty"),
        ({**ENTRY, "reference": " "}, "reference must be a string that is not empty"),
        ({**ENTRY, "cases": 1}, "cases must be a string that is not empty"),
        ({**ENTRY, "cases": []}, "cases must be a string that is not empty, or a list of such"),
        (
            {**ENTRY, "cases": ["a", 1]},
            "cases must be a string that is not empty, or a list of such",
        ),
        ({**ENTRY, "reference": "hearsay"}, "reference 'hearsay' is of no known form"),
        ({**ENTRY, "requirement": "g.other"}, "g.other is not a requirement of the catalogue"),
        ({**ENTRY, "since": "soon"}, "since must be a release such as \"0.24.0\", not 'soon'"),
        ({**ENTRY, "review_by": "2027-03-01"}, "review_by must be a date such as 2027-03-01"),
        (
            {**ENTRY, "review_by": datetime.datetime(2027, 3, 1, 12)},
            "review_by must be a date such as 2027-03-01",
        ),
        *(
            ({**ENTRY, "target": target}, f"target {target!r} {TARGET_RULE}")
            for target in ("stock", "@0.33.0", "stock@", "*@0.33.0", "stock@0.3*", "stock@0.33.0..")
        ),
        (
            {**ENTRY, "target": "stock@0.33.0..0.27.1"},
            "target 'stock@0.33.0..0.27.1' ends before it begins",
        ),
        (
            {**ENTRY, "target": "stock@old..new"},
            "target 'stock@old..new' holds a range whose ends are not releases",
        ),
    ],
)
def test_faulty_entry_is_refused_by_number_and_name(tmp_path, table, fault):
    with pytest.raises(CatalogueError) as raised:
        load(tmp_path, {**ENTRY, "cases": "another"}, table)
    name = table["requirement"]
    assert raised.value.problems[0] == f"known_failing.toml: entry 2 ({name}): {fault}."


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"known_failing": ["a"]}, "known_failing must be a list of tables, [[known_failing]]"),
        ({"known_failing": {"a": ENTRY}}, "known_failing must be a list of tables, "),
        ({"known-failing": []}, "unknown key known-failing"),
        ({"known_failing": [ENTRY, {**ENTRY, "target": 3}]}, "entry 2: target must be a string"),
        ({"known_failing": [{**ENTRY, "cases": [1]}]}, "entry 1: cases must be a string that is"),
        ({"known_failing": [{**ENTRY, "accepts": "foo"}]}, "entry 1: unknown accepts 'foo': one"),
        (
            {"known_failing": [{**ENTRY, "target": "stock@zz..yy"}]},
            "entry 1: target 'stock@zz..yy' holds a range whose ends are not releases.",
        ),
        ({"known_failing": [without("since")]}, "entry 1: since missing"),
        ({"known_failing": [{**ENTRY, "\x1b[2J": 1}]}, r"entry 1: unknown key \x1b[2J"),
    ],
)
def test_a_report_is_not_read_with_a_faulty_list(tmp_path, document, fault):
    file = tmp_path / "list.toml"
    file.write_text(tomli_w.dumps(document), encoding="utf-8")
    with pytest.raises(ReportProblem) as raised:
        read_list(file)
    assert str(raised.value).startswith(f"the list {file} cannot be read: {fault}")
    assert str(raised.value).isprintable()


def test_faulty_list_is_refused(tmp_path):
    with pytest.raises(CatalogueError, match=r"entry 2 \(g.control\): the same target, require"):
        load(tmp_path, ENTRY, {**ENTRY, "reason": "another"})
    with pytest.raises(CatalogueError, match=r"known_failing.toml: unknown key known-failing\."):
        load(tmp_path, **{"known-failing": []})
    with pytest.raises(CatalogueError, match="must be a list of tables"):
        load(tmp_path, **{"known_failing": ENTRY})
    with pytest.raises(CatalogueError, match=r"missing\.toml: the file cannot be read"):
        verdict.load_known_failing(tmp_path / "missing.toml", RULES)


def test_entry_is_overdue_the_day_after_its_date():
    entry = KnownFailing(**ENTRY)
    assert verdict.overdue([entry], datetime.date(2027, 3, 1)) == []
    (sentence,) = verdict.overdue([entry], datetime.date(2027, 3, 2))
    assert sentence.startswith("known failing g.control on stock@0.33.0 was to be reviewed by 2027")


@pytest.mark.parametrize(
    ("pattern", "covered", "not_covered"),
    [
        ("stock@0.33.0", ["stock@0.33.0"], ["stock@0.33.1", "reference@0.33.0", "stock@0.33.0x"]),
        (
            "stock@0.9.2..0.27.1",
            ["stock@0.9.2", "stock@0.10.0", "stock@0.27.1"],
            ["stock@0.9.1", "stock@0.27.2", "stock@source", "reference@0.10.0"],
        ),
        ("stock@*", ["stock@0.1.0", "stock@source"], ["stocks@0.1.0", "stock"]),
        ("my.package:install@*", ["my.package:install@0.33.0"], ["my-package:install@0.33.0"]),
    ],
)
def test_target_pattern_covers_exactly_its_targets(pattern, covered, not_covered):
    entry = KnownFailing(**{**ENTRY, "target": pattern})
    assert [target for target in covered if not entry.covers(target)] == []
    assert [target for target in not_covered if entry.covers(target)] == []


@pytest.mark.parametrize(
    ("cases", "case", "expected"),
    [
        ("t::a[node0-1]", "t::a[node0-1]", True),
        ("t::a[node0-1]", "t::an", False),  # brackets are no set of characters
        ("t::a*", "t::a[node0-1]", True),
        ("t::a", "t::a[node0-1]", False),
        ("t::?", "t::A", True),
        ("T::a", "t::a", False),
    ],
)
def test_entry_matches_the_whole_case_id(cases, case, expected):
    entries = [KnownFailing(**{**ENTRY, "cases": cases})]
    assert bool(verdict.matching(entries, TARGET, case, ["g.control"])) is expected
    assert verdict.matching(entries, TARGET, case, ["g.alone"]) == []
    assert verdict.matching(entries, "stock@0.32.0", case, ["g.control"]) == []
