"""How soon an engine lets go of a request that was aborted, or whose client left: waited for, and
measured with the limit that the case holds the node to.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from fixtures.measured import ABORT, measured, timed
from fixtures.node_wire import LeaseWire, NodeWire
from fixtures.nodes.script import Engine
from fixtures.wire.wire import Metrics

SECONDS = 5.0
POLL_SECONDS = 0.05
RUNNING = "vllm:num_requests_running"


async def let_go(engine: Engine, script: str, ending: Awaitable[Any] | None = None) -> dict:
    """The end of the scripted request, once the engine has it; AssertionError after SECONDS.

    `ending` is what ends it, such as the call that aborts it; without one its client has just left.
    """
    with timed(ABORT, limit=SECONDS):
        if ending is not None:
            await ending
        return await engine.wait_for(script, "generate_end", timeout=SECONDS)


async def ends_within(answer: asyncio.Task, seconds: float) -> bool:
    """Whether the answer of an aborted request comes within so many seconds."""
    with timed(ABORT, limit=seconds):
        ended, _ = await asyncio.wait([answer], timeout=seconds)
    return bool(ended)


async def idle(wire: NodeWire, seconds: float) -> Metrics:
    """The counters of a node on which nothing runs; AssertionError where something still does after
    so many seconds.
    """
    asking = LeaseWire(wire.node)  # the last look alone is evidence
    with timed(ABORT, limit=seconds):
        end = time.monotonic() + seconds
        while (await asking.metrics()).total(RUNNING) and time.monotonic() < end:
            await asyncio.sleep(POLL_SECONDS)
    metrics = await wire.metrics()
    assert metrics.total(RUNNING) == 0, f"something still runs after {seconds} s"
    return metrics


def cut_short(tokens: int, least: int, limit: float) -> None:
    """An aborted request had made at least `least` tokens when it ended, and fewer than `limit`."""
    measured(ABORT, tokens, unit="tokens", limit=limit)
    assert least <= tokens < limit
