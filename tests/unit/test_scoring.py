"""What `--scores FILE` writes, lays over an older file, and refuses; with runs of pytest that need no node."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reports import scores
from reports.check import ReportProblem
from reports.record import Report
from tests import scoring
from tests.scoring import Found
from tests.unit.report_lines import header
from tests.unit.score_file import RUN, document, mutant, write

ROOT = Path(__file__).resolve().parents[2]
ONE, TWO = list(scores.lies_of(ROOT))[:2]
RULES = ["generate.full.answers"]


def reported(*statuses):
    return [
        {"id": f"t::{at}", "status": status, "requirements": RULES}
        for at, status in enumerate(statuses)
    ]


def taken(*statuses, named=None, honest=("t::0", "t::1")):
    found = Found()
    cases = reported(*statuses)
    found.mutant(ONE, "A  lie\n told.", named or [case["id"] for case in cases], cases, set(honest))
    return found.mutants.get(ONE)


def test_a_lie_is_caught_by_a_case_that_fails_on_it_alone():
    assert taken("failed") == {
        "lie": "A lie told.", "caught": True, "cases": {"t::0": {"failed": True, "rules": RULES}}
    }  # fmt: skip
    assert taken("failed", "passed")["caught"]
    for statuses in (["passed"], ["unsupported"], ["passed", "not_judged"]):
        assert not taken(*statuses)["caught"]
    # What fails on the reference too has caught nothing.
    assert not taken("failed", honest=())["caught"]


def test_a_lie_whose_cases_were_not_all_judged_is_not_kept():
    assert taken("failed", "error") is None
    assert taken("failed", named=["t::0", "t::1"]) is None
    assert taken(named=["t::0"]) is None


def test_a_null_is_kept_where_its_run_came_to_its_end():
    counts = {"passed": 1, "failed": 2}
    found = Found()
    found.null(
        "empty", "Nothing.", Report(header(), (), {"planned": 4, "reported": 3, "counts": counts})
    )
    assert found.nulls == {}
    found.null(
        "empty", "Nothing.", Report(header(), (), {"planned": 3, "reported": 3, "counts": counts})
    )
    assert found.nulls == {"empty": {"does": "Nothing.", "cases": 3, "counts": counts}}


def older(**changes):
    return scores.check(
        document(**{"runs": [RUN | {"release": scoring.newest()}]} | changes), "older"
    )


def test_a_part_is_laid_over_what_was_there():
    before = older(
        mutants={
            ONE: mutant("Old.", *RULES),
            TWO: mutant("Kept.", *RULES),
            "gone:x": mutant("Gone.", *RULES),
        }
    )
    found = Found()
    found.mutant(ONE, "New.", ["t::0"], reported("failed"), {"t::0"})
    made = found.scores(["-k", "one"], before)
    assert {name: lie["lie"] for name, lie in made.mutants.items()} == {ONE: "New.", TWO: "Kept."}
    assert [made.mutants[name]["run"] for name in (ONE, TWO)] == [1, 0]
    assert made.nulls == before.nulls
    assert [run["command"] for run in made.document["runs"]] == [
        RUN["command"],
        ["pytest", "-k", "one"],
    ]
    # A run of which nothing is left is forgotten.
    found.mutant(TWO, "New.", ["t::0"], reported("passed"), {"t::0"})
    made = found.scores(["again"], scores.Scores({**made.document, "nulls": {}}))
    assert [run["command"] for run in made.document["runs"]] == [["pytest", "again"]]
    assert made.survived == [TWO]


def test_nothing_judged_is_nothing_to_keep():
    with pytest.raises(ReportProblem, match=r"nothing was judged"):
        Found().scores([])


def test_another_release_needs_a_whole_run():
    other = scores.check(document(runs=[RUN | {"release": "0.1.0"}], mutants={}), "older")
    part = {"mutants": {ONE}, "nulls": set()}
    told = scoring.refusal(Path("s.json"), other, part)
    assert told.startswith("--scores s.json: it holds 2 mutants and nulls, such as empty, on 0.1.0")
    assert scoring.refusal(Path("s.json"), older(), part) is None
    everything = {kind: set(names) for kind, names in scoring.names_of_today().items()}
    assert scoring.refusal(Path("s.json"), other, everything) is None
    found = Found()
    found.mutant(ONE, "New.", ["t::0"], reported("failed"), {"t::0"})
    assert found.scores([], other).nulls == {}


MUTANTS = f"""
import os, signal
import pytest

