"""Tracing: a generate request under a caller's trace exports one span that belongs to it.

Catches a generate route that drops the trace headers, so that its requests cannot be found from the
caller's side, and a span with other counts than the answer's.
"""

import asyncio
import uuid

import pytest

from fixtures.case import Node, requirement
from fixtures.collector import NODE_VARIABLES, Collector, Span

PROMPT = list(range(20, 31))
PARAMS = {"max_tokens": 7, "temperature": 0.0, "ignore_eos": True}
FULL_OR_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["full", "stream"])
GENERATE = "/inference/v1/generate"
COUNTS = {
    "gen_ai.usage.prompt_tokens": len(PROMPT),
    "gen_ai.usage.completion_tokens": PARAMS["max_tokens"],
    "gen_ai.request.max_tokens": PARAMS["max_tokens"],
}


@pytest.fixture(scope="module")
def collector():
    """Where the traced node of this module exports to."""
    with Collector() as running:
        yield running


@pytest.fixture(scope="module")
def traced_node(_lease_node, collector):
    """The wish for a node that exports to this module's collector: it serves nobody else, and ends
    with the module.
    """
    flags = ("--otlp-traces-endpoint", collector.endpoint)
    wish = Node("real", *flags, env=NODE_VARIABLES, exclusive=True)
    node = _lease_node(wish)
    yield wish
    node.end()


@pytest.fixture
async def traced(lease, traced_node):
    """A wire to the node that exports its spans."""
    return await lease(traced_node)


async def spans_of(collector: Collector, trace: str) -> list[Span]:
    """The spans of a trace: those there are a second after the first."""
    await collector.of_trace(trace, 1)
    return await collector.of_trace(trace, 2, seconds=1)


def parents() -> tuple[str, str, dict[str, str]]:
    """A fresh trace, the caller's span in it, and the header that says both."""
    trace, span = uuid.uuid4().hex, uuid.uuid4().hex[:16]
    return trace, span, {"traceparent": f"00-{trace}-{span}-01"}


@requirement("service.tracing.generate-span")
@FULL_OR_STREAM
async def test_a_request_exports_one_span_under_its_callers(traced, collector, stream):
    """One `llm_request` in the caller's trace, its parent the caller's span, with the answer's id
    and counts.
    """
    trace, parent, headers = parents()
    body = {"token_ids": PROMPT, "sampling_params": PARAMS, "stream": stream, "request_id": trace}
    (await traced.post(GENERATE, body, headers=headers)).expect(200)
    (span,) = await spans_of(collector, trace)
    assert (span.name, span.parent_id) == ("llm_request", parent)
    expected = {**COUNTS, "gen_ai.request.id": f"generate-tokens-{trace}"}
    assert {name: span.attributes[name] for name in expected} == expected


@requirement("service.tracing.generate-span")
async def test_two_requests_do_not_share_a_trace(traced, collector):
    """Each request's span is in its own caller's trace."""
    callers = [parents() for _ in "ab"]
    body = {"token_ids": PROMPT, "sampling_params": PARAMS}
    for _, _, headers in callers:
        (await traced.generate(body, headers=headers)).expect(200)
    found = await asyncio.gather(*(spans_of(collector, trace) for trace, _, _ in callers))
    assert [[span.parent_id for span in spans] for spans in found] == [
        [parent] for _, parent, _ in callers
    ]
