"""One pool of real nodes for all tests of this process that need some."""

import pytest

from fixtures.nodes.pool import Pool
from fixtures.run import say


@pytest.fixture(scope="session")
def pool(tmp_path_factory):
    """A running pool; its hosts start with the first lease."""
    pool = Pool(tmp_path_factory.mktemp("nodes"), say)
    yield pool
    pool.close()
