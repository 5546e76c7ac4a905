"""What a reader sees: the summary, its last sentence, and the command line over reports."""

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console

from reports import __main__ as command
from reports.compare import compare, print_comparison
from reports.record import Report, read
from reports.summary import print_summary, verdict_sentence
from tests.unit.report_lines import RULE, TARGET, case, exchange, header, write


def printed(report, **options):
    options = {"width": 80, **options}
    out = io.StringIO()
    print_summary(report, Console(file=out, **options))
    return out.getvalue()


def report_of(tmp_path, *cases, **footer):
    return read(write(tmp_path / "r.jsonl", *cases, **footer))


def test_good_run_ends_in_one_short_sentence(tmp_path):
    report = report_of(tmp_path, case(), case("t::b", requirements=["render.b", "generate.a"]))
    report.header["targets"].pop()
    text = printed(report)
    rows = [line.split() for line in text.splitlines()]
    assert ["generate", "1", "1"] in rows and ["render", "1", "1"] in rows
    assert ["all", "2", "2"] in rows
    assert text.endswith("\ntokenwire: 2 cases on reference@0.33.0: 2 passed\n")
    assert "\x1b" not in text


def test_where_rust_differs_from_python_is_one_line_a_rule_and_reason(tmp_path):
    known = "known failing since 0.33.0: The answer has no model. (found by tokenwire)\nKeyError"
    listed = [case(f"t::{id}", "known_failing", observed="failed", message=known) for id in "ab"]
    report = report_of(tmp_path, *listed, case("t::c"))
    for line in report.cases:
        line["target"] = "rust@0.33.0"
    assert (
        "Rust differs from Python:\n"
        "  generate.a (2): The answer has no model. (found by tokenwire)\n"
    ) in printed(report)


def test_known_failures_of_python_are_no_difference(tmp_path):
    known = "known failing since 0.33.0: A fault. (found by tokenwire)"
    report = report_of(tmp_path, case("t::a", "known_failing", observed="failed", message=known))
    assert "differs" not in printed(report)


def test_bad_case_tells_rule_message_node_curl_and_pytest_line(tmp_path):
    curl = f"curl -d '{'x' * 200}' http://127.0.0.1:1/"
    bad = case(
        "t::a[1]",
        "failed",
        exchange(curl="curl first"),
        exchange(curl=curl),
        message="\n".join(["expected 3", "actual [bold]4[/bold]", *"abcdefghijklm"]),
        replay="pytest 't::a[1]' --impl reference",
    )
    unjudged = case("t::b", "not_judged", observed="passed", message="needs generate.a\nmore")
    report = report_of(tmp_path, bad, unjudged, exit_code=1, problems=["planned but lost: t::c."])
    for options in ({}, {"force_terminal": True, "no_color": True}):
        lines = printed(report, **options).replace("\x1b[1m", "").replace("\x1b[0m", "").split("\n")
        start = lines.index("failed t::a[1]")
        assert lines[start - 1 : -1] == [
            "",
            "failed t::a[1]",
            "  rule    generate.a: A node MUST answer.",
            "  node    scripted-1 (reference@0.33.0, engine scripted)",
            "  expected 3",
            "  actual [bold]4[/bold]",
            *(f"  {letter}" for letter in "abcdefghij"),
            "  … 3 more lines in the report",
            f"  {curl}",
            "  pytest 't::a[1]' --impl reference",
            "",
            "not judged t::b",
            "  needs generate.a (by itself: passed)",
            "problem: planned but lost: t::c.",
            "tokenwire: 2 cases on reference@0.33.0, stock@0.32.0: 1 failed, 1 not judged; "
            "exit code 1 because of 1 failed and 1 not judged and 1 problem of the run itself",
        ]


def test_what_a_server_sent_cannot_steer_the_terminal(tmp_path):
    evil = "\x1b[2J\x07\u202e\x9b1m\ud800\r"
    bad = case("t::a", "error", exchange(curl=f"curl {evil}"), message=evil, node=evil, replay=evil)
    text = printed(report_of(tmp_path, bad, exit_code=1, problems=[evil]))
    assert set("\x1b\x07\u202e\x9b\ud800\r") & set(text) == set()
    assert r"\x1b[2J\x07\u202e\x9b1m\ud800" in text


def commands(text):
    """What GitHub's runner would act on."""
    lines = text.splitlines()
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


def test_what_a_server_sent_is_no_command_of_github(tmp_path, monkeypatch):
    said = "  ::error::x\n##[error]y\n::set-output name=x::y"
    curl = "curl -d '##[x] a::b' http://127.0.0.1:1/"
    bad = case("::error::i", "failed", exchange(curl=curl), message=said, requirements=["::add"])
    head = header(targets=[TARGET], requirements={"::add": RULE})
    problems = ["##[error]z"]
    report = read(write(tmp_path / "r.jsonl", bad, head=head, exit_code=1, problems=problems))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert f"  {curl}\n" in printed(report) and len(commands(printed(report))) == 6
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    text = printed(report)
    assert commands(text) == [] == commands(printed(report, width=10))
    assert "\n    \\::error::x\n  ##\\[error]y\n  \\::set-output name=x::y\n" in text
    comparison = compare(report, report, ())
    out = io.StringIO()
    print_comparison(comparison, report.header["requirements"], Console(file=out, width=80))
    assert commands(out.getvalue()) == []


