"""The scores of the suite: what a file must hold, what is printed of it, and when the exit code is 1."""

import io
import json

import pytest
from rich.console import Console

from reports import __main__ as command
from reports import scores, summary
from reports.check import ReportProblem
from reports.mutants import print_scores
from reports.page import content
from reports.record import read as read_report
from reports.scores import Chapter, Scores
from tests.browser.made import NEW, cases, report
from tests.unit import report_lines
from tests.unit.report_lines import EVIL
from tests.unit.score_file import RUN, document, mutant, null, survived, write


@pytest.fixture
def checkout(monkeypatch, tmp_path):
    """A checkout of a suite that has the mutants of `document()`."""
    folder = tmp_path / "tests" / "mutants"
    folder.mkdir(parents=True)
    (folder / "caught.toml").write_text(
        '"a:one_less" = ["t.py::counts"]\n"a:no_words" = ["t.py::words"]\n'
    )
    monkeypatch.setattr(command, "SUITE", tmp_path / "conformance")
    return folder / "caught.toml"


def ran(capsys, *words):
    """The exit code of `python -m reports WORDS`, and the lines of its two outputs."""
    code = command.main(list(map(str, words)))
    printed = capsys.readouterr()
    return code, printed.out.splitlines(), printed.err.splitlines()


def cells(lines, first):
    """The cells of the printed row that begins with `first`."""
    return next(line.split() for line in lines if line.split()[:1] == [first])


def test_what_is_counted_of_each_chapter():
    made = Scores(survived())
    assert made.chapters() == {"generate": Chapter(2, 2, 2, 2), "render": Chapter(1, 0, 1, 0)}
    assert made.unguarded == ["render.templates"]
    assert made.guards["generate.answers"] == {"a:one_less": ["t.py::counts"]}
    assert made.shares() == {"empty": 0.04, "closing": 0.01}


def test_everything_is_printed(tmp_path, capsys, checkout):
    code, out, _ = ran(capsys, "mutants", write(tmp_path / "s.json"))
    assert code == 0
    assert cells(out, "generate") == ["generate", "2", "2", "2", "2"]
    assert cells(out, "render") == ["render", "1", "0", "0", "0"]
    assert cells(out, "all") == ["all", "3", "2", "2", "2"]
    assert (
        out[out.index("Rules of level must without a lie that is caught:") + 1]
        == "  render.templates"
    )
    assert cells(out, "empty:")[-5:] == ["100", "4", "96", "4.0", "%"]
    assert "made 2026-01-01T00:00:00Z on vLLM 0.33.0 by pytest tests/mutants -k 'a or b'" in out
    assert out[-1] == ("servers that do nothing pass at most 4.0 % (empty); 2 of 2 lies are caught")
    assert not any("checkout" in line for line in out)


def test_which_lies_guard_a_rule(tmp_path, capsys, checkout):
    file = write(tmp_path / "s.json")
    code, out, _ = ran(capsys, "mutants", file, "--rule", "generate.words")
    assert code == 0
    assert out[:-1] == ["generate.words", "  a:no_words: Refusals are empty.", "    t.py::words"]
    _, out, _ = ran(capsys, "mutants", file, "--verbose")
    start = out.index("generate.answers")
    assert out[start + 1 : start + 3] == ["  a:one_less: Usage is one less.", "    t.py::counts"]
    assert "render.templates: no lie" in out
    code, out, told = ran(capsys, "mutants", file, "--rule", "generate.nothing")
    assert (code, out, told) == (1, [], ["There is no rule generate.nothing in the scores."])


def test_a_survivor_is_told_and_fails(tmp_path, capsys):
    code, out, _ = ran(capsys, "mutants", write(tmp_path / "s.json", survived()))
    assert code == 1
    start = out.index("survived b:survivor: The template is another.")
    assert out[start + 1] == "  passed though it must fail: t.py::temp"
    assert out[-1].endswith("2 of 3 lies are caught; exit code 1: 1 lie is not caught")


