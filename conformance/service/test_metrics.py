"""/metrics: the engine's counters move by exactly what a generate request used, and by nothing else.

Catches a role whose tokens are not counted, counted twice, or counted under another model or
engine.
"""

import pytest

from conformance.routes import ROUTES
from fixtures.case import Node, requirement

# Alone, so that the counters are this case's own.
ALONE = pytest.mark.parametrize(
    "node", [pytest.param(Node("real", exclusive=True), id="real")], indirect=True
)
TWO_ENGINES = pytest.mark.parametrize(
    "node",
    [Node("scripted", "--data-parallel-size", "2", env={"VLLM_CPU_SIM_MULTI_NUMA": "1"})],
    indirect=True,
)
PROMPT = list(range(20, 31))
PARAMS = {"max_tokens": 7, "temperature": 0.0, "ignore_eos": True}
GENERATE = "/inference/v1/generate"
OF_THE_ENGINE = {"model_name": "tiny", "engine": "0"}
NONE = {"prompt": 0, "generation": 0, "length": 0, "stop": 0, "abort": 0, "error": 0}


def total(metrics, name: str, **labels: str) -> float:
    """As `Metrics.total`; 0 for a counter that is not there."""
    return metrics.total(name, **labels) if name in metrics else 0


async def counted(wire, of: str = GENERATE, **labels: str) -> dict[str, float]:
    """The counters of one engine: tokens in and out, and ends by their reason; `of` is the route
    whose server counts.
    """
    metrics = await wire.metrics(of=of)
    labels = {**OF_THE_ENGINE, **labels}
    ends = {
        reason: total(metrics, "vllm:request_success_total", finished_reason=reason, **labels)
        for reason in ("length", "stop", "abort", "error")
    }
    tokens = {
        kind: total(metrics, f"vllm:{kind}_tokens_total", **labels)
        for kind in ("prompt", "generation")
    }
    return tokens | ends


def moved(before: dict, after: dict) -> dict[str, float]:
    """What each counter moved by."""
    return {name: after[name] - before[name] for name in before}


@ALONE
@requirement("service.metrics.tokens-counted")
@pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
@pytest.mark.parametrize("requests", [1, 3])
async def test_counters_move_by_what_was_used(wire, requests, stream):
    """Prompt tokens, generated tokens and ends by length: those of the requests, no more."""
    before = await counted(wire)
    for _ in range(requests):
        body = {"token_ids": PROMPT, "sampling_params": PARAMS, "stream": stream}
        (await wire.post(GENERATE, body)).expect(200)
    assert moved(before, await counted(wire)) == {
        **NONE,
        "prompt": requests * len(PROMPT),
        "generation": requests * PARAMS["max_tokens"],
        "length": requests,
    }


@ALONE
@requirement("service.metrics.tokens-counted")
async def test_a_stop_is_counted_as_one(wire):
    """finished_reason is the answer's own: the third id as a stop id ends it by stop."""
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS)
    ids = answer.expect(200).json["choices"][0]["token_ids"]
    kept = ids.index(ids[2]) + 1
    before = await counted(wire)
    params = {**PARAMS, "stop_token_ids": [ids[2]]}
    stopped = await wire.generate(token_ids=PROMPT, sampling_params=params)
    assert len(stopped.expect(200).json["choices"][0]["token_ids"]) == kept
    used = {"prompt": len(PROMPT), "generation": kept, "stop": 1}
    assert moved(before, await counted(wire)) == {**NONE, **used}


@ALONE
@requirement("service.metrics.nothing-else-counted")
@pytest.mark.parametrize("route", [name for name in ROUTES if not name.startswith("generate")])
async def test_render_and_derender_count_no_tokens(wire, route):
    """They run nothing, so no counter of the engine moves."""
    one = ROUTES[route]
    await wire.needs(one.capability)
    before = await counted(wire, one.path)
    one.served(await wire.post(one.path, one.body))
    assert moved(before, await counted(wire, one.path)) == NONE


@ALONE
@requirement("service.metrics.nothing-else-counted")
@pytest.mark.parametrize("status", [400, 404])
async def test_a_refusal_counts_no_tokens(wire, status):
    """A request that is refused has used nothing."""
    fault = {"token_ids": []} if status == 400 else {"model": "no-such-model"}
    before = await counted(wire)
    body = {"token_ids": PROMPT, "sampling_params": PARAMS, **fault}
    (await wire.generate(body)).expect(status)
    assert moved(before, await counted(wire)) == NONE


@ALONE
@requirement("service.metrics.requests-by-route")
@pytest.mark.parametrize("route", ROUTES)
async def test_http_requests_are_counted_by_route(wire, route):
    """http_requests_total has the route as its handler: one 2xx for an answer, one 4xx for a 404."""
    one = ROUTES[route]
    await wire.needs(one.capability)

    async def seen() -> list[float]:
        metrics = await wire.metrics(of=one.path)
        labels = {"handler": one.path, "method": "POST"}
        name = "http_requests_total"
        return [total(metrics, name, **labels, status=status) for status in ("2xx", "4xx")]

    await wire.post(one.path, one.body)
    before = await seen()
    one.served(await wire.post(one.path, one.body))
    (await wire.post(one.path, one.body, model="no-such-model")).expect(404)
    assert [now - then for now, then in zip(await seen(), before, strict=True)] == [1, 1]


@TWO_ENGINES
@requirement("service.metrics.by-engine")
@pytest.mark.parametrize("rank", [0, 1])
async def test_tokens_are_counted_on_the_engine_that_ran(wire, rank):
    """The engine label is the data-parallel rank; the other engine's counters stand still."""
    engines = ("0", "1")
    before = {engine: await counted(wire, engine=engine) for engine in engines}
    headers = {"X-data-parallel-rank": str(rank)}
    answer = await wire.generate(token_ids=PROMPT, sampling_params=PARAMS, headers=headers)
    answer.expect(200)
    after = {engine: await counted(wire, engine=engine) for engine in engines}
    used = {"prompt": len(PROMPT), "generation": PARAMS["max_tokens"], "length": 1}
    assert {engine: moved(before[engine], after[engine]) for engine in engines} == {
        engine: {**NONE, **used} if engine == str(rank) else NONE for engine in engines
    }
