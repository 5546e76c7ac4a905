"""--enable-request-id-headers: each answer names its request in X-Request-Id.

Catches a route, or a refusal, whose answer cannot be found again in a log.
"""

import re

import pytest

from conformance.routes import EVERY_ROUTE, ROUTES
from fixtures.case import Node, own_id, requirement

HEADER = "X-Request-Id"
NAMING = pytest.mark.parametrize(
    "node", [Node("scripted", "--enable-request-id-headers")], indirect=True
)
SILENT = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)


@NAMING
@requirement("service.request-id.header-comes-back")
@pytest.mark.parametrize("route", EVERY_ROUTE)
async def test_the_callers_id_comes_back(wire, route):
    """The header is the caller's own, once; without one, 32 fresh hex digits."""
    one = EVERY_ROUTE[route]
    await wire.needs(one.capability)
    own = own_id("own id-7")
    given = await wire.post(one.path, one.body, headers={HEADER: own})
    assert one.served(given).headers.get_list(HEADER) == [own]
    fresh = [(await wire.post(one.path, one.body)).headers.get_list(HEADER) for _ in "ab"]
    assert [[bool(re.fullmatch("[0-9a-f]{32}", each)) for each in ids] for ids in fresh] == [
        [True],
        [True],
    ]
    assert fresh[0] != fresh[1]


@NAMING
@requirement("service.request-id.header-comes-back")
@pytest.mark.parametrize("status", [400, 404])
async def test_a_refusal_names_its_request(wire, status):
    """The same for an answer that is an error."""
    fault = {"token_ids": []} if status == 400 else {"model": "no-such-model"}
    one = ROUTES["generate"]
    own = own_id("own")
    answer = await wire.post(one.path, {**one.body, **fault}, headers={HEADER: own})
    assert answer.expect(status).headers.get_list(HEADER) == [own]


@SILENT
@requirement("service.request-id.only-with-the-flag")
async def test_no_header_without_the_flag(wire):
    """A server without the flag sends none, whatever the caller sent."""
    one = ROUTES["generate"]
    answer = await wire.post(one.path, one.body, headers={HEADER: own_id("own")})
    assert HEADER not in one.served(answer).headers
