"""The live line of real runs in a real pseudo-terminal."""

import json
import os
import signal
import subprocess
import time

import pytest

from fixtures.nodes.pool import SHARED_POOL
from tests.live.running import SUITE, PytestRun
from tests.terminal import Terminal, plain, screen

TWO_CASES = (*SUITE, "-k", "test_passes or test_fails")
LOOKED_AT = {"TERM": "xterm", "CI": ""}
FAILED = (
    "failed tests/live/suite/ending_cases.py::test_fails[scripted]: AssertionError: assert 2 == 3"
)
LINE = "of 2 cases"


@pytest.fixture
def terminal():
    return Terminal()


@pytest.fixture
def quick(pool_address):
    """The environment of a run that somebody looks at, its nodes those of this process's pool."""
    return LOOKED_AT | {SHARED_POOL: json.dumps(pool_address)}


@pytest.mark.parametrize("workers", ["0", "1"])
def test_one_line_in_a_terminal_and_the_summary_after_it(tmp_path, terminal, quick, workers):
    run = in_terminal(terminal, tmp_path, *TWO_CASES, "-n", workers, variables=quick)
    assert run.wait() == 1
    output = plain(terminal.close())
    assert LINE in output
    assert f"\r\x1b[2K{FAILED}\r\n" in output
    assert f"{LINE}, 1 failed" in output
    lines = screen(output)
    assert not [line for line in lines if LINE in line]
    before, after = lines[: lines.index(FAILED)], lines[lines.index(FAILED) + 1 :]
    assert "= FAILURES =" in " ".join(after)
    assert any(line.startswith("tokenwire: 2 cases on reference@") for line in after)
    assert not [line for line in before if line.startswith("tests/live/suite")]
    assert not [line for line in lines if "%]" in line]


def test_nothing_but_plain_lines_under_ci(tmp_path, terminal, quick):
    run = in_terminal(terminal, tmp_path, *TWO_CASES, variables=quick | {"CI": "true"})
    assert run.wait() == 1
    output = plain(terminal.close())
    assert "\x1b" not in output
    assert LINE not in output
    assert "tests/live/suite/ending_cases.py .F" in output


def test_nothing_but_plain_lines_where_stderr_is_a_pipe(tmp_path, terminal, quick):
    run = PytestRun(
        tmp_path, *TWO_CASES, variables=quick, stdout=terminal.end, stderr=subprocess.PIPE
    )
    assert run.wait() == 1
    output = plain(terminal.close())
    assert "\x1b" not in output + run.errors
    assert LINE not in output + run.errors
    assert "tests/live/suite/ending_cases.py .F" in output


def test_a_file_that_pytest_writes_to_has_no_escapes(tmp_path, terminal, quick):
    with (tmp_path / "log").open("w+") as log:
        run = PytestRun(
            tmp_path, *TWO_CASES, variables=quick, stdout=log.fileno(), stderr=terminal.end
        )
        assert run.wait() == 1
        log.seek(0)
        written = log.read()
    assert screen(plain(terminal.close())) == [FAILED]
    assert f"{LINE}, 1 failed" in plain(terminal.output)
    assert "\x1b" not in written
    assert LINE not in written and "= FAILURES =" in written


def test_a_comparison_shows_the_line_of_the_side_under_way(tmp_path, terminal, quick):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir(), new.mkdir()
    assert PytestRun(old, *TWO_CASES, variables=quick).wait() == 1
    arguments = (*TWO_CASES, "--against", str(old / "report.jsonl"))
    run = in_terminal(terminal, new, *arguments, variables=quick)
    assert run.wait() == 0
    output = plain(terminal.close())
    assert f"{LINE}, 1 failed" in output
    assert not [line for line in screen(output) if LINE in line]
    assert screen(output).count(FAILED) == 1


@pytest.mark.parametrize("workers", ["0", "1"])
def test_ctrl_c_takes_the_line_away_and_prints_the_summary(
    tmp_path, terminal, monkeypatch, workers
):
    """While the node starts, in a pool of the run's own, so that there is something to wait for."""
    monkeypatch.delenv(SHARED_POOL, raising=False)
    run = in_terminal(terminal, tmp_path, *TWO_CASES, "-n", workers, variables=LOOKED_AT)
    until(terminal, run, f"0 {LINE}; starting vLLM")
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.wait(60) == pytest.ExitCode.INTERRUPTED
    output = plain(terminal.close())
    lines = screen(output)
    assert not [line for line in lines if LINE in line]
    assert any("KeyboardInterrupt" in line for line in lines)
    assert any(line.startswith("tokenwire: ") for line in lines)
    assert_cursor_is_shown(output)


def test_a_killed_run_leaves_the_cursor(tmp_path, terminal, quick):
    run = in_terminal(terminal, tmp_path, *SUITE, "-k", "test_hangs", variables=quick)
    until(terminal, run, "0 of 1 cases")
    os.killpg(run.process.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    assert_cursor_is_shown(terminal.close())


def in_terminal(terminal: Terminal, folder, *arguments: str, variables: dict) -> PytestRun:
    return PytestRun(
        folder, *arguments, variables=variables, stdout=terminal.end, stderr=terminal.end
    )


def until(terminal: Terminal, run: PytestRun, text: str) -> None:
    """Wait until `text` was written."""
    limit = time.monotonic() + 60
    while text not in plain(terminal.output):
        assert run.process.poll() is None and time.monotonic() < limit, terminal.output
        time.sleep(0.05)


def assert_cursor_is_shown(output: str) -> None:
    assert output.rfind("\x1b[?25l") <= output.rfind("\x1b[?25h")
