"""The live line: what it says, when it is wanted, and what stands on the terminal around it."""

import os
import pty
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from _pytest._io import TerminalWriter

from fixtures import progress
from fixtures.live_line import REDRAWS_PER_SECOND, Line, say
from fixtures.nodes.pool import Node, Pool
from fixtures.nodes.spec import NodeSpec
from fixtures.progress import Progress, clock, described, one_line, time_left
from fixtures.verdict import Judged
from tests.terminal import Terminal, plain, screen


class Config:
    """A pytest config as far as the live line asks it."""

    def __init__(self, reporter=None, plugins=("terminal",), **options) -> None:
        self.options = {"verbose": 0, "capture": "fd"} | options
        self.reporter = reporter
        self.pluginmanager = SimpleNamespace(
            hasplugin=plugins.__contains__, getplugin=lambda name: reporter
        )

    def getoption(self, name, default):
        return self.options.get(name, default)

    def get_terminal_writer(self):
        return self.reporter.writer


class Reporter:
    def __init__(self) -> None:
        self.showfspath = True
        self.writer = TerminalWriter(sys.__stdout__)


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 60 columns, which this process takes for its own."""
    found = Terminal(60)
    monkeypatch.setenv("TERM", "xterm")
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    with os.fdopen(os.dup(found.end), "w", encoding="utf-8") as stream:
        for name in ("__stdout__", "__stderr__"):
            monkeypatch.setattr(sys, name, stream)
        yield found
        monkeypatch.undo()
    found.close()


def shown(terminal: Terminal, until: str) -> str:
    """What was written, once `until` was; without colors."""
    limit = time.monotonic() + 10
    while until not in plain(terminal.output):
        assert time.monotonic() < limit, terminal.output
        time.sleep(0.01)
    return plain(terminal.output)


def case(status="passed", message="", id="conformance/x/test_y.py::test_z[real]"):
    return Judged(id, "stock@0.33.0", ("x.y",), status, status, message)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (62.9, "1:02"), (3600, "1:00:00"), (36061, "10:01:01")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("done", "planned", "seconds", "text"),
    [
        (0, 1600, 0, ""),
        (1, 1600, 60, ""),
        (160, 1600, 60, ""),  # too few of all
        (161, 1600, 60, "about 9 min left"),
        (161, 1600, 9.9, ""),  # too soon
        (10, 20, 60, ""),  # too few
        (11, 20, 60, "less than a minute left"),
        (11, 21, 60, "about 1 min left"),
        (801, 1601, 8000, "about 2 h 13 min left"),
        (1600, 1600, 300, ""),
        (12, 0, 300, ""),
    ],
)
def test_time_left(done, planned, seconds, text):
    assert time_left(done, planned, seconds) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((3, {}, 0, "", ["vLLM 0.33.0"]), "0:03  collecting; starting vLLM 0.33.0"),
        ((5, {}, 9, "", ["a #1", "b #2", "c #3"]), "0:05  0 of 9 cases; starting a #1 and 2 more"),
        (
            (
                83,
                {"passed": 7, "failed": 2, "error": 1, "unsupported": 2},
                99,
                "about 9 min left",
                [],
            ),
            "1:23  12 of 99 cases, 2 failed, 1 error, about 9 min left",
        ),
        ((1, {"error": 2}, 2, "", []), "0:01  2 of 2 cases, 2 errors"),
        ((1, {"known_failing": 1}, 2, "", ["\x1b[2J"]), "0:01  1 of 2 cases; starting \\x1b[2J"),
    ],
)
def test_what_the_line_says(arguments, text):
    assert described(*arguments).plain == text


def test_what_went_wrong_is_one_bounded_line_without_control_characters():
    hostile = "AssertionError: \x1b[2J\x07\r\u202e" + "x" * 1000 + "\nsecond line"
    text = one_line(case("failed", hostile)).plain
    assert text.startswith(
        "failed conformance/x/test_y.py::test_z[real]: AssertionError: \\x1b[2J\\x07\\r\\u202exxx"
    )
    assert text.isprintable() and len(text) < 400
    assert one_line(case("error")).plain == "error conformance/x/test_y.py::test_z[real]"


@pytest.mark.parametrize(
    ("config", "variables", "wanted"),
    [
        (Config(), {}, True),
        (Config(), {"CI": ""}, True),
        (Config(capture="sys"), {}, True),
        (Config(), {"CI": "true"}, False),
        (Config(), {"TERM": "dumb"}, False),
        (Config(verbose=1), {}, False),
        (Config(verbose=-1), {}, False),
        (Config(capture="no"), {}, False),
        (Config(capture="tee-sys"), {}, False),
        (Config(collectonly=True), {}, False),
        (Config(usepdb=True), {}, False),
        (Config(trace=True), {}, False),
        (Config(setupshow=True), {}, False),
        (Config(plugins=()), {}, False),
    ],
)
def test_when_it_is_wanted(terminal, monkeypatch, config, variables, wanted):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert progress.is_wanted(config) is wanted


def test_it_is_not_wanted_where_nobody_looks_on(terminal, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "__stderr__", (tmp_path / "log").open("w"))
    assert not progress.is_wanted(Config())
    monkeypatch.setattr(sys, "__stderr__", None)
    assert not progress.is_wanted(Config())


def test_without_a_line_it_is_said_plainly(monkeypatch, tmp_path):
    with (tmp_path / "log").open("w+") as log:
        monkeypatch.setattr(sys, "__stderr__", log)
        say("vLLM 0.33.0: verifying")
        log.seek(0)
        assert log.read() == "vLLM 0.33.0: verifying\n"


def test_what_is_said_stands_above_the_line_and_the_line_goes(terminal):
    with progress.of_preparation(Config()):
        say("vLLM 0.33.0: verifying")
        shown(terminal, "0:00  vLLM 0.33.0: verifying")
        say("a log:\n\tone\x1b[2J\ntwo")
        assert "progress" in {thread.name for thread in threading.enumerate()}
    assert "progress" not in {thread.name for thread in threading.enumerate()}
    say("after it")
    output = shown(terminal, "after it")
    assert screen(output) == [
        "vLLM 0.33.0: verifying", "a log:", "        one\\x1b[2J", "two", "after it",
    ]  # fmt: skip


def test_a_line_that_is_too_long_stays_one_line(terminal):
    long = progress.Text("0123456789" * 20)
    with Line(lambda: long, Config()):
        shown(terminal, "0123456789")
    output = shown(terminal, "\x1b[1A")
    assert len(screen(output.partition("\n")[0])[0]) == 59
    assert output.count("\n") == 1  # of its end
    assert screen(output) == [""]


def test_a_long_line_that_is_said_is_whole(terminal):
    with Line(lambda: progress.Text("live"), Config()):
        say("0123456789" * 20)
    assert "0123456789" * 20 in screen(shown(terminal, "\x1b[1A"))


def test_pytest_writes_whole_lines_above_and_gets_its_terminal_back(terminal):
    reporter = Reporter()
    own, config = reporter.writer._file, Config(reporter)
    with Line(lambda: progress.Text("live"), config):
        assert not reporter.showfspath
        reporter.writer.line("[gw0] node down", red=True)
        reporter.writer.write("\rcreated: 1/2 workers", flush=True, bold=True)
        reporter.writer.write("\r2 workers [10 items]    ", bold=True)
        reporter.writer.line("")
        assert reporter.writer._file.isatty()
    assert reporter.showfspath and reporter.writer._file is own
    reporter.writer.line("summary")
    reporter.writer.flush()
    assert screen(shown(terminal, "summary\r\n")) == [
        "[gw0] node down", "2 workers [10 items]", "summary",
    ]  # fmt: skip


def test_what_pytest_writes_to_a_file_stays_there(terminal, tmp_path):
    reporter = Reporter()
    with (tmp_path / "log").open("w+") as log:
        reporter.writer = TerminalWriter(log)
        with Line(lambda: progress.Text("live"), Config(reporter)):
            reporter.writer.line("in the file")
        log.seek(0)
        assert log.read() == "in the file\n"
    assert "in the file" not in terminal.output


def test_an_exception_takes_the_line_away_and_the_cursor_was_never_hidden(terminal):
    with pytest.raises(KeyboardInterrupt), Line(lambda: progress.Text("live"), Config()):
        shown(terminal, "live")
        raise KeyboardInterrupt
    output = shown(terminal, "\x1b[1A")
    assert screen(output) == [""]
    assert "\x1b[?25" not in output


def test_a_terminal_that_goes_away_ends_nothing(terminal, monkeypatch):
    ours, end = pty.openpty()
    with os.fdopen(end, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "__stdout__", stream)
        with Line(lambda: progress.Text("live"), Config()) as line:
            os.close(ours)
            time.sleep(2 / REDRAWS_PER_SECOND)
            assert line._thread.is_alive()
            assert line.print(progress.Text("unseen"))


def test_the_plugin_counts_tells_and_leaves_out_letters(terminal):
    planned, judged, starting = {"a", "b", "c"}, [], ["vLLM 0.33.0"]
    plugin = Progress(planned, judged, lambda: starting)
    loop = plugin.pytest_runtestloop(SimpleNamespace(config=Config(Reporter())))
    assert status_of(plugin) == ("passed", ".", "PASSED")
    next(loop)
    shown(terminal, "0:00  0 of 3 cases; starting vLLM 0.33.0")
    assert status_of(plugin) == ("passed", "", "")
    starting.clear()
    judged += [case(), case("failed", "AssertionError: no\nmore")]
    plugin.pytest_runtest_logreport()
    plugin.pytest_runtest_logreport()
    shown(terminal, "2 of 3 cases, 1 failed")
    judged.append(case("error", "broken"))
    plugin.pytest_runtest_logreport()
    with pytest.raises(StopIteration):
        loop.send(None)
    assert status_of(plugin) == ("passed", ".", "PASSED")
    assert screen(shown(terminal, "\x1b[1A")) == [
        "failed conformance/x/test_y.py::test_z[real]: AssertionError: no",
        "error conformance/x/test_y.py::test_z[real]: broken",
    ]


def test_a_debugger_gets_the_terminal(terminal):
    plugin = Progress(set(), [], list)
    loop = plugin.pytest_runtestloop(SimpleNamespace(config=Config(Reporter())))
    next(loop)
    plugin.pytest_enter_pdb()
    assert status_of(plugin) == ("passed", ".", "PASSED")
    with pytest.raises(StopIteration):
        loop.send(None)


def status_of(plugin: Progress) -> tuple:
    """What a passed case's status becomes."""
    hook = plugin.pytest_report_teststatus()
    next(hook)
    with pytest.raises(StopIteration) as end:
        hook.send(("passed", ".", "PASSED"))
    return end.value.value


def test_the_pool_tells_what_it_starts(tmp_path):
    pool = Pool(tmp_path, say)
    try:
        assert pool.starting() == []
        host = SimpleNamespace(is_starting=True, close=lambda: None)
        pool.hosts["0.33.0"] = host
        node = Node(NodeSpec("0.33.0", "stock", "cpu"), "stock@0.33.0 cpu #1", tmp_path / "log")
        pool.nodes.append(node)
        assert pool.starting() == ["vLLM 0.33.0", "stock@0.33.0 cpu #1"]
        host.is_starting = False
        node.started.set()
        assert pool.starting() == []
    finally:
        pool.close()
