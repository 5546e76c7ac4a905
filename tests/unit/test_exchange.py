"""What an exchange makes of the bytes it holds, and what it tells about them."""

import base64
import json
import shlex

import httpx
import pytest

from fixtures.wire import Exchange, WireError
from reports.evidence import evidence


def exchange(body: bytes = b"", *, kind: str = "application/json", **changes) -> Exchange:
    values = {
        "node": "node-1",
        "method": "POST",
        "url": "http://node/v1/x",
        "path": "/v1/x",
        "request_headers": {"Content-Type": "application/json"},
        "request_body": b'{"a":1}',
        "status": 200,
        "headers": httpx.Headers({"content-type": kind}),
        "body": body,
    }
    return Exchange(**{**values, **changes})


def stream(body: bytes, **changes) -> Exchange:
    return exchange(body, kind="text/event-stream; charset=utf-8", **changes)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "Expecting value"),
        (b"{} {}", "Extra data"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b"[Infinity]", "Infinity is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"[1e999]", "overflows"),
        (b"[1" + b"0" * 400 + b".0]", "overflows"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "key 'b' occurs twice"),
        (b'"\xff"', "utf-8"),
        ("{}".encode("utf-16"), "utf-8"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[" * 100_000, "nested too deeply"),
        (b"<html>\x1b[31m", "Expecting value"),
    ],
    ids=str,
)
def test_what_is_not_strict_json_is_refused(body, reason):
    with pytest.raises(WireError, match=f"node-1 answered POST /v1/x with status 200.*{reason}"):
        _ = exchange(body).json


def test_strict_json_keeps_numbers_as_they_are():
    assert exchange(b' {"a": [1, 1.0, 1e22, 1e-999, null]} ').json == {"a": [1, 1.0, 1e22, 0, None]}
    assert [type(n) for n in exchange(b"[1, 1.0]").json] == [int, float]


def test_an_error_shows_the_status_and_the_start_of_the_body_escaped():
    with pytest.raises(WireError) as caught:
        _ = exchange(b"oh\x1b[31m\n" + b"x" * 300, status=502).json
    message = str(caught.value)
    assert "status 502" in message
    assert "oh\\x1b[31m\\n" + "x" * 192 + "…" in message
    assert message.isprintable()


def test_chunks_are_the_data_events_without_done():
    body = b'data: {"a": 1}\n\n: ping\n\ndata: {"error": {"code": 500}}\n\ndata: [DONE]\n\n'
    assert stream(body).chunks == [{"a": 1}, {"error": {"code": 500}}]
    assert stream(body).done
    assert stream(body).events[1] == b": ping"


@pytest.mark.parametrize(
    ("body", "done"),
    [
        (b"", False),
        (b"data: {}\n\n", False),
        (b"data: [DONE]\n\ndata: {}\n\n", False),
        (b"data: [DONE]\n\ndata: [DONE]\n\n", False),
        (b'data: "[DONE]"\n\n', False),
        (b"data: {}\n\ndata: [DONE]\n\n", True),
        (b"data: [DONE]\n\n: bye\n\n", True),
    ],
)
def test_done_means_once_and_last(body, done):
    assert stream(body).done is done


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"data:{}\n\n", "broken event"),
        (b" data: {}\n\n", "broken event"),
        (b"data: {}\r\n\r\n", "ends inside an event"),
        (b"data: {}\ndata: {}\n\n", "broken event"),
        (b"event: x\ndata: {}\n\n", "broken event"),
        (b"data: {}\n\n\ndata: {}\n\n", "broken event"),
        (b"data: {}\n", "ends inside an event"),
        (b'data: {"a": 1, "a": 2}\n\n', "not strict JSON"),
        (b"data: [done]\n\n", "not strict JSON"),
    ],
)
def test_anything_but_data_and_a_blank_line_is_refused(body, reason):
    with pytest.raises(WireError, match=reason):
        _ = stream(body).chunks


def test_only_an_event_stream_has_chunks():
    with pytest.raises(WireError, match="status 400 and no event stream: nope"):
        _ = exchange(b"nope", status=400).chunks


def test_a_chunk_has_the_time_of_its_last_byte():
    body = b"data: 1\n\ndata: 2\n\ndata: [DONE]\n\n"
    timed = stream(body, arrivals=[(8, 0.1), (18, 0.2), (len(body), 0.3)])
    assert timed.chunk_seconds == [0.2, 0.2]


def test_expect_returns_the_exchange_or_says_what_came():
    assert (right := exchange()).expect(200) is right
    wrong = exchange(b"x" * 600, status=400)
    with pytest.raises(AssertionError) as caught:
        wrong.expect(200)
    start = "expected status 200, got 400 from node-1 for POST /v1/x: "
    assert str(caught.value) == start + "x" * 500 + "…"


# The curl line


def words(line: str) -> list[str]:
    return shlex.split(line, comments=True)


@pytest.mark.parametrize("text", ["it's", '"$HOME" `id` \\', "@file", "a\nb", "é🙂"])
def test_curl_quotes_for_a_shell(text):
    body = json.dumps({"text": text}, ensure_ascii=False).encode()
    line = exchange(request_body=body, request_headers={"X-Note": text}).curl()
    assert words(line)[-2:] == ["--data-raw", body.decode()]
    assert f"X-Note: {text}" in words(line)
    assert words(line)[:6] == ["curl", "-sS", "-N", "-X", "POST", "http://node/v1/x"]


def test_curl_names_a_secret_as_a_variable():
    line = exchange(request_headers={"Authorization": "(hidden)"}).curl()
    assert '-H "Authorization: $AUTHORIZATION"' in line


@pytest.mark.parametrize("body", [b"x" * 40_000, b"\x00\xff"], ids=["large", "binary"])
def test_curl_names_a_body_that_no_shell_wants_as_a_file(body):
    line = exchange(request_body=body).curl()
    assert words(line)[-2:] == ["--data-binary", "@request.body"]
    assert line.endswith(f"{len(body)} bytes")


def test_curl_of_a_get_has_no_body():
    assert "--data" not in exchange(method="GET", request_body=None).curl()


# The report


def test_the_record_is_what_the_report_takes():
    made = exchange(b"\xff{}", error="late").record()
    assert evidence([made])["exchanges"][0] == {
        **{name: made[name] for name in ("method", "path", "url", "seconds", "node", "curl")},
        "request_headers": {name.lower(): value for name, value in made["request_headers"].items()},
        "request": {"text": '{"a":1}', "bytes": 7},
        "status": 200,
        "headers": dict(made["headers"]),
        "body": {"base64": base64.b64encode(b"\xff{}").decode(), "bytes": 3},
        "error": "late",
    }


def test_the_record_of_no_answer_has_no_status():
    assert exchange(b"", status=0).record()["status"] is None
