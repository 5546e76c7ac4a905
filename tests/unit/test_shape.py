"""The shape of an answer holds every key and type, no value, and what may be absent."""

import json

import httpx
import pytest

from fixtures.wire.exchange import Exchange
from fixtures.wire.shape import shape_of


def answer(body, status=200, content_type="application/json", path="/v1/x"):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = httpx.Headers({"content-type": f"{content_type}; charset=utf-8"})
    return Exchange("n", "POST", f"http://h{path}", path, {}, None, status, headers, content)


def paths(body):
    found = shape_of(answer(body))[1]
    return {path: types for path, types in found.items() if not path.startswith("header ")}


BODIES = [
    ({"a": 1, "b": None}, {"(body)": ["object"], "a": ["integer"], "b": ["null"]}),
    ({"a": [1.5, None]}, {"(body)": ["object"], "a": ["array"], "a[]": ["null", "number"]}),
    (
        {"choices": [{"i": True}, {"finish_reason": "stop"}]},
        {
            "(body)": ["object"],
            "choices": ["array"],
            "choices[]": ["object"],
            "choices[].finish_reason": ['"stop"', "absent"],
            "choices[].i": ["absent", "boolean"],
        },
    ),
    (
        {"prompt_logprobs": [None, {"7": {"rank": 1}, "8": {"rank": 2}}]},
        {
            "(body)": ["object"],
            "prompt_logprobs": ["array"],
            "prompt_logprobs[]": ["null", "object"],
            "prompt_logprobs[].{}": ["object"],
            "prompt_logprobs[].{}.rank": ["integer"],
        },
    ),
    ([1], {"(body)": ["array"], "[]": ["integer"]}),
    (
        {"role": "no word", "text": "stop"},
        {"(body)": ["object"], "role": ["string"], "text": ["string"]},
    ),
]


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_a_body_is_told_by_its_types(body, expected):
    assert paths(body) == expected


def test_route_status_and_content_type_are_told():
    name, shape = shape_of(answer({}, 404, path="/v1/x?a=1"))
    assert (name, shape["header content-type"]) == ("POST /v1/x 404", ["application/json"])


def test_the_chunks_of_a_stream_are_one_shape():
    events = b'data: {"a":1,"b":2}\n\ndata: {"a":null}\n\ndata: [DONE]\n\n'
    name, shape = shape_of(answer(events, content_type="text/event-stream"))
    assert name == "POST /v1/x 200 stream"
    assert shape["a"] == ["integer", "null"]
    assert shape["b"] == ["absent", "integer"]
    assert shape["[DONE]"] == ["true"]


def test_the_last_chunk_of_a_long_stream_is_looked_at():
    events = b'data: {"a":1}\n\n' * 500 + b'data: {"a":1,"usage":{}}\n\ndata: [DONE]\n\n'
    assert shape_of(answer(events, content_type="text/event-stream"))[1]["usage"] == [
        "absent",
        "object",
    ]


def test_no_answer_has_no_shape_and_no_json_says_so():
    assert shape_of(answer(b"", 0)) is None
    assert shape_of(answer(b"<html>"))[1]["body"] == ["no JSON"]


def test_a_server_cannot_make_it_large():
    assert len(shape_of(answer({f"k{n}": n for n in range(5000)}))[1]) <= 400
