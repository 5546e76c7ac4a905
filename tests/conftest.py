"""One pool of real nodes for all tests of this process that need some."""

import json
import os

import pytest

from fixtures.nodes.pool import SHARED_POOL, Pool
from fixtures.progress import say


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
