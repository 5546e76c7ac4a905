"""The collector of spans: the few protobuf fields that a case reads."""

import asyncio
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


@pytest.mark.parametrize("body", [BODY[:-1], b"\x0b", b"\xff"])
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
