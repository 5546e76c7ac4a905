"""The collector of spans: the few protobuf fields that a case reads."""

import asyncio
import http.client
import urllib.request

import pytest

from fixtures.collector import Collector, Span, spans_in


def message(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2, len(content)]) + content


TRACE, OWN, PARENT = bytes(range(16)), bytes(range(8)), bytes(range(8, 16))
NUMBER = message(9, message(1, b"tokens") + message(2, b"\x18\xac\x02"))
TEXT = message(9, message(1, b"id") + message(2, message(1, "é".encode())))
STARTED = b"\x39" + bytes(8)
SPAN = message(1, TRACE) + message(2, OWN) + message(4, PARENT) + message(5, b"llm_request")
BODY = message(1, message(1, b"") + message(2, message(2, SPAN + STARTED + NUMBER + TEXT)))
EXPECTED = Span(TRACE.hex(), OWN.hex(), PARENT.hex(), "llm_request", {"tokens": 300, "id": "é"})


def test_spans_are_read_with_their_attributes():
    assert list(spans_in(BODY)) == [EXPECTED]


@pytest.mark.parametrize("body", [BODY[:-1], b"\x0b", b"\xff", b"\x88" * 11, b"\x08\x01"])
def test_what_is_no_message_is_refused(body):
    with pytest.raises(ValueError, match="not a protobuf message"):
        list(spans_in(body))


def test_what_is_posted_is_collected():
    with Collector() as collector:
        request = urllib.request.Request(collector.endpoint, BODY, method="POST")
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200
        assert asyncio.run(collector.of_trace(TRACE.hex(), 1)) == [EXPECTED]
        assert asyncio.run(collector.of_trace("0" * 32, 1, seconds=0)) == []


@pytest.mark.parametrize(
    "span",
    [
        message(1, TRACE) + message(2, OWN),
        message(1, TRACE) + b"\x10\x07" + message(5, b"llm_request"),
        SPAN + message(9, message(1, b"tokens")),
    ],
    ids=["no-name", "number-for-an-id", "attribute-without-value"],
)
def test_a_span_without_what_it_needs_is_refused(span):
    with pytest.raises(ValueError, match="not a span"):
        list(spans_in(message(1, message(2, message(2, span)))))


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({}, b"", 411),
        ({"Content-Length": "-1"}, b"", 411),
        ({"Content-Length": str(16 * 1024 * 1024 + 1)}, b"", 413),
        ({"Content-Length": "9" * 5000}, b"", 413),
        ({"Content-Length": "1"}, b"\xff", 400),
    ],
    ids=["no-length", "negative", "too-long", "huge-number", "no-message"],
)
def test_a_post_that_cannot_be_read_is_refused(headers, body, status):
    with Collector() as collector:
        client = http.client.HTTPConnection(collector.endpoint.split("/")[2], timeout=10)
        client.putrequest("POST", "/v1/traces")
        for name, value in headers.items():
            client.putheader(name, value)
        client.endheaders(body)
        assert client.getresponse().status == status
        client.close()
        assert collector.spans == []
