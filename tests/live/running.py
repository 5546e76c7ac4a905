"""Run the small suite, or the whole one, in a process of its own and look at what it leaves."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from reports import record

ROOT = Path(__file__).resolve().parents[2]
# Named so that `pytest tests` does not collect it: most of its cases end badly on purpose.
SUITE = ("-p", "fixtures.plugin", "-o", "python_files=*_cases.py", "tests/live/suite")
TAG = "TOKENWIRE_TEST_TAG"


class PytestRun:
    """`pytest ARGUMENTS` in the repository, its report in `folder`; everything it starts carries a tag.

    `variables` are added to the environment; `stdout` and `stderr` are those of subprocess.Popen, and
    what was written to a pipe stands in `output` and `errors`.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        variables: Mapping[str, str] | None = None,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.STDOUT,
    ) -> None:
        self.report_file = folder / "report.jsonl"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.tag = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "--report-dir", folder, *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                **(variables or {}),
                TAG: self.tag,
                "TMPDIR": str(self.temporary),
            },
            stdout=stdout,
            stderr=stderr,
            text=True,
            start_new_session=True,
            # A shell starts background jobs with Ctrl-C ignored, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.output, self.errors = "", ""

    def wait(self, seconds: float = 300) -> int:
        """The exit code once it ends; TimeoutExpired when it does not, and it is killed then."""
        try:
            self.output, self.errors = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode

    def processes(self) -> list[str]:
        """The command lines of living processes that this run started, itself included."""
        mark = f"{TAG}={self.tag}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append((folder / "cmdline").read_bytes().decode().replace("\0", " "))
            except OSError:
                continue  # it ended, or is a kernel's
        return [line for line in found if line]

    def nothing_left_within(self, seconds: float) -> bool:
        """Whether every process of this run and every temporary folder of its pool is gone in time."""
        deadline = time.monotonic() + seconds
        while self.processes() or list(self.temporary.glob("tokenwire-*")):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def report(self) -> record.Report:
        """Its report; raises ReportProblem for one without an end."""
        return record.read(self.report_file)

    def statuses(self) -> dict[str, str]:
        """Status by the case's own name."""
        return {
            case["id"].rpartition("::")[2].partition("[")[0]: case["status"]
            for case in self.report().cases
        }
