"""The wire client against servers of a few lines, the badly behaved ones included."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from fixtures.wire import OMIT, Exchange, NodeUnreachable, Wire, WireError, transport

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served(answer: Handler) -> AsyncIterator[tuple[Wire, list[Exchange]]]:
    """A wire to a server that reads one request and then does what `answer` says."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
            await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)
            await answer(reader, writer)
        finally:
            writer.close()

    recorded: list[Exchange] = []
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield Wire(f"http://127.0.0.1:{port}", "node-1", record=recorded.append), recorded
    finally:
        server.close()
        await transport.close_shared_client()


def sends(*pieces: bytes) -> Handler:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)

    return answer


@pytest.fixture
async def echo():
    """A wire whose node answers with the request it got, and what it recorded."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200,
            json={
                "path": request.url.path,
                "headers": dict(request.headers),
                "body": request.content.decode(),
            },
        )

    recorded: list[Exchange] = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        yield Wire("http://node/", "node-1", record=recorded.append, client=client), recorded


@pytest.mark.parametrize(
    ("call", "path", "stream"),
    [
        ("generate", "/inference/v1/generate", False),
        ("generate_stream", "/inference/v1/generate", True),
        ("render_chat", "/v1/chat/completions/render", False),
        ("render_completions", "/v1/completions/render", False),
        ("derender_chat", "/v1/chat/completions/derender", False),
        ("derender_completions", "/v1/completions/derender", False),
        ("chat", "/v1/chat/completions", False),
        ("chat_stream", "/v1/chat/completions", True),
        ("completions", "/v1/completions", False),
        ("completions_stream", "/v1/completions", True),
    ],
)
async def test_each_call_has_its_route(echo, call, path, stream):
    wire, recorded = echo
    exchange = await getattr(wire, call)({"a": 1, "b": 1}, b=2)
    sent = {"model": "tiny", "a": 1, "b": 2, **({"stream": True} if stream else {})}
    assert (exchange.json["path"], json.loads(exchange.json["body"])) == (path, sent)
    assert exchange.request == sent
    assert recorded == [exchange]


@pytest.mark.parametrize(
    ("body", "fields", "sent"),
    [
        (None, {}, '{"model":"tiny"}'),
        ({"model": "other"}, {}, '{"model":"other"}'),
        ({"model": None}, {}, '{"model":null}'),
        ({}, {"model": OMIT, "deep": {"x": OMIT, "y": None}}, '{"deep":{"y":null}}'),
        ({"text": "é\ud800"}, {"model": OMIT}, '{"text":"\\u00e9\\ud800"}'),
        ([1, 2], {}, "[1,2]"),
        (b"{not json", {}, "{not json"),
        (OMIT, {}, ""),
    ],
)
async def test_a_body_is_sent_as_it_was_meant(echo, body, fields, sent):
    wire, _ = echo
    assert (await wire.post("/any", body, **fields)).json["body"] == sent


async def test_the_control_routes_get_no_model(echo):
    wire, _ = echo
    assert (await wire.post("/_engine/scripts", {"name": "a"})).json["body"] == '{"name":"a"}'


@pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": [OMIT]}, {"x": object()}])
async def test_what_json_cannot_hold_is_refused_before_sending(echo, body):
    wire, recorded = echo
    with pytest.raises((ValueError, TypeError)):
        await wire.post("/any", body)
    assert recorded == []


async def test_fields_and_a_body_of_bytes_do_not_mix(echo):
    wire, _ = echo
    with pytest.raises(TypeError, match="merged"):
        await wire.generate(b"{}", n=2)


async def test_later_changes_of_a_body_do_not_reach_the_exchange(echo):
    wire, _ = echo
    body = {"token_ids": [1]}
    exchange = await wire.generate(body)
    body["token_ids"].append(2)
    assert exchange.request == {"model": "tiny", "token_ids": [1]}


async def test_headers_are_sent_and_secrets_are_not_kept(echo):
    wire, _ = echo
    wire.headers["Authorization"] = "Bearer s3cret"
    exchange = await wire.generate(headers={"X-Request-Id": "r1"}, script="case-1")
    got = exchange.json["headers"]
    assert (got["authorization"], got["x-request-id"]) == ("Bearer s3cret", "r1")
    assert (got["x-engine-script"], got["content-type"]) == ("case-1", "application/json")
    kept = {**exchange.record(), **vars(exchange), "body": "", "json": "", "line": exchange.curl()}
    assert "s3cret" not in repr(kept)


def test_a_password_in_the_address_is_refused():
    with pytest.raises(ValueError, match="password"):
        Wire("http://user:s3cret@node", "node-1")


async def test_metrics_are_summed_over_labels():
    text = '# TYPE a gauge\na{engine="0"} 1\na{engine="1"} 2.5\n# TYPE b counter\nb_total 7\n'
    async with served(
        sends(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(text) + text.encode())
    ) as (wire, _):
        metrics = await wire.metrics()
    assert (metrics.total("a"), metrics.total("a", engine="1")) == (3.5, 2.5)
    assert (metrics.total("b_total"), metrics.total("a", engine="9")) == (7, 0)
    with pytest.raises(KeyError):
        metrics.total("c")


async def test_a_get_may_ask_the_server_of_another_route():
    class Split(Wire):
        def url_for(self, path: str) -> str:
            return "http://render" if path.endswith("/render") else "http://generate"

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=f"host_{request.url.host} 1\n")

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        wire = Split("http://generate", "node-1", client=client)
        found = [await wire.metrics(of=of) for of in (None, "/x/render", "/x", "/x/render")]
    assert [list(metrics) for metrics in found] == [
        [f"host_{role}"] for role in ("generate", "render", "generate", "render")
    ]


# A node that fails


async def test_a_refused_connection_is_an_unreachable_node():
    async with served(sends()) as (wire, _):
        port = int(wire.node_url.rsplit(":", 1)[1])
    recorded: list[Exchange] = []
    gone = Wire(f"http://127.0.0.1:{port}", "node-1", record=recorded.append)
    with pytest.raises(NodeUnreachable, match=r"node-1 is unreachable .*POST /inference/v1/gen"):
        await gone.generate()
    assert (recorded[0].status, "unreachable" in recorded[0].error) == (0, True)
    await transport.close_shared_client()


@pytest.mark.parametrize(
    "pieces",
    [(), (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{",), (b"HTTP/1.1 200",)],
    ids=["before the answer", "inside the body", "inside the status line"],
)
async def test_an_early_end_is_an_unreachable_node(pieces):
    async with served(sends(*pieces)) as (wire, recorded):
        with pytest.raises(NodeUnreachable, match="node-1 closed the connection early") as caught:
            await wire.generate()
    assert caught.value.exchange is recorded[0]


async def test_a_reset_is_an_unreachable_node():
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with served(reset) as (wire, _):
        with pytest.raises(NodeUnreachable):
            await wire.generate()


async def test_what_is_not_http_is_a_wrong_answer_of_a_living_node():
    async with served(sends(b"SSH-2.0-OpenSSH_9\r\n\r\n")) as (wire, _):
        with pytest.raises(WireError, match="did not speak HTTP") as caught:
            await wire.generate()
    assert not isinstance(caught.value, NodeUnreachable)


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"], ids=["silent", "stalled"]
)
async def test_a_late_answer_names_node_route_and_bound(start):
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await reader.read()

    async with served(stall) as (wire, recorded):
        with pytest.raises(WireError, match=r"node-1 gave no .* 0\.2 s for POST /inference/v1/gen"):
            await wire.generate(timeout=0.2)
    assert recorded[0].body == start[-1:]


async def test_an_endless_body_ends_at_the_bound(monkeypatch):
    monkeypatch.setattr(transport, "BODY_BYTES", 1 << 20)

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65536)
            await writer.drain()

    async with served(flood) as (wire, recorded):
        with pytest.raises(WireError, match="sent more than 1 MiB for POST /inference/v1/generate"):
            await wire.generate(timeout=5)
    assert 1 << 20 < len(recorded[0].body) < 2 << 20


async def test_a_case_that_stops_waiting_leaves_a_record():
    async with served(lambda reader, writer: reader.read()) as (wire, recorded):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await wire.generate()
    assert "not waited for" in recorded[0].error


@pytest.mark.parametrize("status", [400, 500])
async def test_the_connection_of_an_error_is_not_used_again(status):
    """After an exception uvicorn closes unannounced: the next call must not race it."""

    async def crash(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 %d Oh\r\ncontent-length: 2\r\n\r\n{}" % status)
        await reader.read(1)

    async with served(crash) as (wire, _):
        assert [(await wire.generate()).status for _ in range(3)] == [status] * 3


async def test_the_connection_of_any_other_answer_is_kept():
    connections = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        writer.write(OK)
        while await reader.readuntil(b'{"model":"tiny"}'):
            writer.write(OK)

    async with served(answer) as (wire, _):
        assert [(await wire.generate()).status for _ in range(3)] == [200] * 3
        await transport.close_shared_client()
    assert len(connections) == 1


# Streams


async def test_chunks_come_as_they_arrive_and_their_times_are_kept():
    rest = b": 2}\n\n: ping\n\ndata: [DONE]\n\n"
    node = served(sends(STREAM, b'data: {"a": 1}\n\n', b'data: {"a"', rest))
    async with node as (wire, recorded), wire.open_stream("/any", n=1) as stream:
        chunks = [chunk async for chunk in stream.expect(200)]
    assert (chunks, stream.done, stream.exchange.done) == ([{"a": 1}, {"a": 2}], True, True)
    assert stream.exchange.request == {"model": "tiny", "stream": True, "n": 1}
    first, second = stream.exchange.chunk_seconds
    assert first + 0.015 < second <= stream.exchange.seconds
    assert (stream.exchange.error, recorded) == (None, [stream.exchange])


async def test_leaving_a_stream_early_closes_the_connection():
    closed = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b'data: {"a": 1}\n\n')
        assert await reader.read() == b""
        closed.set()

    async with served(answer) as (wire, recorded):
        async with wire.open_stream("/inference/v1/generate") as stream:
            assert await anext(stream) == {"a": 1}
        async with asyncio.timeout(5):
            await closed.wait()
    assert (recorded, stream.done) == ([stream.exchange], False)
    assert stream.exchange.chunks == [{"a": 1}]
    assert "the case closed" in stream.exchange.error


async def test_an_error_in_place_of_a_stream_is_read_whole():
    body = b'{"error": {"message": "no"}}'
    head = b"HTTP/1.1 400 Bad\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    node = served(sends(head % len(body) + body))
    async with node as (wire, _), wire.open_stream("/any") as stream:
        assert stream.exchange.json == {"error": {"message": "no"}}
        with pytest.raises(AssertionError, match="expected status 200, got 400 from node-1"):
            stream.expect(200)
        with pytest.raises(WireError, match="status 400 and no event stream"):
            await anext(stream)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b"data: {}\n\ndata: {", "ends inside an event"),
        (b"data:{}\n\n", "broken event"),
        (b"data: {]\n\n", "broken event"),
    ],
)
async def test_a_broken_stream_is_a_wire_error(tail, message):
    async with served(sends(STREAM + tail)) as (wire, _):
        with pytest.raises(WireError, match=message):
            async with wire.open_stream("/inference/v1/generate") as stream:
                _ = [chunk async for chunk in stream]


async def test_a_stream_that_stalls_ends_at_its_deadline():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + b'data: {"a": 1}\n\n')
        await reader.read()

    async with served(answer) as (wire, recorded):
        with pytest.raises(WireError, match=r"within 0\.2 s"):
            async with wire.open_stream("/inference/v1/generate", timeout=0.2) as stream:
                _ = [chunk async for chunk in stream]
    assert (recorded[0].chunks, "within" in recorded[0].error) == ([{"a": 1}], True)
