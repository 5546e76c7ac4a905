"""What cases measured, in a report: its lines, the end of the summary, and the plots of the page."""

import io
import json

import pytest
from rich.console import Console

from reports import measured
from reports.compare import compare
from reports.merge import merge
from reports.page import content
from reports.record import ReportProblem, read
from reports.summary import print_summary
from tests.browser.made import NEW, OLD, both, measuring, rules, single
from tests.browser.made import report as made_report
from tests.unit.report_lines import EVIL, TARGET, case, write

DIFFERENCE = {"name": "logprob difference", "value": 3.14e-4, "limit": 1e-3, "unit": "nats"}
DRIFT = {"name": "logprob drift under load", "value": 0.012, "limit": None, "unit": "nats"}
SECONDS = {"name": "abort", "value": 0.3125, "limit": 5, "unit": "seconds"}
TOKENS = {"name": "abort", "value": 130, "limit": 4072.0, "unit": "tokens"}


def measuring_case(id, *measures, **changes):
    return case(id, measured=list(measures), **changes)


def summary_of(tmp_path, *cases, **footer):
    out = io.StringIO()
    print_summary(read(write(tmp_path / "r.jsonl", *cases, **footer)), Console(file=out, width=80))
    return out.getvalue().splitlines()


# The report's lines


def test_what_was_measured_is_kept_in_the_report(tmp_path):
    measures = [DIFFERENCE, DRIFT, SECONDS, TOKENS]
    (line,) = read(write(tmp_path / "r.jsonl", measuring_case("t::a", *measures))).cases
    assert line["measured"] == measures


@pytest.mark.parametrize(
    "wrong",
    [
        {**DIFFERENCE, "value": -1e-4},
        {**DIFFERENCE, "value": None},
        {**DIFFERENCE, "value": "3e-4"},
        {**DIFFERENCE, "limit": "none"},
        {**DIFFERENCE, "unit": "bits"},
        {**DIFFERENCE, "name": ""},
        {**DIFFERENCE, "name": "x" * 81},
        {**DIFFERENCE, "more": 1},
        *({name: DIFFERENCE[name] for name in DIFFERENCE if name != gone} for gone in DIFFERENCE),
    ],
    ids=str,
)
def test_a_measure_that_is_none_is_refused(tmp_path, wrong):
    with pytest.raises(ReportProblem, match="measured"):
        write(tmp_path / "r.jsonl", measuring_case("t::a", wrong))


@pytest.mark.parametrize("count", [0, 17])
def test_measures_are_bounded_in_number(tmp_path, count):
    with pytest.raises(ReportProblem, match="measured"):
        write(tmp_path / "r.jsonl", measuring_case("t::a", *[DIFFERENCE] * count))
    write(tmp_path / "r.jsonl", measuring_case("t::a", *[DIFFERENCE] * 16))


def test_merged_reports_keep_what_was_measured(tmp_path):
    shards = [
        write(tmp_path / f"{name}.jsonl", measuring_case(f"t::{name}", measure))
        for name, measure in (("a", DIFFERENCE), ("b", SECONDS))
    ]
    merged = merge(shards, tmp_path / "merged.jsonl")
    assert [line["measured"] for line in merged.cases] == [[DIFFERENCE], [SECONDS]]


# The summary


def test_the_summary_tells_the_largest_before_its_last_sentence(tmp_path):
    cases = [
        measuring_case("t::a", {**DIFFERENCE, "value": 1e-5}, {**DRIFT, "value": 0.0}),
        measuring_case("t::b", DIFFERENCE, TOKENS),
        measuring_case("t::c", DRIFT, SECONDS, {**TOKENS, "value": 4}),
        measuring_case("t::d", {**SECONDS, "value": 0.25, "limit": 2}),
        case("t::e"),
    ]
    for line in cases:
        line["target"] = "stock@0.32.0"
    lines = summary_of(tmp_path, *cases)
    on = "on stock@0.32.0"
    assert lines[-3:-1] == [
        f"log probabilities: largest difference 3.1e-4 nats of 1e-3 allowed (t::b {on}); "
        f"under load 0.012 nats (t::c {on})",
        f"aborts: slowest 0.31 s of 5 s (t::c {on}); most tokens 130 of 4072 allowed (t::b {on})",
    ]
    assert lines[-1].startswith("tokenwire: 5 cases")


