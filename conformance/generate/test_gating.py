"""Where the routes are: behind --enable-scale-out, with abort wherever generate is, all guarded by
the API key.
"""

import pytest

from conformance.generate import GREEDY, PROMPT, refused, still_answers
from fixtures.case import Node, capability, requirement
from fixtures.wire import OMIT

GENERATE = "/inference/v1/generate"
ABORT = "/inference/v1/abort_requests"
BODY = {"token_ids": PROMPT, "sampling_params": {**GREEDY, "max_tokens": 2}}
KEY = "tokenwire-key"

OPEN = pytest.mark.parametrize("node", [Node("scripted")], indirect=True)
CLOSED = pytest.mark.parametrize("node", [Node("scripted", "--no-enable-scale-out")], indirect=True)
TOKENS_ONLY = pytest.mark.parametrize(
    "node", [Node("scripted", "--no-enable-scale-out", "--tokens-only")], indirect=True
)
GUARDED = pytest.mark.parametrize("node", [Node("scripted", "--api-key", KEY)], indirect=True)
EACH_ROUTE = pytest.mark.parametrize(
    ("path", "body"),
    [(GENERATE, BODY), (ABORT, {"model": OMIT, "request_ids": ["tokenwire-none"]})],
    ids=["generate", "abort"],
)


@OPEN
@requirement("generate.gating.flag-opens")
@capability("abort-route")
async def test_with_the_flag_generate_and_abort_are_there(wire):
    """With the flag both routes answer; the legacy /abort_requests, which no key guards, is not
    there.
    """
    await still_answers(wire)
    assert (await wire.post(ABORT, {"request_ids": ["tokenwire-none"]})).expect(200).body == b""
    (await wire.post("/abort_requests", {"request_ids": ["tokenwire-none"]})).expect(404)


@CLOSED
@requirement("generate.gating.closed-says-why")
@EACH_ROUTE
async def test_without_the_flag_the_route_says_why(wire, path, body):
    """Without the flag every scale-out route is a 403 whose message names the flag; the coupled
    routes serve.
    """
    answer = await wire.post(path, body)
    refused(answer, 403)
    assert "--enable-scale-out" in answer.json["error"]["message"]
    served = await wire.completions(prompt=PROMPT, max_tokens=2, ignore_eos=True)
    assert served.expect(200).json["usage"]["completion_tokens"] == 2


@TOKENS_ONLY
@requirement("generate.gating.tokens-only-opens")
async def test_tokens_only_serves_without_the_flag(wire):
    """--tokens-only serves generate and both abort routes by itself."""
    await still_answers(wire)
    for path in (ABORT, "/abort_requests"):
        assert (await wire.post(path, {"request_ids": ["tokenwire-none"]})).expect(200).body == b""


@GUARDED
@requirement("generate.gating.api-key")
@EACH_ROUTE
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}], ids=["none", "wrong"])
async def test_key_guards_the_route(wire, path, body, headers):
    """Without the key, or with another, the route is a 401; with it, a 200."""
    (await wire.post(path, body, headers=headers)).expect(401)
    (await wire.post(path, body, headers={"Authorization": f"Bearer {KEY}"})).expect(200)
