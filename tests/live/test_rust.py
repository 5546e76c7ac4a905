"""vLLM's Rust servers in both roles, started from the warm host of a release that has them."""

import os
import signal
import time

import httpx
import psutil
import pytest

from fixtures.nodes.lease import Lease
from fixtures.nodes.pool import OptionAbsent
from fixtures.nodes.spec import NodeSpec

RELEASE = "0.33.0"
PROMPT = list(range(40, 60))
GREEDY = {"max_tokens": 8, "temperature": 0.0, "ignore_eos": True}
DEAFENING = {"structured_outputs": {"json": []}, "max_tokens": 1}


def spec(role: str, *flags: str, implementation: str = "rust") -> NodeSpec:
    engine = "none" if role == "render" else "cpu"
    return NodeSpec(RELEASE, implementation, engine, role=role, flags=flags)


def generate(lease: Lease, **sampling) -> httpx.Response:
    body = {"token_ids": PROMPT, "sampling_params": {**GREEDY, **sampling}}
    return httpx.post(f"{lease.url}/inference/v1/generate", json=body, timeout=10)


def test_the_rust_frontend_gives_the_tokens_of_the_python_one(pool):
    rust = Lease(pool.address, spec("serve"))
    python = Lease(pool.address, spec("serve", implementation="stock"))
    assert httpx.get(f"{rust.url}/version").json()["rust_frontend_version"] == RELEASE
    tokens = [generate(node).json()["choices"][0]["token_ids"] for node in (rust, python)]
    assert tokens[0] == tokens[1] and len(tokens[0]) == GREEDY["max_tokens"]
    for node in (rust, python):
        node.close()


def test_the_rust_render_server_gives_the_ids_of_the_python_one(pool):
    nodes = [Lease(pool.address, spec("render", implementation=name)) for name in ("rust", "stock")]
    request = {"model": "tiny", "messages": [{"role": "user", "content": "hello world"}]}
    path = "/v1/chat/completions/render"
    answers = [httpx.post(f"{node.url}{path}", json=request, timeout=30) for node in nodes]
    ids = [answer.raise_for_status().json()["token_ids"] for answer in answers]
    assert ids[0] == ids[1] and ids[0]
    for node in nodes:
        node.close()


def test_an_option_the_frontend_lacks_is_told_from_a_node_that_does_not_start(pool):
    with pytest.raises(OptionAbsent, match="not implemented in Rust frontend yet: - tokens_only"):
        Lease(pool.address, spec("serve", "--tokens-only"))
    with pytest.raises(OptionAbsent, match="unexpected argument '--no-such-option' found"):
        Lease(pool.address, spec("render", "--no-such-option"))


def test_a_node_whose_engine_no_longer_takes_requests_is_replaced(pool):
    node = Lease(pool.address, spec("serve"), exclusive=True)
    pid = node.pid
    with pytest.raises(httpx.ReadTimeout):
        generate(node, **DEAFENING)
    assert node.alive()  # its /health says so
    node.renew()
    assert node.pid != pid
    assert generate(node).status_code == 200
    node.close()


def test_the_server_ends_with_the_process_that_started_it(pool):
    node = Lease(pool.address, spec("serve"), exclusive=True)
    family = psutil.Process(node.pid).children(recursive=True)
    assert any("vllm-rs" in process.name() for process in family)
    os.kill(node.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(process.is_running() and process.status() != "zombie" for process in family):
        assert time.monotonic() < deadline, family
        time.sleep(0.1)
    node.close()