@pytest.mark.parametrize("mutant", {[ONE, TWO]})
def test_lie(found, mutant):
    what = os.environ["LIE"]
    if what == "interrupt":
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
        os.kill(os.getpid(), signal.SIGINT)
    case = {{"id": "t::0", "status": "failed", "requirements": {RULES}}}
    if what != "broken":
        found.mutant(mutant, "A lie.", ["t::0"], [case], {{"t::0"}})
    assert what == "caught"

def test_other():
    pass
"""


@pytest.fixture
def run(tmp_path):
    """`run(LIE, *arguments)`: pytest with two mutants that need no node, and what it printed."""
    folder = tmp_path / "mutants"
    folder.mkdir()
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "test_lies.py").write_text(MUTANTS)

    def start(lie, *arguments):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "mutants", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "LIE": lie},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout + done.stderr

    return start


def test_a_run_writes_its_file_and_only_where_it_is_asked_to(run, tmp_path):
    assert run("caught")[0] == 0
    assert {path.name for path in tmp_path.iterdir()} <= {"mutants", "conftest.py", "__pycache__"}
    code, said = run("caught", "--scores", "s.json")
    assert (code, "kept in s.json: of mutants 2, of nulls 0" in said) == (0, True)
    made = scores.read(tmp_path / "s.json")
    assert list(made.mutants) == [ONE, TWO]
    assert made.document["runs"][0]["command"] == [
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "mutants",
        "--scores",
        "s.json",
    ]
    # A second run of one of them leaves the other as it was.
    assert run("caught", "--scores", "s.json", "-k", ONE)[0] == 0
    again = scores.read(tmp_path / "s.json")
    assert {name: lie["run"] for name, lie in again.mutants.items()} == {ONE: 1, TWO: 0}


@pytest.mark.parametrize(
    ("lie", "arguments", "code", "said"),
    [
        ("interrupt", [], 2, "is left as it was, because the run did not come to its end"),
        ("survived", ["-x"], 1, "is left as it was, because the run did not come to its end"),
        (
            "broken",
            [],
            1,
            f"is left as it was: nothing was judged.; could not be judged: {min(ONE, TWO)}, ",
        ),
        ("caught", ["-n", "1"], 4, "mutants and nulls run in one process, so without -n"),
        ("caught", ["-k", "other"], 4, "this run has no mutant and no null"),
    ],
)
def test_what_did_not_end_or_cannot_be_kept_leaves_the_file(
    run, tmp_path, lie, arguments, code, said
):
    made = older(mutants={})
    file = write(tmp_path / "s.json", dict(made.document))
    before = file.read_bytes()
    ended, printed = run(lie, "--scores", "s.json", *arguments)
    assert (ended, said in printed) == (code, True), printed
    assert file.read_bytes() == before
    assert not list(tmp_path.glob(".s.json*"))


def test_a_broken_file_and_a_folder_that_is_not_there_are_refused_at_once(run, tmp_path):
    (tmp_path / "s.json").write_text("{")
    code, said = run("caught", "--scores", "s.json")
    assert (code, "--scores s.json: not a file of scores: " in said, "Traceback" in said) == (
        4,
        True,
        False,
    )
    code, said = run("caught", "--scores", "no/s.json")
    assert (code, "--scores no/s.json: there is no folder no." in said) == (4, True)
