"""Nodes of one release after another, so that one host at a time is in memory."""

import json
import os

import pytest

from fixtures.live_line import say
from fixtures.nodes.lease import Lease
from fixtures.nodes.pool import SHARED_POOL, Pool
from fixtures.nodes.spec import NodeSpec
from fixtures.releases.catalogue import Release
from tests.live.releases import RELEASES


@pytest.fixture(scope="session", params=RELEASES, ids=lambda release: release.version)
def release(request: pytest.FixtureRequest) -> Release:
    """Each chosen release; pytest runs the tests of one together, over all modules."""
    return request.param


@pytest.fixture(scope="session")
def hold(release: Release, tmp_path_factory: pytest.TempPathFactory):
    """`hold(engine, implementation, *flags)`: a node, held until the release's tests are done."""
    given = os.environ.get(SHARED_POOL)
    pool = None if given else Pool(tmp_path_factory.mktemp(release.version), say)
    address = json.loads(given) if given else pool.address
    leases: dict[NodeSpec, Lease] = {}

    def hold(engine: str, implementation: str = "stock", *flags: str) -> Lease:
        role = "render" if engine == "none" else "serve"
        spec = NodeSpec(release.version, implementation, engine, role=role, flags=flags)
        if spec not in leases:
            leases[spec] = Lease(address, spec)
        return leases[spec]

    yield hold
    for one in leases.values():
        one.close()
    if pool:
        pool.close()
