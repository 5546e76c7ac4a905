"""Many short pytest runs on one pool, each a fork of a process that has done the imports."""

import contextlib
import json
import multiprocessing
import os
import pkgutil
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import pytest

import fixtures.wire
import reports
from fixtures.run import SHARED_POOL
from reports import record
from tests.live.sharing import ROOT

# What a run imports; the plugin and the cases stay out, for pytest imports these its own way.
PRELOADED = [
    __name__,
    *("hypothesis", "pytest_asyncio.plugin", "xdist.plugin", "anyio.pytest_plugin"),
    *("anyio._backends._asyncio", "jsonschema", "rich.table"),
    *("fixtures.capabilities", "fixtures.case", "fixtures.nodes.script", "fixtures.strategies"),
    *(
        f"{package.__name__}.{module.name}"
        for package in (fixtures.wire, reports)
        for module in pkgutil.iter_modules(package.__path__)
        if module.name != "__main__"
    ),
]
# More than one for each of two cores, because a run waits for its node.
AT_ONCE = 3


def _run(address: dict, folder: Path, arguments: tuple[str, ...]) -> None:
    os.chdir(ROOT)
    os.environ[SHARED_POOL] = json.dumps(address)
    with (folder / "output.txt").open("w") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        pytest.main(["-q", "--report-dir", str(folder), *arguments])


class Batch:
    """Runs on the pool at `address`, AT_ONCE at a time."""

    def __init__(self, executor: ProcessPoolExecutor, address: dict) -> None:
        self.executor, self.address = executor, address

    def start(self, folder: Path, *arguments: str) -> Future:
        """Begin `pytest ARGUMENTS` with its report in `folder`."""
        return self.executor.submit(_run, self.address, folder, arguments)

    def report(self, folder: Path, run: Future) -> record.Report:
        """The report once the run ends; raises ReportProblem, with what it printed, without one."""
        run.result()
        try:
            return record.read(folder / "report.jsonl")
        except record.ReportProblem as problem:
            printed = (folder / "output.txt").read_text()
            raise record.ReportProblem(f"{problem}\n{printed[-4000:]}") from None


@contextlib.contextmanager
def batch(address: dict) -> Iterator[Batch]:
    """A batch; what has not begun when the block ends never does."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    executor = ProcessPoolExecutor(AT_ONCE, mp_context=context, max_tasks_per_child=1)
    try:
        yield Batch(executor, address)
    finally:
        executor.shutdown(cancel_futures=True)