def test_of_one_target_only_the_case_is_named(tmp_path):
    report = read(write(tmp_path / "r.jsonl", measuring_case("t::a", SECONDS)))
    report.header["targets"] = [TARGET]
    assert list(measured.summary_lines(report)) == ["aborts: slowest 0.31 s of 5 s (t::a)"]


def test_where_all_is_zero_no_case_is_named(tmp_path):
    cases = [measuring_case(f"t::{name}", {**DIFFERENCE, "value": 0.0}) for name in "ab"]
    lines = summary_of(tmp_path, *cases)
    assert lines[-2] == "log probabilities: largest difference 0 nats of 1e-3 allowed"


def test_what_is_beyond_its_limit_is_told_first(tmp_path):
    cases = [
        measuring_case("t::a", {**SECONDS, "value": 2.5, "limit": 2}),
        measuring_case("t::b", {**SECONDS, "value": 4.5}),
    ]
    assert "aborts: slowest 2.5 s of 2 s (t::a on" in summary_of(tmp_path, *cases)[-2]


def test_a_known_failure_is_not_told_again(tmp_path):
    listed = measuring_case("t::a", {**SECONDS, "value": 2.5, "limit": 2})
    listed["status"] = "known_failing"
    lines = summary_of(tmp_path, listed, measuring_case("t::b", SECONDS))
    assert "aborts: slowest 0.31 s of 5 s (t::b on" in lines[-2]


def test_nothing_measured_nothing_told(tmp_path):
    told = "\n".join(summary_of(tmp_path, case(), measuring_case("t::b", {**DRIFT, "name": "x"})))
    assert "log probabilities" not in told and "aborts" not in told


def test_words_of_a_case_cannot_steer_the_terminal(tmp_path):
    text = "".join(summary_of(tmp_path, measuring_case(f"t::{EVIL}", SECONDS)))
    assert "slowest" in text
    assert set("\x1b\x00\x0b\u202e\ud800\r") & set(text) == set()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.0, "0"), (1e-3, "1e-3"), (3.14e-4, "3.1e-4"), (1.5e-10, "1.5e-10"),
        (0.012, "0.012"), (0.3125, "0.31"), (5, "5"), (5.0, "5"), (2.011, "2.01"), (130, "130"),
        (4072.0, "4072"), (5e-324, "4.9e-324"),
    ],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert measured.number(value) == text


# The page


def test_plots_have_a_row_for_each_rule_and_a_dot_for_each_measure():
    made = content.content(measuring())
    names = [line[1] for line in made.index["cases"]]
    plots = {(plot["family"], plot["unit"]): plot["rows"] for plot in made.index["measured"]}
    assert list(plots) == [
        ("Log probabilities", "nats"),
        ("Aborts", "seconds"),
        ("Aborts", "tokens"),
    ]
    assert [
        (rule, [(names[place], column, *rest) for place, column, *rest in dots])
        for rule, dots in plots["Log probabilities", "nats"]
    ] == [
        (
            "generate.answers",
            [
                ("agrees", 0, 3.1e-4, 1e-3, "logprob difference"),
                ("same", 0, 0.0, 1e-3, "logprob difference"),
                ("drifts", 0, 0.015, None, "logprob drift under load"),
            ],
        ),
        ("generate.counts", [("differs", 0, 0.02, 1e-3, "logprob difference")]),
    ]
    assert json.dumps(made.index["measured"])


def test_each_side_is_a_column_of_the_plots():
    new, old = measuring(), measuring(OLD)
    made = content.content(new, old, compare(old, new, ()))
    (_, dots), *_ = made.index["measured"][0]["rows"]
    assert [dot[1] for dot in dots] == [0, 1] * 3


def test_reports_without_measures_have_no_plots():
    assert content.content(single()).index["measured"] == []
    assert content.content(*both()).index["measured"] == []


def test_a_measure_of_an_unknown_name_is_a_plot_of_its_own():
    lines = [
        case(f"t::{name}", measured=[{**SECONDS, "name": name}], target=NEW,
             requirements=["generate.answers"])
        for name in ("start", "abort")
    ]  # fmt: skip
    made = content.content(made_report(NEW, *lines, names=rules()))
    assert [plot["family"] for plot in made.index["measured"]] == ["Aborts", "start"]
