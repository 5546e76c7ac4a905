"""What orchestrators and clients ask before they send a request: health, version, models.

Catches a node that is up and says it is not, names another release, or lists no model.
"""

import pytest

from fixtures.case import Node, requirement

pytestmark = pytest.mark.parametrize(
    "node", [Node("real"), Node("none", role="render")], indirect=True
)


@requirement("service.probes.healthy")
async def test_health_is_an_empty_200(wire):
    """GET /health: 200 and no body, on a node with an engine and on one without."""
    assert (await wire.get("/health")).expect(200).body == b""


@requirement("service.probes.healthy")
async def test_ping_is_health(wire):
    """/ping is the same, by GET and by POST."""
    assert (await wire.get("/ping")).expect(200).body == b""
    assert (await wire.post("/ping", {})).expect(200).body == b""


@requirement("service.probes.version")
async def test_version_names_the_release(wire, node):
    """GET /version: the release that runs; a build's local part (+cpu) may follow."""
    version = (await wire.get("/version")).expect(200).json["version"]
    assert version.split("+")[0] == node.spec.release


@requirement("service.probes.models")
async def test_the_model_is_listed_with_its_context(wire, node):
    """GET /v1/models: the served name, and how many tokens it takes."""
    answer = (await wire.get("/v1/models")).expect(200).json
    assert answer["object"] == "list"
    listed = [(model["id"], model["object"], model["max_model_len"]) for model in answer["data"]]
    assert listed == [("tiny", "model", node.max_model_len)]


@requirement("service.probes.unknown-route")
async def test_an_unknown_route_is_a_404(wire):
    """Nothing but a 404, in FastAPI's words or, from the Rust servers, in none."""
    answer = await wire.post("/inference/v1/no-such-route", {})
    assert answer.expect(404).body in (b'{"detail":"Not Found"}', b"")
