"""What a mix made of an exchange: the four outcomes, and nothing that cannot end badly."""

import json

import pytest

from fixtures.mix import BREAKS, DEGRADES, INTEROPERATES, REFUSES, Seen, Stopped, answered
from fixtures.wire import Exchange


def exchange(status=200, body=b"{}", kind="application/json", error=None):
    made = Exchange("node", "POST", "http://node/x", "/x", {}, b"{}", status=status, body=body)
    made.headers["content-type"] = kind
    made.error = error
    return made


def stream(*events):
    body = b"".join(b"data: " + event + b"\n\n" for event in events)
    return exchange(body=body, kind="text/event-stream")


def error(status, body):
    return exchange(status, json.dumps(body).encode())


def outcome_of(made):
    with pytest.raises(Stopped) as stopped:
        answered(made)
    return stopped.value.outcome


def test_a_good_answer_is_its_json():
    assert answered(exchange(body=b'{"a": 1}')) == {"a": 1}
    assert answered(stream(b'{"a": 1}', b'{"a": 2}', b"[DONE]")) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("status", [400, 403, 404, 422, 501])
def test_a_refusal_that_says_why_is_clean(status):
    assert outcome_of(error(status, {"error": {"message": "too long"}})) == REFUSES
    assert outcome_of(error(status, {"detail": "Not Found"})) == REFUSES


@pytest.mark.parametrize(
    "body", [{}, {"error": {}}, {"error": {"message": ""}}, {"error": "no"}, [], {"detail": None}]
)
def test_a_refusal_without_a_reason_breaks(body):
    assert outcome_of(error(400, body)) == BREAKS


@pytest.mark.parametrize("status", [0, 204, 302, 500, 502, 503])
def test_every_other_status_breaks(status):
    assert outcome_of(error(status, {"error": {"message": "why"}})) == BREAKS


@pytest.mark.parametrize(
    "made",
    [
        exchange(400, b"Bad Request"),
        exchange(body=b'{"a": '),
        stream(b'{"a": 1}'),
        stream(b'{"error": {"message": "gone", "code": 400}}', b"[DONE]"),
        stream(b'{"a": ', b"[DONE]"),
        stream(b"[DONE]", b'{"a": 1}'),
    ],
)
def test_a_broken_answer_breaks(made):
    assert outcome_of(made) == BREAKS


def seen_answer(got, unmixed):
    seen = Seen()
    seen.answer(got, unmixed)
    return seen.outcome


def test_the_same_answer_interoperates():
    assert seen_answer({"text": "a", "id": "1"}, {"text": "a", "id": "2"}) == INTEROPERATES
    assert seen_answer({"logprob": -0.5004}, {"logprob": -0.5}) == INTEROPERATES


@pytest.mark.parametrize("got", [{}, {"text": None}, {"text": ""}])
def test_a_part_that_is_gone_degrades(got):
    assert seen_answer(got, {"text": "a"}) == DEGRADES


@pytest.mark.parametrize(
    ("got", "unmixed"),
    [
        ({"text": "b"}, {"text": "a"}),
        ({"text": "a", "more": 1}, {"text": "a"}),
        ([1, 2, 3], [1, 2]),
        ({"logprob": -0.502}, {"logprob": -0.5}),
        ({"n": 1}, {"n": None}),
    ],
)
def test_another_answer_breaks(got, unmixed):
    assert seen_answer(got, unmixed) == BREAKS


def test_what_is_wrong_outweighs_what_is_lost():
    seen = Seen()
    seen.answer({"text": "b"}, {"text": "a", "logprobs": [1]})
    assert seen.outcome == BREAKS
    assert seen.why.startswith("text: expected 'a', got 'b'")


@pytest.mark.parametrize("effective", [{"max_tokens": 496}, {"max_tokens": None}, {}])
def test_what_was_asked_and_does_not_arrive_degrades(effective):
    seen = Seen()
    seen.asked(effective, {"max_tokens": 16})
    assert seen.outcome == DEGRADES


def test_an_exchange_that_stopped_is_what_stopped_it():
    seen = Seen()
    seen.answer({"text": "b"}, {"text": "a"})
    seen.stopped = Stopped(REFUSES, "400 too long")
    assert (seen.outcome, seen.why) == (REFUSES, "400 too long")


def test_an_exchange_that_was_compared_with_nothing_has_no_outcome():
    with pytest.raises(ValueError, match="compared with nothing"):
        Seen().outcome  # noqa: B018
