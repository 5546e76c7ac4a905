"""Leases on servers that run already: who gets a turn, what is not theirs to give, and their end."""

import http.server
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fixtures.nodes import given
from fixtures.nodes.given import GivenServers, unmet
from fixtures.nodes.lease import Lease
from fixtures.nodes.leasing import NodeProblem, OptionAbsent
from fixtures.nodes.spec import NodeSpec

TARGET = NodeSpec("0.33.0", "stock", "given")


@pytest.fixture
def server():
    """A server without /health, which is as good as one with it; `server.status` is its answer, and
    `server.location` where it sends its asker.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(self.server.status)
            if self.server.location:
                self.send_header("Location", self.server.location)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.status, server.location = 404, ""
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def servers(server):
    """The leases of it; another server, which nobody asks, renders."""
    url = f"http://127.0.0.1:{server.server_address[1]}"
    servers = GivenServers({"render": url + "/r", "generate": url, "derender": url}, TARGET)
    yield servers
    servers.close()


def test_a_lease_knows_the_address_of_each_role(servers):
    lease = Lease(servers.address, TARGET)
    url = servers.urls["generate"]
    assert lease.url == lease.url_for("/inference/v1/generate") == url
    assert lease.url_for("/v1/completions/render") == url + "/r"
    assert lease.name == f"stock@0.33.0 at render={url}/r generate={url} derender={url}"
    assert lease.alive()
    render = Lease(servers.address, replace(TARGET, role="render"))
    assert {render.url_for(path) for path in ("/a", "/b/render", "/c/derender")} == {url + "/r"}
    for one in (lease, render):
        one.close()


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"flags": ("--tokens-only",)}, ["started with --tokens-only"]),
        ({"flags": ("--a", "1"), "dtype": "bfloat16"}, ["started with --a 1 --dtype bfloat16"]),
        ({"model": "tiny-moe", "env": (("A", "b"),)}, ["of the model tiny-moe", "with A=b"]),
        ({"implementation": "reference"}, ["of reference"]),
        ({"release": "0.32.0"}, ["of vLLM 0.32.0"]),
        ({"role": "render"}, []),
        ({}, []),
    ],
)
def test_what_a_server_was_not_seen_to_have(servers, wish, said):
    wanted = replace(TARGET, **wish)
    assert unmet(wanted, TARGET) == said
    if said:
        with pytest.raises(OptionAbsent, match=r"^needs a server .*, which --url"):
            Lease(servers.address, wanted)


def waiting(servers: GivenServers) -> int:
    """How many wait; whoever gets a lease at once is never among them while the lock is free."""
    with servers.changed:
        return len(servers.waiting)


def turns(servers: GivenServers, *asked: tuple[int, bool]):
    """Ask for leases one after another, each as (holder, exclusive); (who got one, the futures)."""
    executor = ThreadPoolExecutor(len(asked))
    futures = []
    for number, (holder, exclusive) in enumerate(asked, 1):
        futures.append(executor.submit(servers.acquire, TARGET, exclusive, holder))
        deadline = time.monotonic() + 10
        while len(servers.leases) + waiting(servers) < number:
            assert time.monotonic() < deadline
            time.sleep(0.005)
    while sum(future.done() for future in futures) < len(asked) - waiting(servers):
        time.sleep(0.005)
    return [future.done() for future in futures], futures


def test_one_who_asks_to_be_alone_is_let_in_before_those_who_come_later(servers):
    done, (first, alone, later) = turns(servers, (1, False), (2, True), (3, False))
    assert done == [True, False, False]
    servers.give_back(first.result())
    lease = alone.result(5)
    time.sleep(0.05)
    assert not later.done()
    servers.give_back(lease)
    servers.give_back(later.result(5))
    assert servers.leases == servers.waiting == []


def test_a_holder_is_not_in_its_own_way(servers):
    done, futures = turns(servers, (1, False), (2, True), (1, False))
    assert done == [True, False, True]
    for at in (0, 2):
        servers.give_back(futures[at].result())
    assert futures[1].result(5).exclusive


def test_no_turn_is_one_sentence(servers, monkeypatch):
    monkeypatch.setattr(given, "TURN_SECONDS", 0.05)
    held = servers.acquire(TARGET, True, 1)
    with pytest.raises(NodeProblem, match=r"^no turn on stock@0\.33\.0 at .* within 0\.05 seconds"):
        servers.acquire(TARGET, False, 2)
    assert servers.waiting == []
    servers.give_back(held)


def test_a_server_that_is_gone_once_is_gone(servers, server):
    lease = Lease(servers.address, TARGET)
    server.status = 503
    assert lease.ending().startswith("the server at http://127.0.0.1:")
    assert lease.ending().endswith("is gone: GET /health is answered with 503")
    server.status = 200
    with pytest.raises(NodeProblem, match="is gone"):
        lease.renew()


def test_a_server_that_does_not_answer_is_gone(servers, server):
    lease = Lease(servers.address, TARGET)
    server.shutdown()
    server.server_close()
    assert "is not answered (" in lease.ending()
    lease.close()


def test_a_server_that_sends_its_asker_elsewhere_is_not_followed(server):
    asked = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(500)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever, args=(0.01,), daemon=True).start()
        server.location = f"http://127.0.0.1:{elsewhere.server_address[1]}/health"
        server.status = 302
        url = f"http://127.0.0.1:{server.server_address[1]}"
        servers = GivenServers({"render": url, "generate": url, "derender": url}, TARGET)
        lease = Lease(servers.address, TARGET)
        assert lease.alive() and asked == []
        lease.close()
        servers.close()
        elsewhere.shutdown()
