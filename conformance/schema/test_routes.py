"""The document has every route of the scale-out API that the node serves, and no other.

Catches a route that is served and not documented, one that is documented and not served, and an
answer or a body that a documented route says nothing of.
"""

import pytest

from conformance.kinds.kind import ROUTES
from conformance.schema.support import described, document_of
from fixtures.capabilities import route_is_absent
from fixtures.case import Node, requirement
from fixtures.wire.declared import SIGNS

pytestmark = [
    pytest.mark.parametrize("node", [Node("real"), Node("none", role="render")], indirect=True),
    pytest.mark.usefixtures("capable"),
    pytest.mark.capability("openapi"),
]

SPLIT = {name: path for name, path in ROUTES.items() if any(sign in path for sign in SIGNS)}


@requirement("schema.routes.served-is-documented")
@pytest.mark.parametrize("route", SPLIT)
async def test_a_route_that_is_served_is_documented(wire, route):
    """An empty body tells: what is there refuses it, what is not answers 404."""
    absent = route_is_absent(await wire.post(SPLIT[route], {}))
    document = await document_of(wire, SPLIT[route])
    assert absent or "post" in document.paths.get(SPLIT[route], {})


@requirement("schema.routes.documented-is-served")
async def test_every_documented_route_is_served(wire):
    """Whatever route of this API the document names, also one that no case here knows."""
    paths = {
        path
        for known in SPLIT.values()
        for path in (await described(wire, known)).paths
        # where each role has a server, a document is asked for its own role's routes
        if any(sign in path for sign in SIGNS) and wire.url_for(path) == wire.url_for(known)
    }
    assert paths
    answers = {path: await wire.post(path, {}) for path in sorted(paths)}
    assert [path for path in answers if route_is_absent(answers[path])] == []
