"""One warm pool for many short pytest runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

from fixtures.run import SHARED_POOL
from reports import record

ROOT = Path(__file__).resolve().parents[2]


def run_suite(
    pool_address: dict, folder: Path, *arguments: str, seconds: float = 600
) -> record.Report:
    """Run pytest on an existing pool and return its report; raises ReportProblem without one."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=line", "--report-dir", folder, *arguments],
        cwd=ROOT,
        env={**os.environ, SHARED_POOL: json.dumps(pool_address)},
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    try:
        return record.read(folder / "report.jsonl")
    except record.ReportProblem as problem:
        raise record.ReportProblem(
            f"{problem}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
        ) from None
