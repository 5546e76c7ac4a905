"""One command of an installation: its output, its progress, and its failure in one sentence."""

import sys
from pathlib import Path

import pytest

from fixtures.releases.command import CommandFailed, cause_in, run


def python(code):
    return [sys.executable, "-c", code]


def test_a_command_gives_its_output_and_shows_notable_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    lines = []
    code = (
        "import os, sys; print(os.getcwd(), 'PYTHONPATH' in os.environ);"
        "print('Downloading torch (180MiB)\\nsecret', file=sys.stderr)"
    )
    assert run(python(code), folder=tmp_path, progress=lines.append) == f"{tmp_path} False\n"
    assert lines == ["Downloading torch (180MiB)"]


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (python("raise OSError('no such thing')"), "OSError: no such thing"),
        (python("import sys; sys.exit(3)"), "ended with status 3"),
        ([Path("/nowhere/uv")], "uv cannot be started: No such file"),
    ],
)
def test_a_failed_command_tells_its_cause(tmp_path, command, cause):
    with pytest.raises(CommandFailed, match=cause):
        run(command, folder=tmp_path, progress=print)


def test_a_command_that_hangs_is_ended(tmp_path):
    with pytest.raises(CommandFailed, match=r"was not done after 0 seconds"):
        run(python("import time; time.sleep(60)"), folder=tmp_path, progress=print, timeout=0.3)


UNSATISFIABLE = """\
  \u00d7 No solution found when resolving dependencies:
  ╰─▶ Because there is no version of foo==1.2.3 and you require
      foo==1.2.3, we can conclude that your requirements are unsatisfiable.

      hint: something long
"""
NO_NETWORK = """\
error: Request failed after 3 retries
  Caused by: Failed to fetch: `index/foo/`
  Caused by: client error (Connect)
  Caused by: failed to lookup address information: Name or service not known
"""
CONFLICT = """\
Using Python 3.11.7 environment at: x
error: No solution found when resolving dependencies
  cause: Because a==1 depends on b>=2, we can conclude that you require b>=2.
         And because you require b==1, your requirements are unsatisfiable.
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            UNSATISFIABLE,
            "Because there is no version of foo==1.2.3 and you require foo==1.2.3, "
            "we can conclude that your requirements are unsatisfiable",
        ),
        (
            NO_NETWORK,
            "Request failed after 3 retries: Failed to fetch: `index/foo/`: "
            "failed to lookup address information: Name or service not known",
        ),
        (
            CONFLICT,
            "No solution found when resolving dependencies: Because a==1 depends on b>=2, we can "
            "conclude that you require b>=2. And because you require b==1, your requirements are "
            "unsatisfiable",
        ),
        ("error: No interpreter found\n", "No interpreter found"),
        ("Traceback (most recent call last):\n  x\nImportError: y\n", "ImportError: y"),
        ("", ""),
        ("x" * 9000, "x" * 500 + "…"),
    ],
)
def test_the_cause_is_one_bounded_line(text, cause):
    assert cause_in(text.splitlines()) == cause
