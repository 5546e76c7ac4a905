"""What the harness adds: to one call, and to the start of a node.

A check is what a case does for one exchange: the call, the record, the verdict and the report's
line. The bare call is the same request through the same HTTP client. Both alternate in one run.
Targets: check at most 1.5 x bare call; lease to first answer at most 0.5 s (scripted) and 2 s (CPU).
"""

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from fixtures import verdict
from fixtures.live_line import say
from fixtures.node_wire import NodeWire
from fixtures.nodes.lease import Lease
from fixtures.nodes.pool import Pool
from fixtures.nodes.spec import NodeSpec
from fixtures.outcome import CaseRecord
from fixtures.plugin import case_line
from fixtures.releases import catalogue

ROUNDS = 300
STARTS = 7
BODY = {
    "model": "tiny",
    "token_ids": [20, 21, 22],
    "sampling_params": {"max_tokens": 8, "ignore_eos": True},
}


def spec(engine: str, number: int = 0) -> NodeSpec:
    """Specs that differ by `number` alone, so that each needs a node of its own."""
    release = catalogue.load().newest.version
    return NodeSpec(release, "reference", engine, env=(("TOKENWIRE_BENCH", str(number)),))


async def check(lease: Lease) -> str:
    """One exchange with everything a case adds to it."""
    record = CaseRecord()
    answer = await NodeWire(lease, record).generate(**BODY)
    assert len(answer.expect().json["choices"][0]["token_ids"]) == 8
    judged = verdict.judge("case", lease.spec.target, ["rule"], verdict.PASSED, "", ())
    return json.dumps(case_line(record, judged))


async def cost(lease: Lease) -> tuple[list[float], list[float]]:
    """Seconds of bare calls and of checks, alternating."""
    bare, checks = [], []
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            response = await client.post(f"{lease.url}/inference/v1/generate", json=BODY)
            assert len(response.json()["choices"][0]["token_ids"]) == 8
            between = time.perf_counter()
            await check(lease)
            bare.append(between - begun)
            checks.append(time.perf_counter() - between)
    return bare, checks


def start(pool: Pool, engine: str, number: int) -> float:
    """Seconds from asking for a new node to its first answer."""
    begun = time.perf_counter()
    lease = Lease(pool.address, spec(engine, number))
    httpx.post(f"{lease.url}/inference/v1/generate", json=BODY, timeout=60).raise_for_status()
    lease.close()
    return time.perf_counter() - begun


def main() -> None:
    """Print the figures, one line each."""
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(Path(folder), say)
        try:
            pool.host(spec("scripted").release)
            for engine in ("scripted", "cpu"):
                seconds = [start(pool, engine, number) for number in range(STARTS)]
                print(
                    f"{engine}: lease to first answer {statistics.median(seconds):.2f} s "
                    f"(median of {STARTS}, {min(seconds):.2f} to {max(seconds):.2f})"
                )
                lease = Lease(pool.address, spec(engine))
                bare, checks = asyncio.run(cost(lease))
                lease.close()
                ratio = statistics.median(checks) / statistics.median(bare)
                print(
                    f"{engine}: bare call {statistics.median(bare) * 1000:.2f} ms, "
                    f"check {statistics.median(checks) * 1000:.2f} ms, ratio {ratio:.2f} "
                    f"(medians of {ROUNDS})"
                )
        finally:
            pool.close()


if __name__ == "__main__":
    main()
