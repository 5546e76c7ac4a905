"""--api-key: no scale-out route answers without the key, and none is closed to who has it.

Catches a route outside the guarded prefixes, a key that is compared carelessly, and a probe that
suddenly needs one.
"""

import pytest

from conformance.routes import EVERY_ROUTE, ROUTES
from fixtures.case import Node, requirement
from fixtures.nodes.script import output

KEY = "tokenwire-key"
GUARDED = pytest.mark.parametrize("node", [Node("scripted", "--api-key", KEY)], indirect=True)
RENDER_NODE = pytest.mark.parametrize(
    "node", [Node("none", "--api-key", KEY, "tokenwire-second", role="render")], indirect=True
)
LEGACY = pytest.mark.parametrize(
    "node",
    [Node("scripted", "--no-enable-scale-out", "--tokens-only", "--api-key", KEY)],
    indirect=True,
)
# name: the Authorization header, None for none
WRONG = {
    "none": None,
    "another": "Bearer wrong",
    "longer": f"Bearer {KEY}x",
    "shorter": f"Bearer {KEY[:-1]}",
    "empty": "Bearer",
    "without-scheme": KEY,
    "other-scheme": f"Basic {KEY}",
}


def authorization(value: str | None) -> dict[str, str]:
    """The header, or none."""
    return {} if value is None else {"Authorization": value}


@GUARDED
@requirement("service.api-key.every-route")
@pytest.mark.parametrize("route", EVERY_ROUTE)
async def test_every_route_needs_the_key(wire, lease, route):
    """401 without the key and with another; the same request with it is served.

    Whether there is such a route at all is asked of a node without a key.
    """
    one = EVERY_ROUTE[route]
    await (await lease(Node("scripted"))).needs(one.capability)
    for value in (None, "Bearer wrong"):
        refused = await wire.post(one.path, one.body, headers=authorization(value))
        assert refused.expect(401).json == {"error": "Unauthorized"}
    one.served(await wire.post(one.path, one.body, headers=authorization(f"Bearer {KEY}")))


@GUARDED
@requirement("service.api-key.compared-whole")
@pytest.mark.parametrize("name", WRONG)
async def test_only_the_whole_key_is_the_key(wire, name):
    """401 for anything that is not the scheme and the whole key; the scheme's case is free."""
    one = ROUTES["generate"]
    (await wire.post(one.path, one.body, headers=authorization(WRONG[name]))).expect(401)
    one.served(await wire.post(one.path, one.body, headers=authorization(f"bearer {KEY}")))


@GUARDED
@requirement("service.api-key.before-the-engine")
async def test_nothing_runs_without_the_key(wire, engine):
    """The engine is not called for a request without the key, and is for one with it."""
    script = await engine.script([output(token_ids=[40, 41], finish_reason="length")])
    one = ROUTES["generate"]
    (await wire.post(one.path, one.body, script=script)).expect(401)
    assert await engine.calls(script) == []
    with_key = authorization(f"Bearer {KEY}")
    (await wire.post(one.path, one.body, script=script, headers=with_key)).expect(200)
    assert "generate" in [call["event"] for call in await engine.calls(script)]


@GUARDED
@requirement("service.api-key.probes-are-open")
@pytest.mark.parametrize("path", ["/health", "/ping", "/version", "/metrics"])
async def test_probes_need_no_key(wire, path):
    """What an orchestrator asks answers without a key; the list of models does not."""
    (await wire.get(path)).expect(200)
    (await wire.get("/v1/models")).expect(401)
    (await wire.get("/v1/models", headers=authorization(f"Bearer {KEY}"))).expect(200)


@RENDER_NODE
@requirement("service.api-key.render-node")
@pytest.mark.parametrize("route", ["render-chat", "render-completions", "derender-chat"])
@pytest.mark.parametrize("key", [KEY, "tokenwire-second"], ids=["first", "second"])
async def test_a_render_node_needs_one_of_its_keys(wire, route, key):
    """Each of several keys opens it; none, or both in one, do not."""
    one = ROUTES[route]
    for value in (None, f"Bearer {KEY} tokenwire-second"):
        (await wire.post(one.path, one.body, headers=authorization(value))).expect(401)
    one.served(await wire.post(one.path, one.body, headers=authorization(f"Bearer {key}")))


@LEGACY
@requirement("service.api-key.legacy-abort")
async def test_the_legacy_abort_route_needs_the_key(wire):
    """/abort_requests of --tokens-only ends other clients' requests, so it is guarded too."""
    body = {"request_ids": ["tokenwire-none"]}
    (await wire.post("/abort_requests", body, headers=authorization(f"Bearer {KEY}"))).expect(200)
    (await wire.post("/abort_requests", body)).expect(401)
