"""However a case or a run ends, the verdict is right and nothing is left."""

import os
import shutil
import signal
import time

import pytest

from fixtures.outcome import SUITE as SUITE_FOLDER
from reports.record import ReportProblem
from tests.live.running import SUITE, PytestRun


def test_each_ending_has_its_status(tmp_path):
    run = PytestRun(tmp_path, *SUITE, "-k", "not hangs and not worker_dies")
    assert run.wait() == 1
    assert run.statuses() == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_trips_over_the_answer": "failed",
        "test_skips": "error",
        "test_breaks_in_the_harness": "error",
        "test_node_dies": "error",
        "test_node_is_replaced_after_a_death": "passed",
        "test_is_an_error": "error",
        "test_a_lone_surrogate_travels": "failed",
        "test_engine_dies": "error",
        "test_its_node_is_replaced": "passed",
    }
    messages = {
        case["id"].rpartition("::")[2]: case.get("message", "") for case in run.report().cases
    }
    assert "ended with signal 9" in messages["test_node_dies[scripted]"]
    assert (
        "unrecognized arguments: --no-such-flag"
        in messages["test_is_an_error[scripted-no-such-flag]"]
    )
    assert run.nothing_left_within(10)


def test_a_lost_worker_is_an_error(tmp_path):
    run = PytestRun(tmp_path, *SUITE, "-n", "1", "-k", "worker_dies or passes")
    assert run.wait() == 1
    assert run.statuses() == {"test_passes": "passed", "test_worker_dies": "error"}
    assert run.nothing_left_within(10)


def test_no_case_is_no_success(tmp_path):
    run = PytestRun(tmp_path, *SUITE, "-k", "nothing_has_this_name")
    assert run.wait() == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "not one case was reported" in run.output


@pytest.mark.parametrize("workers", ["0", "2"])
def test_ctrl_c_ends_everything(tmp_path, workers):
    run = PytestRun(tmp_path, *SUITE, "-n", workers, "-k", "hangs or passes", "-v")
    _until_a_case_passed(run)
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.wait(30) == pytest.ExitCode.INTERRUPTED
    assert run.nothing_left_within(10)
    assert "pytest was stopped (interrupted)." in run.report().footer["problems"]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_controller_leaves_nothing_but_finished_results(tmp_path, sent):
    run = PytestRun(tmp_path, *SUITE, "-n", "1", "-k", "hangs or passes")
    _until_a_case_passed(run)
    run.process.send_signal(sent)
    run.process.wait(30)
    assert run.nothing_left_within(10)
    assert b'"status":"passed"' in run.report_file.read_bytes()
    with pytest.raises(ReportProblem, match="the run that wrote it did not end"):
        run.report()


def test_a_lone_surrogate_travels_from_a_worker(tmp_path):
    run = PytestRun(tmp_path, *SUITE, "-n", "1", "-k", "surrogate")
    assert run.wait() == 1
    assert run.statuses() == {"test_a_lone_surrogate_travels": "failed"}


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("async def test_x(wire): pass", "names no requirement"),
        ('@requirement("a.b")\nasync def test_x(wire): pass', "a.b"),
        (
            '@requirement("generate.full.answers")\n@pytest.mark.xfail\nasync def test_x(wire): pass',
            "carries pytest.mark.xfail",
        ),
        ('pytest.skip("no", allow_module_level=True)', "skips itself"),
    ],
    ids=["none", "unknown", "xfail", "module-skip"],
)
def test_a_case_against_the_rules_is_one_sentence(tmp_path, workers, case, sentence):
    chapter = SUITE_FOLDER / f"zz_{tmp_path.name}"
    chapter.mkdir()
    try:
        head = "import pytest\nfrom fixtures.case import Node, requirement\n"
        (chapter / "test_x.py").write_text(f"{head}\n\n{case}\n")
        run = PytestRun(tmp_path, str(chapter), "-n", workers)
        assert run.wait() != 0
        assert sentence in run.output
        assert "INTERNALERROR" not in run.output
    finally:
        shutil.rmtree(chapter)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--vllm", "0.99.0"], "vLLM release '0.99.0' is not known here"),
        (
            ["--impl", "nonsense"],
            "--impl 'nonsense' is none of reference, stock, rust and MODULE:CALLABLE.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(tmp_path, arguments, sentence):
    run = PytestRun(tmp_path, *SUITE, *arguments)
    assert run.wait() == pytest.ExitCode.USAGE_ERROR
    assert sentence in run.output
    assert "Traceback" not in run.output
    assert run.nothing_left_within(10)


def _until_a_case_passed(run: PytestRun) -> None:
    deadline = time.monotonic() + 300
    while not run.report_file.exists() or b'"status":"passed"' not in run.report_file.read_bytes():
        assert run.process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
