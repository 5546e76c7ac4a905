"""The node host's temporary folder: hosts of several releases share a run's, one by one."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A host whose release needs no import; everything else of it is real.
HOST = """
import sys
from fixtures.nodes import host
host.warm_up = lambda model: "0.0.0"
host.main()
"""


def start(run_folder: Path) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, run_folder, "no model"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert json.loads(process.stdout.readline()) == {"version": "0.0.0"}
    return process


def end(process: subprocess.Popen) -> None:
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


def test_the_runs_folder_goes_with_the_last_host(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    first, second = start(folder), start(folder)
    assert len(list(folder.iterdir())) == 2
    end(first)
    assert len(list(folder.iterdir())) == 1
    end(second)
    assert not folder.exists()


def test_an_unknown_operation_is_answered_with_an_error(tmp_path):
    process = start(tmp_path)
    process.stdin.write('{"op": "dance"}\n')
    process.stdin.flush()
    assert "unknown operation 'dance'" in json.loads(process.stdout.readline())["error"]
    end(process)
