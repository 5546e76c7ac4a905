"""The upgrade matrix as a reader sees it: the worst of each cell, red where there is no outcome."""

import io

import pytest
from rich.console import Console

from reports import __main__ as command
from reports.grid import print_grids
from reports.record import ReportProblem, read
from tests.unit.report_lines import TARGET, case, header, write


def cell(id, outcome, render="0.24.0", generate="0.33.0", status="passed", **changes):
    """A case line of one cell; an outcome of None is a case that ended before it had one."""
    own = {
        "render": f"stock@{render}",
        "generate": f"stock@{generate}",
        "exchange": "chat[a]",
        "expected": outcome or "breaks",
        "rule": f"rule-{outcome}",
        "reason": "so it is",
        "reference": "EVOLUTION 3.2",
        **({"outcome": outcome} if outcome else {}),
    }
    return case(id, status, cell=own | changes)


def printed(tmp_path, *cases, exchange=None, **footer):
    out = io.StringIO()
    report = read(write(tmp_path / "r.jsonl", *cases, **footer))
    print_grids(report, exchange, Console(file=out, width=80))
    return out.getvalue().splitlines()


def test_rows_and_columns_stand_in_the_order_of_releases(tmp_path):
    lines = printed(
        tmp_path,
        cell("a", "interoperates", "0.33.0", "0.9.0"),
        cell("b", "degrades", "0.9.0", "0.33.0"),
        cell("c", "refuses_cleanly", "0.9.0", "0.9.0"),
        cell("d", "breaks", "0.33.0", "0.33.0"),
    )
    assert lines[1:5] == [
        "render (rows) and generate (columns)",
        "              9 33",
        " stock@0.9.0  r  d",
        "stock@0.33.0  .  B",
    ]


def test_a_cell_shows_the_worst_of_its_exchanges(tmp_path):
    worst = ["interoperates", "refuses_cleanly", "degrades", "breaks"]
    for number in range(1, 5):
        cases = [cell(outcome, outcome) for outcome in worst[:number]]
        assert printed(tmp_path, *cases)[3].endswith(" .rdB"[number])


def test_a_cell_that_failed_or_never_ran_is_not_missing(tmp_path):
    unexpected = cell("a", "breaks", expected="interoperates", status="failed")
    lines = printed(tmp_path, unexpected, exit_code=1)
    assert lines[3] == "stock@0.24.0  !"
    lines = printed(tmp_path, unexpected, cell("b", None, status="error"), exit_code=1)
    assert lines[3] == "stock@0.24.0  E"


def test_each_rule_and_each_contradiction_has_its_line(tmp_path):
    lines = printed(
        tmp_path,
        cell("a", "degrades", contradicts="EVOLUTION 3.2 says it is kept"),
        cell("b", "degrades", "0.33.0", contradicts="EVOLUTION 3.2 says it is kept"),
        cell("c", "interoperates", "0.23.0"),
    )
    assert "    2  degrades         rule-degrades: so it is (EVOLUTION 3.2)" in lines
    assert "    1  interoperates    rule-interoperates: so it is (EVOLUTION 3.2)" in lines
    assert lines[-1] == "  rule-degrades: EVOLUTION 3.2 says it is kept; but it degrades"


@pytest.mark.parametrize(("exchange", "seen"), [("chat", 2), ("chat[a]", 1), ("chat[b]", 1)])
def test_one_exchange_alone(tmp_path, exchange, seen):
    cases = [cell("a", "breaks"), cell("b", "breaks", exchange="chat[b]"), case("t::x")]
    lines = printed(tmp_path, *cases, exchange=exchange)
    assert f"    {seen}  breaks           rule-breaks: so it is (EVOLUTION 3.2)" in lines


def test_a_cell_of_three_roles_stands_between_its_ends(tmp_path):
    lines = printed(tmp_path, cell("a", "breaks", derender="stock@0.31.0"))
    assert lines[1:4] == [
        "render (rows) and derender (columns)",
        "             31",
        "stock@0.24.0  B",
    ]


def test_a_report_without_the_matrix_is_one_sentence(tmp_path, capsys):
    path = write(tmp_path / "r.jsonl", case())
    assert command.main(["grid", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}: no cell of the upgrade matrix.\n"
    assert command.main(["grid", str(path), "--exchange", "chat"]) == 1
    assert capsys.readouterr().err == f"{path}: no cell of the upgrade matrix for chat.\n"


def test_no_label_steers_the_terminal(tmp_path):
    head = header(targets=[TARGET, "stock@\x1b[2J", "::error::x@1"])
    own = cell("a", "breaks", generate="\x1b[2J", render="1")
    own["cell"]["render"] = "::error::x@1"
    lines = printed(tmp_path, own, head=head)
    assert lines[2:4] == [r"             \x1b[2J", "::error::x@1       B"]


def test_no_label_is_a_command_of_github(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    own = cell("a", "breaks")
    own["cell"]["render"] = "::error::x@1"
    assert printed(tmp_path, own)[3] == r"\::error::x@1  B"


def test_a_cell_cannot_pass_with_another_outcome(tmp_path):
    with pytest.raises(ReportProblem, match="passed although its cell did not end as expected"):
        write(tmp_path / "r.jsonl", cell("a", "breaks", expected="degrades"))
