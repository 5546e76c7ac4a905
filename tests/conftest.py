"""One pool of real nodes for all tests of this process that need some, and the file of scores."""

import json
import os
from pathlib import Path

import pytest

from fixtures.live_line import say
from fixtures.nodes.pool import SHARED_POOL, Pool
from reports import scores
from reports.check import ReportProblem
from tests import scoring
from tests.scoring import FOUND, Found

TOLD = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def pool(tmp_path_factory):
    """A running pool; its hosts start with the first lease."""
    pool = Pool(tmp_path_factory.mktemp("nodes"), say)
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def pool_address(request: pytest.FixtureRequest) -> dict:
    """The address of the pool that TOKENWIRE_POOL names, or else of this process's own."""
    if SHARED_POOL in os.environ:
        return json.loads(os.environ[SHARED_POOL])
    return request.getfixturevalue("pool").address


@pytest.fixture(scope="session")
def found(pytestconfig: pytest.Config) -> Found:
    """What the tests of mutants and nulls fill in."""
    return pytestconfig.stash.setdefault(FOUND, Found())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--scores",
        type=Path,
        metavar="FILE",
        help="keep what tests/mutants and tests/nulls find in FILE, over what it says of the same ones",
    )


def pytest_configure(config: pytest.Config) -> None:
    """What cannot be kept is refused before it is measured, which takes minutes."""
    file = config.option.scores
    if file is None or config.option.collectonly:
        return
    if config.getoption("numprocesses", None):
        raise pytest.UsageError("--scores: mutants and nulls run in one process, so without -n.")
    if not file.parent.is_dir():
        raise pytest.UsageError(f"--scores {file}: there is no folder {file.parent}.")
    try:
        config.stash[scoring.OLDER] = scores.committed(file)
    except ReportProblem as problem:
        raise pytest.UsageError(f"--scores {problem}") from None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes a minute comes before what takes many."""
    unit = Path(__file__).parent / "unit"
    items.sort(key=lambda item: unit not in item.path.parents)


def pytest_collection_finish(session: pytest.Session) -> None:
    stash, file = session.config.stash, session.config.option.scores
    if scoring.OLDER not in stash:
        return
    if refusal := scoring.refusal(file, stash[scoring.OLDER], scoring.selected(session.items)):
        raise pytest.UsageError(refusal)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep what was found, where the run came to its end."""
    config = session.config
    file = config.option.scores
    if scoring.OLDER not in config.stash:
        return
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if not ended or session.shouldfail or session.shouldstop:
        config.stash[TOLD] = f"{file} is left as it was, because the run did not come to its end."
        return
    own = config.stash.get(FOUND, Found())
    chosen = set().union(*scoring.selected(session.items).values())
    try:
        scoring.put(file, own.scores(config.invocation_params.args, config.stash[scoring.OLDER]))
        told = f"kept in {file}: of mutants {len(own.mutants)}, of nulls {len(own.nulls)}"
    except (OSError, ReportProblem) as problem:
        told = f"{file} is left as it was: {problem}"
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if missing := sorted(chosen - {*own.mutants, *own.nulls}):
        told += f"; could not be judged: {', '.join(missing)}"
    config.stash[TOLD] = told


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if said := config.stash.get(TOLD, ""):
        terminalreporter.write_line(said)
