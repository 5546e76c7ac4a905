"""A compact report says what the whole one says of every case, and lacks only the exchanges."""

import pytest

from reports.__main__ import main
from reports.check import ReportProblem
from reports.compact import compact
from reports.compare import compare
from reports.record import read
from tests.unit.report_lines import TARGET, case, exchange, header, write

ROUTE = "POST /v1/x 200"


def shaped(*keys):
    return {ROUTE: {"(body)": ["object"], **{key: ["integer"] for key in keys}}}


@pytest.fixture
def sides(tmp_path):
    head = header(targets=[TARGET])
    old = write(
        tmp_path / "old.jsonl",
        case("t::a", "failed", exchange(), message="x" * 5000, shapes=shaped("id", "gone")),
        case("t::b", "passed", exchange(), exchange(), replay="pytest t::b", shapes=shaped("id")),
        head=head,
        exit_code=1,
        problems=["a worker was lost."],
    )
    new = write(
        tmp_path / "new.jsonl",
        case("t::a", "passed", exchange(), shapes=shaped("id")),
        case("t::b", "failed", exchange(), message="2 != 3", shapes=shaped("id")),
        head=head,
        exit_code=1,
    )
    return old, new


def test_it_compares_as_the_whole_one_does(sides, tmp_path):
    old, new = sides
    compact(old, tmp_path / "small.jsonl")

    def told(file):
        found = compare(read(file), read(new), ())
        return [(it.kind, it.case["id"]) for it in found.changes], found.moves, found.exit_code

    assert told(tmp_path / "small.jsonl") == told(old)
    assert told(old)[1]


def test_run_and_verdicts_stay_and_exchanges_go(sides, tmp_path):
    old, small = sides[0], tmp_path / "small.jsonl"
    assert main(["compact", str(old), "--out", str(small)]) == 0
    whole, kept = read(old), read(small)
    assert (kept.header, kept.footer) == (whole.header, whole.footer)
    assert [len(it["exchanges"]) for it in kept.cases] == [0, 0]
    assert [it["exchanges_left_out"] for it in kept.cases] == [1, 2]
    assert len(kept.cases[0]["message"]) == 1000
    assert "replay" not in kept.cases[1]


@pytest.mark.parametrize(
    ("folder", "file_name"),
    [("/home/me/.cache/tokenwire/", "environments/0.25.1/lib/x.py"), ("/src/", "impl/app.py")],
)
def test_a_server_that_names_its_files_names_no_folder_of_the_machine(tmp_path, folder, file_name):
    said = '400: {"message":"  File \\"%s\\""}'
    line = case("t::a", "failed", exchange(), message=said % (folder + file_name))
    file = write(tmp_path / "a.jsonl", line, head=header(targets=[TARGET]), exit_code=1)
    (kept,) = compact(file, tmp_path / "b.jsonl").cases
    assert kept["message"] == said % file_name


def test_it_does_not_take_the_place_of_the_whole_one(sides):
    with pytest.raises(ReportProblem, match="in the place of a report that is read"):
        compact(sides[0], sides[0])
    assert read(sides[0])


def test_a_report_cut_off_is_refused(sides, tmp_path, capsys):
    sides[0].write_bytes(sides[0].read_bytes()[:-1])
    assert main(["compact", str(sides[0]), "--out", str(tmp_path / "small.jsonl")]) == 1
    assert "the line is cut off" in capsys.readouterr().err
    assert not (tmp_path / "small.jsonl").exists()