@pytest.mark.parametrize(("passed", "code"), [(4, 0), (5, 1)])
def test_a_null_may_pass_less_than_a_twentieth(tmp_path, capsys, passed, code):
    made = document(nulls={"empty": null(passed=passed)})
    assert ran(capsys, "mutants", write(tmp_path / "s.json", made))[0] == code


def test_how_the_checkout_differs_is_one_line(tmp_path, capsys, checkout):
    checkout.write_text('"a:one_less" = ["t.py::counts"]\n"a:new" = ["t.py::new"]\n')
    code, out, _ = ran(capsys, "mutants", write(tmp_path / "s.json"))
    assert code == 0
    assert out[-2] == (
        "The scores are not those of this checkout; not in it: 1 mutant (a:new); "
        "no longer mutants: 1 mutant (a:no_words)."
    )


def test_without_scores_it_says_how_to_make_them(tmp_path, capsys):
    code, out, told = ran(capsys, "mutants", tmp_path / "none.json")
    assert (code, out) == (1, [])
    assert told == [
        f"{tmp_path / 'none.json'}: there are no scores; "
        "pytest tests/mutants tests/nulls --scores reports/scores.json makes them."
    ]


def changed(path, value):
    made = document()
    *outer, last = path.split("/")
    place = made
    for key in outer:
        place = place[int(key) if isinstance(place, list) else key]
    place[last] = value
    return json.dumps(made).encode()


BROKEN = [
    (b"", "not a file of scores: Expecting value"),
    (b'{"schema": 1', "not a file of scores: "),
    (b"[" * 100_000, "not a file of scores: "),
    (b"[]", "not a file of scores: [] is not of type 'object'"),
    (b"\x1b[2J", "not a file of scores: "),
    (changed("schema", 2), "schema version 2 is unknown: this tokenwire reads 1"),
    (changed("more", 1), "Additional properties are not allowed ('more' was unexpected)"),
    (changed("runs", []), "runs: [] should be non-empty"),
    (changed("runs", [RUN, RUN | {"release": "0.32.0"}]), "its runs are of several releases"),
    (changed("runs/0/made", "now"), "runs/0/made: 'now' does not match"),
    (changed("rules", {"a.b": "may"}), "rules/a.b: 'may' is not one of"),
    (changed("mutants/a:one_less/cases", {}), "mutants/a:one_less/cases: {} should be non-empty"),
    (changed("mutants/a:one_less/lie", "x" * 5000), "mutants/a:one_less/lie: "),
    (changed("mutants/a:one_less/run", 1), "the run of a:one_less is not in it"),
    (changed("mutants/a:one_less/caught", False), "whether a:one_less was caught is not what its cases say"),
    (changed("nulls/empty/cases", 0), "nulls/empty/cases: 0 is less than the minimum of 1"),
    (changed("nulls/empty/cases", 99), "the counts of empty are not those of its cases"),
    (changed("nulls/empty/counts", {"well": 100}), "nulls/empty/counts: 'well' is not one of"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "told"), BROKEN)
def test_a_broken_file_is_one_sentence(tmp_path, capsys, data, told):
    file = tmp_path / "s.json"
    file.write_bytes(data)
    code, out, said = ran(capsys, "mutants", file)
    assert (code, out, len(said)) == (1, [], 1)
    assert said[0].startswith(f"{file}: not a file of scores: ")
    assert told in said[0]
    assert len(said[0]) < 600


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(scores, "LARGEST", 100)
    with pytest.raises(ReportProblem, match=r"larger than any this tool writes"):
        scores.read(write(tmp_path / "s.json"))


def test_what_a_file_says_cannot_steer_the_terminal():
    name = "\x1b[2J\u202e[bold]"
    made = document(
        mutants={name: mutant(EVIL, name, failed=False, case=name)}, nulls={name: null(EVIL)}
    )
    for options in ({"verbose": True}, {"rule": name}, {}):
        made["rules"] = {name: "must"}
        out = io.StringIO()
        assert print_scores(Scores(made), console=Console(file=out, width=80), **options) == 1
        assert not set("\x1b\u202e\x00\x0b\ud800\r") & set(out.getvalue())
        assert "[bold]" in out.getvalue()


