"""A run over two releases: one pytest each, one report of both, and nothing left however it ends."""

import os
import signal
import time

import psutil
import pytest

from tests.live.running import SUITE, PytestRun

OLD, NEW = "0.32.0", "0.33.0"
TARGETS = [f"reference@{OLD}", f"reference@{NEW}"]
OVER_BOTH = (*SUITE, "--vllm", f"{OLD},{NEW}")


def test_both_releases_are_judged_and_reported(tmp_path):
    run = PytestRun(tmp_path, *OVER_BOTH, "-k", "test_passes or test_fails", "-n", "1")
    assert run.wait() == 1
    report = run.report()
    assert report.header["targets"] == TARGETS
    ends = [
        (case["target"], case["id"].rpartition("::")[2].partition("[")[0], case["status"])
        for case in report.cases
    ]
    assert sorted(ends) == [
        (target, *end)
        for target in TARGETS
        for end in (("test_fails", "failed"), ("test_passes", "passed"))
    ]
    assert all(case["node"].startswith(case["target"]) for case in report.cases)
    assert f"fails on {OLD}..{NEW}" in run.output
    assert run.nothing_left_within(10)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_what_ended(tmp_path, sent):
    run = hanging(tmp_path)
    # Ctrl-C goes to the whole group, a SIGTERM to the one process.
    os.killpg(run.process.pid, sent) if sent == signal.SIGINT else run.process.send_signal(sent)
    assert run.wait(90) == pytest.ExitCode.INTERRUPTED
    report = run.report()
    assert [(case["target"], case["status"]) for case in report.cases][:1] == [
        (TARGETS[0], "passed")
    ]
    problems = report.footer["problems"]
    assert problems[0] == "the run was stopped."
    assert problems[-1] == f"{TARGETS[1]}: not judged, because the run ended before."
    assert "Traceback" not in run.output
    assert run.nothing_left_within(10)


def test_a_killed_pytest_of_one_release_does_not_stop_the_next(tmp_path):
    run = hanging(tmp_path)
    (judging,) = [
        child for child in psutil.Process(run.process.pid).children() if "pytest" in child.cmdline()
    ]
    judging.kill()
    _until(lambda: passed(tmp_path, NEW), run)
    run.process.send_signal(signal.SIGTERM)
    run.wait(90)
    problems = run.report().footer["problems"]
    assert any(f"{TARGETS[0]}: its run ended with signal 9" in problem for problem in problems)
    assert run.nothing_left_within(10)


def test_a_killed_run_leaves_nothing_but_finished_results(tmp_path):
    run = hanging(tmp_path)
    run.process.kill()
    run.process.wait(30)
    assert run.nothing_left_within(10)
    assert passed(tmp_path, OLD)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*SUITE, "--vllm", "0.32.0..0.99.0"], "vLLM release '0.99.0' is not known here"),
        ([*SUITE, "--vllm", "0.33.0..0.32.0"], "'0.33.0..0.32.0' runs backwards"),
        (
            ["-p", "fixtures.plugin", "conformance/nothing", "--vllm", "0.32.0..0.33.0"],
            "file or directory not found: conformance/nothing",
        ),
    ],
    ids=["unknown", "backwards", "no-folder"],
)
def test_bad_input_gets_one_sentence(tmp_path, arguments, sentence):
    run = PytestRun(tmp_path, *arguments)
    assert run.wait() == pytest.ExitCode.USAGE_ERROR
    assert run.output.count(sentence) == 1
    assert "Traceback" not in run.output
    assert not run.report_file.exists()


def hanging(tmp_path) -> PytestRun:
    """A run whose first release passed a case and hangs in the next."""
    run = PytestRun(tmp_path, *OVER_BOTH, "-k", "hangs or passes", "-n", "1")
    _until(lambda: passed(tmp_path, OLD), run)
    return run


def passed(folder, release) -> bool:
    file = folder / release / "report.jsonl"
    return file.exists() and b'"status":"passed"' in file.read_bytes()


def _until(holds, run: PytestRun) -> None:
    deadline = time.monotonic() + 180
    while not holds():
        assert run.process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