def test_a_table_too_wide_is_a_line_a_chapter(tmp_path):
    known = [case(f"t::k{n}", "known_failing", observed="failed", message="m") for n in "ab"]
    other = case("t::c", requirements=["render.b"])
    report = report_of(tmp_path, case(), *known, other)
    for line in report.cases[1:2]:
        line["target"] = "stock@0.32.0"
    told = [
        "generate on reference@0.33.0: 2 cases, 1 passed, 1 known failing",
        "generate on stock@0.32.0: 1 case, 1 known failing",
        "render on reference@0.33.0: 1 case, 1 passed",
    ]
    for width in (1, 20, 40):
        assert printed(report, width=width).splitlines()[:3] == told
    assert told[0] not in printed(report)


def test_curl_line_too_long_to_copy_is_named_instead(tmp_path):
    bad = case("t::a", "failed", exchange(curl="curl " + "x" * 5000), message="m" * 999)
    text = printed(report_of(tmp_path, bad, exit_code=1))
    assert "  curl    5005 characters long: it stands in the report\n" in text
    assert f"  {'m' * 299}…\n" in text


def test_summary_fits_a_stream_that_is_not_utf8(tmp_path):
    bad = case("t::a", "failed", message="é…")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_summary(report_of(tmp_path, bad, exit_code=1), Console(file=out, width=80))
    out.flush()
    assert b"\\xe9\\u2026" in out.buffer.getvalue()


@pytest.mark.parametrize(
    ("counts", "problems", "exit_code", "end"),
    [
        ({"passed": 2, "unsupported": 1}, [], 0, "2 passed, 1 unsupported"),
        ({"known_failing": 1}, [], 0, "1 known failing"),
        ({"failed": 2}, [], 1, "2 failed; exit code 1 because of 2 failed"),
        ({"failed": 2}, [], 0, "2 failed; exit code 0"),
        ({"passed": 1}, [], 2, "1 passed; exit code 2"),
        ({}, ["a", "b"], 1, "none ran; exit code 1 because of 2 problems of the run itself"),
    ],
)
def test_last_sentence_counts_and_says_why(counts, problems, exit_code, end):
    footer = {"counts": counts, "problems": problems, "exit_code": exit_code}
    report = Report({"targets": ["r@1"]}, ({},) * sum(counts.values()), footer)
    total = sum(counts.values())
    cases = "1 case" if total == 1 else f"{total} cases"
    assert verdict_sentence(report) == f"tokenwire: {cases} on r@1: {end}"


# the command line


def test_validate_looks_at_every_file(tmp_path, capsys):
    good, bad = write(tmp_path / "good.jsonl", case()), tmp_path / "bad.jsonl"
    assert command.main(["validate", str(good)]) == 0
    assert command.main(["validate", str(bad), str(good)]) == 1
    out, err = capsys.readouterr()
    sentence = "tokenwire: 1 case on reference@0.33.0, stock@0.32.0: 1 passed"
    assert out == f"{good}: {sentence}\n" * 2
    assert err == f"{bad}: the report cannot be read: No such file or directory.\n"


def test_a_sentence_on_a_report_is_no_command_either(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    evil = ["##[error]\x1b[2J@1", "stock@0.33.0"]
    path = write(tmp_path / "r.jsonl", case(target=evil[0]), head=header(targets=evil))
    assert command.main(["validate", str(path)]) == 0
    assert command.main(["compare", str(path), str(path)]) == 1
    out, err = capsys.readouterr()
    assert r"##\[error]\x1b[2J@1" in out and r"##\[error]\x1b[2J@1" in err
    assert commands(out + err) == [] and "\x1b" not in out + err


def test_show_prints_the_summary(tmp_path, capsys):
    path = write(tmp_path / "r.jsonl", case("t::a", "failed"), exit_code=1)
    assert command.main(["show", str(path)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("exit code 1 because of 1 failed")
    path.write_bytes(path.read_bytes()[:-10])
    assert command.main(["show", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("argv", [[], ["frobnicate"], ["show"], ["validate"]])
def test_command_line_that_makes_no_sense_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as raised:
        command.main(argv)
    assert raised.value.code == 2


@pytest.mark.parametrize("words", [["show", "FILE"], ["catalogue"], ["validate", "FILE"]])
def test_an_output_that_is_not_utf8_is_escaped(tmp_path, words):
    bad = case("t::é…", "failed", message="é…")
    path = write(tmp_path / "é.jsonl", bad, exit_code=1)
    ended = subprocess.run(
        [sys.executable, "-m", "reports", *(str(path) if it == "FILE" else it for it in words)],
        cwd=command.SUITE.parent,
        env={**os.environ, "PYTHONIOENCODING": "ascii:strict"},
        capture_output=True,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.isascii() and b"\\" in ended.stdout