def summary_of(tmp_path, monkeypatch, count, file):
    monkeypatch.setattr(summary, "comparison", lambda cases: scores.comparison(cases, file))
    lines = [report_lines.case(f"t::{number}") for number in range(count)]
    path = report_lines.write(tmp_path / "r.jsonl", *lines)
    out = io.StringIO()
    summary.print_summary(read_report(path), Console(file=out, width=200))
    return out.getvalue().splitlines()


def test_the_scores_stand_beside_the_result_of_a_whole_run(tmp_path, monkeypatch):
    file = write(tmp_path / "scores.json", document(nulls={"empty": null(cases=10, passed=0)}))
    beside, last = summary_of(tmp_path, monkeypatch, 5, file)[-2:]
    assert beside == (
        "for comparison: servers that do nothing pass at most 0.0 % (empty); "
        f"2 of 2 lies are caught ({tmp_path.name}/scores.json)"
    )
    assert last.startswith("tokenwire: 5 cases")


def test_a_small_run_and_a_checkout_without_scores_say_nothing(tmp_path, monkeypatch):
    file = write(tmp_path / "scores.json", document(nulls={"empty": null(cases=10, passed=0)}))
    for count, path in ((4, file), (5, tmp_path / "none.json")):
        lines = summary_of(tmp_path, monkeypatch, count, path)
        assert not any("comparison" in line for line in lines)


def test_a_broken_file_does_not_end_a_summary(tmp_path, monkeypatch):
    file = tmp_path / "scores.json"
    file.write_text("{")
    beside, last = summary_of(tmp_path, monkeypatch, 1, file)[-2:]
    assert beside.startswith(f"for comparison: {file}: not a file of scores: ")
    assert last.startswith("tokenwire: 1 case ")


def test_the_committed_scores_are_whole():
    assert list(scores.read(scores.COMMITTED).problems()) == []


def test_the_page_has_every_lie_and_null():
    part = content.content(report(NEW, *cases(NEW)), scores=Scores(survived())).index["scores"]
    assert part["chapters"] == [["generate", 2, 2, 2, 2], ["render", 1, 0, 1, 0]]
    assert [line[1:4] for line in part["lies"]][-1] == [
        "b:survivor",
        "The template is another.",
        False,
    ]
    assert part["lies"][0][4] == [["t.py::counts", True, ["generate.counts", "generate.answers"]]]
    ends = dict(zip(part["ends"], part["nulls"][0][3], strict=True))
    assert part["nulls"][0][:3] == ["empty", "200 and nothing in it.", "4.0 %"]
    assert (ends["passed"], ends["failed"], ends["error"]) == (4, 96, 0)
    assert content.content(report(NEW, *cases(NEW))).index["scores"] is None


def test_the_page_takes_the_scores_that_are_named_or_those_of_the_checkout(
    tmp_path, monkeypatch, capsys
):
    path = report_lines.write(tmp_path / "r.jsonl", report_lines.case())
    lie = "A lie that no other file tells."
    file = write(tmp_path / "s.json", document(mutants={"a:x": mutant(lie, "generate.counts")}))
    monkeypatch.setattr(command.scored, "committed", lambda: None)
    assert command.main(["html", str(path)]) == 0
    assert lie not in (tmp_path / "r.html").read_text()
    assert command.main(["html", str(path), "--scores", str(file)]) == 0
    assert lie in (tmp_path / "r.html").read_text()
    monkeypatch.setattr(command.scored, "committed", lambda: scores.read(file))
    assert command.main(["html", str(path)]) == 0
    assert lie in (tmp_path / "r.html").read_text()
    capsys.readouterr()
    code, _, told = ran(capsys, "html", path, "--scores", tmp_path / "none.json")
    assert (code, len(told)) == (1, 1)
