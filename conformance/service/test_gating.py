"""The gate of the scale-out routes: one flag opens all of them, and nothing but the flag does.

Catches a route outside the gate, and a deployment whose remedy is an environment variable that no
release reads.
"""

import pytest

from conformance.routes import EVERY_ROUTE, ROUTES
from fixtures.case import Node, requirement

VARIABLE = "VLLM_ENABLE_SCALE_OUT_ENDPOINTS"
CLOSED = pytest.mark.parametrize("node", [Node("scripted", "--no-enable-scale-out")], indirect=True)
OPEN = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)
REMEDY = pytest.mark.parametrize(
    "node", [Node("scripted", "--no-enable-scale-out", env={VARIABLE: "1"})], indirect=True
)
EACH_ROUTE = pytest.mark.parametrize("route", EVERY_ROUTE)
# name: (a node that has its routes by itself, the routes it has)
DEDICATED = {
    "render-node": (
        Node("none", role="render", env={VARIABLE: "0"}),
        ("render-chat", "render-completions", "derender-chat", "derender-completions"),
    ),
    "tokens-only": (
        Node("scripted", "--no-enable-scale-out", "--tokens-only", env={VARIABLE: "0"}),
        ("generate", "generate-stream"),
    ),
}


@OPEN
@requirement("service.gating.every-route-opens")
@EACH_ROUTE
async def test_with_the_flag_every_route_answers(wire, route):
    """--enable-scale-out: each serves."""
    one = EVERY_ROUTE[route]
    one.served(await wire.post(one.path, one.body))


@CLOSED
@requirement("service.gating.every-route-closed")
@EACH_ROUTE
async def test_without_the_flag_every_route_says_why(wire, route):
    """403 with an error object whose message names the flag."""
    one = EVERY_ROUTE[route]
    error = (await wire.post(one.path, one.body)).expect(403).json["error"]
    assert "--enable-scale-out" in error["message"]


@REMEDY
@requirement("service.gating.variable-has-no-effect")
@EACH_ROUTE
async def test_the_variable_opens_nothing(wire, route):
    """Set to 1 without the flag the routes stay shut: 403, or in 0.30 and 0.31 as if they were not
    there (EVOLUTION 1.3).
    """
    one = EVERY_ROUTE[route]
    answer = await wire.post(one.path, one.body)
    assert answer.status in (403, 404, 405), answer.body[:200]


@requirement("service.gating.variable-has-no-effect")
@pytest.mark.parametrize(
    ("node", "routes"), DEDICATED.values(), ids=DEDICATED.keys(), indirect=["node"]
)
async def test_the_variable_closes_nothing(wire, routes):
    """Set to 0 a node that is made for its routes starts and serves them."""
    for name in routes:
        one = ROUTES[name]
        one.served(await wire.post(one.path, one.body))
