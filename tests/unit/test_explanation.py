"""A comparison of two large answers that does not hold is told in bounded time, on CI and with -v."""

import os
import subprocess
import sys

import pytest

from fixtures.outcome import ROOT

CASE = """
def test_large():
    rows = [[{"token": f"t{n % 7}", "logprob": n / 100, "bytes": [n % 256]}] * 3 for n in range(900)]
    other = [[{"token": f"t{n % 5}", "logprob": n / 90, "bytes": [n % 200]}] * 3 for n in range(900)]
    assert rows == other
"""


@pytest.mark.parametrize(("variables", "options"), [({"CI": "true"}, []), ({}, ["-vv"])])
def test_a_large_difference_is_told_soon(tmp_path, variables, options):
    file = tmp_path / "test_large.py"
    file.write_text(CASE)
    words = ("-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "fixtures.explanation")
    run = subprocess.run(
        [sys.executable, *words, "--rootdir", tmp_path, *options, file],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    assert "At index 1 diff" in run.stdout
    assert len(run.stdout) < 10_000


def test_the_variables_are_there_again(monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError):
        assert [1] == [2]
    assert os.environ["CI"] == "true"
