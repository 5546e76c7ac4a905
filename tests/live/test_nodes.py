"""Nodes and leases of a real pool."""

import os
import signal
import time

import httpx
import psutil
import pytest

from fixtures.nodes.lease import Lease
from fixtures.nodes.pool import NodeProblem
from fixtures.nodes.spec import NodeSpec
from fixtures.releases import catalogue
from fixtures.releases.environment import prepare

RELEASE = catalogue.load().newest.version
SAMPLING = {"max_tokens": 4, "ignore_eos": True, "temperature": 0.0}
BODY = {"model": "tiny", "token_ids": [20, 21, 22], "sampling_params": SAMPLING}


def spec(engine: str, **fields) -> NodeSpec:
    return NodeSpec(RELEASE, fields.pop("implementation", "stock"), engine, **fields)


def generate(lease: Lease) -> list[int]:
    answer = httpx.post(f"{lease.url}/inference/v1/generate", json=BODY, timeout=60)
    return answer.raise_for_status().json()["choices"][0]["token_ids"]


@pytest.mark.parametrize("engine", ["scripted", "cpu"])
def test_equal_specs_share_a_node_and_an_exclusive_lease_has_its_own(pool, engine):
    first, second = Lease(pool.address, spec(engine)), Lease(pool.address, spec(engine))
    alone = Lease(pool.address, spec(engine), exclusive=True)
    assert len(generate(first)) == 4
    assert generate(first) == generate(second) == generate(alone)
    assert first.pid == second.pid != alone.pid
    for lease in (first, second, alone):
        lease.close()


def test_an_idle_node_stays_warm_for_the_next_lease(pool):
    first = Lease(pool.address, spec("scripted"))
    first.close()
    again = Lease(pool.address, spec("scripted"))
    assert again.pid == first.pid
    again.close()


def test_the_holder_of_an_exclusive_lease_can_end_its_node(pool):
    shared, own = Lease(pool.address, spec("cpu")), Lease(pool.address, spec("cpu"), exclusive=True)
    own.end()
    with pytest.raises(httpx.TransportError):
        generate(own)
    assert not psutil.pid_exists(own.pid)
    # It was asked to end, so nobody speaks of a death.
    assert own.ending() == ""
    assert [node.pid for node in pool.nodes if node.spec == own.spec] == [shared.pid]
    with pytest.raises(ValueError, match="only an exclusive lease"):
        shared.end()
    assert len(generate(shared)) == 4
    shared.close()


def test_a_dead_idle_node_is_not_leased_again(pool):
    wanted = spec("scripted", env=(("TOKENWIRE_TEST", "dead idle"),))
    first = Lease(pool.address, wanted)
    first.close()
    os.kill(first.pid, signal.SIGKILL)
    time.sleep(0.2)
    again = Lease(pool.address, wanted)
    assert again.pid != first.pid
    assert len(generate(again)) == 4
    again.close()


def test_the_least_recently_used_idle_engine_makes_room(pool, monkeypatch):
    monkeypatch.setattr(pool, "engine_room", 1)
    specs = [spec("cpu", env=(("TOKENWIRE_TEST", f"room {number}"),)) for number in range(2)]
    for wanted in specs:
        lease = Lease(pool.address, wanted)
        assert len(generate(lease)) == 4
        lease.close()
    assert [node.spec for node in pool.nodes if node.is_engine] == specs[-1:]


def test_no_room_is_one_sentence(pool, monkeypatch):
    monkeypatch.setattr(pool, "engine_room", 1)
    monkeypatch.setattr("fixtures.nodes.pool.ROOM_SECONDS", 0.5)
    held = Lease(pool.address, spec("cpu"))
    with pytest.raises(NodeProblem, match=r"no room for .*: all 1 engine nodes are leased"):
        Lease(pool.address, spec("cpu", dtype="bfloat16"))
    held.close()


def test_an_unknown_release_is_one_sentence(pool):
    with pytest.raises(NodeProblem, match=r"vLLM release '0\.99\.0' is not known here"):
        Lease(pool.address, NodeSpec("0.99.0", "stock", "scripted"))


def test_an_implementation_that_cannot_be_imported_is_shown(pool):
    with pytest.raises(NodeProblem, match="No module named 'no_such_module'"):
        Lease(pool.address, spec("scripted", implementation="no_such_module:install"))


def test_a_slow_failed_start_is_tried_again_after_a_while(pool, tmp_path, monkeypatch):
    monkeypatch.setattr("fixtures.nodes.pool.SLOW_SECONDS", 0)
    monkeypatch.setattr("fixtures.nodes.pool.REMEMBERED_SECONDS", 5)
    monkeypatch.setattr("fixtures.nodes.pool.IMPLEMENTATION_PATH", [str(tmp_path)])
    wanted = spec("scripted", implementation="late_serving:install")
    with pytest.raises(NodeProblem, match="No module named 'late_serving'"):
        Lease(pool.address, wanted)
    (tmp_path / "late_serving.py").write_text("def install(app):\n    app.title = 'late'\n")
    with pytest.raises(NodeProblem, match="No module named 'late_serving'"):
        Lease(pool.address, wanted)
    time.sleep(5)
    Lease(pool.address, wanted).close()


def test_an_implementation_outside_the_checkout_is_found(pool, tmp_path, monkeypatch):
    (tmp_path / "outside_serving.py").write_text("def install(app):\n    app.title = 'mine'\n")
    monkeypatch.setattr("fixtures.nodes.pool.IMPLEMENTATION_PATH", [str(tmp_path)])
    lease = Lease(pool.address, spec("scripted", implementation="outside_serving:install"))
    assert httpx.get(f"{lease.url}/openapi.json", timeout=60).json()["info"]["title"] == "mine"
    lease.close()


def test_a_render_node_renders_and_does_not_generate(pool):
    lease = Lease(pool.address, spec("none", role="render"))
    chat = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
    assert (
        httpx.post(f"{lease.url}/v1/chat/completions/render", json=chat, timeout=60).status_code
        == 200
    )
    assert (
        httpx.post(f"{lease.url}/inference/v1/generate", json=BODY, timeout=60).status_code == 404
    )
    lease.close()


def test_a_node_started_the_ordinary_way_serves(pool, monkeypatch):
    """The way of a CUDA node; the release's own interpreter stands for a GPU machine's."""
    monkeypatch.setenv("TOKENWIRE_PYTHON", str(prepare(RELEASE).python))
    lease = Lease(pool.address, spec("cuda"))
    assert len(generate(lease)) == 4
    lease.close()


def test_a_pool_that_ended_is_one_sentence():
    with pytest.raises(NodeProblem, match=r"the pool at port 9 does not answer .*TOKENWIRE_POOL"):
        Lease({"port": 9, "key": "00"}, spec("scripted"))
