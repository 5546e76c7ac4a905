"""The trainer's client: the right value per token, or an error that says why there is none."""

import json
import subprocess
import sys

import httpx
import pytest

from impl import teacher_logprobs as module
from impl.teacher_logprobs import (
    InvalidAnswerError,
    LengthMismatchError,
    MissingTokenError,
    RefusedError,
    TeacherLogprobsError,
    UnusableLogprobError,
    logprobs_of_tokens,
    teacher_logprobs,
)


def logprob(value):
    return {"logprob": value, "rank": 1, "decoded_token": "x"}


ENTRIES = [None, {"9": logprob(-0.1), "5": logprob(-2.5)}, {"7": logprob(-0.25)}]


def server(requests=None, *, status=200, content=None, entries=ENTRIES):
    def answer(request):
        if requests is not None:
            requests.append(request)
        body = (
            content
            if content is not None
            else json.dumps({"prompt_logprobs": entries, "choices": []}).encode()
        )
        return httpx.Response(status, content=body)

    return httpx.Client(transport=httpx.MockTransport(answer))


def ask(client, base_url="http://teacher:8000", **options):
    return teacher_logprobs(base_url, [4, 5], [7], client=client, **options)


def test_each_token_gets_the_value_under_its_own_id_and_the_first_gets_zero():
    assert ask(server()) == [0.0, -2.5, -0.25]


def test_one_call_over_prompt_and_completion_with_the_right_body():
    requests = []
    ask(server(requests), model="tiny")
    (request,) = requests
    assert json.loads(request.content) == {
        "model": "tiny",
        "token_ids": [4, 5, 7],
        "sampling_params": {
            "max_tokens": 1,
            "temperature": 1.0,
            "top_p": 1.0,
            "prompt_logprobs": 1,
        },
        "stream": False,
    }


def test_the_model_is_left_out_unless_given():
    requests = []
    ask(server(requests))
    assert "model" not in json.loads(requests[0].content)


@pytest.mark.parametrize(
    "base_url", ["http://teacher:8000", "http://teacher:8000/v1", "http://teacher:8000/v1/"]
)
def test_generate_is_posted_beside_v1(base_url):
    requests = []
    ask(server(requests), base_url)
    assert str(requests[0].url) == "http://teacher:8000/inference/v1/generate"


@pytest.mark.parametrize("status", [307, 400, 404, 500, 503])
def test_a_status_other_than_2xx_is_an_error_with_the_status_and_body(status):
    with pytest.raises(RefusedError, match=f"{status}: no such model") as caught:
        ask(server(status=status, content=b"no such model"))
    assert caught.value.status == status


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b"[]", b"{}", b'{"prompt_logprobs": null}', b'{"prompt_logprobs": {}}'],
)
def test_an_answer_without_prompt_logprobs_is_an_error(content):
    with pytest.raises(InvalidAnswerError):
        ask(server(content=content))


@pytest.mark.parametrize("entries", [[], ENTRIES[:2], [*ENTRIES, ENTRIES[2]]])
def test_a_number_of_entries_other_than_of_tokens_is_an_error(entries):
    with pytest.raises(LengthMismatchError, match=f"Sent 3 tokens, got {len(entries)} entries"):
        ask(server(entries=entries))


@pytest.mark.parametrize(
    "entry", [None, {}, {"9": logprob(-0.1)}, {"5": None}, {"5": -2.5}, [logprob(-2.5)], "x"]
)
def test_an_entry_without_the_token_itself_is_an_error(entry):
    with pytest.raises(MissingTokenError, match="position 1 has no logprob for token 5"):
        ask(server(entries=[None, entry, ENTRIES[2]]))


@pytest.mark.parametrize(
    "value", [None, -9999.0, -1e9, float("nan"), float("-inf"), float("inf"), 0.5, "-1", True]
)
def test_a_sentinel_null_or_impossible_logprob_is_an_error(value):
    with pytest.raises(UnusableLogprobError, match="position 1"):
        ask(server(entries=[None, {"5": logprob(value)}, ENTRIES[2]]))


@pytest.mark.parametrize("value", [-9998.0, -0.5, -1e-9, 0, 0.0])
def test_every_finite_logprob_is_kept(value):
    assert logprobs_of_tokens([None, {"5": logprob(value)}], [4, 5]) == [0.0, float(value)]


def test_a_first_entry_that_is_not_null_must_hold_its_own_token():
    assert logprobs_of_tokens([{"4": logprob(-3.0)}], [4]) == [-3.0]
    with pytest.raises(MissingTokenError):
        logprobs_of_tokens([{"5": logprob(-3.0)}], [4])


def test_an_answer_that_is_too_large_is_not_read_to_the_end(monkeypatch):
    monkeypatch.setattr(module, "MAX_RESPONSE_BYTES", 10)
    with pytest.raises(InvalidAnswerError, match="longer than 10 bytes"):
        ask(server())


def test_an_answer_that_does_not_end_in_time_is_an_error():
    with pytest.raises(InvalidAnswerError, match="in time"):
        ask(server(), timeout=-1.0)


def test_a_server_that_cannot_be_reached_is_httpx_own_error():
    def refuse(request):
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(httpx.ConnectError):
        ask(httpx.Client(transport=httpx.MockTransport(refuse)))


def test_every_error_of_the_client_is_a_teacher_logprobs_error():
    for error in (
        RefusedError,
        InvalidAnswerError,
        LengthMismatchError,
        MissingTokenError,
        UnusableLogprobError,
    ):
        assert issubclass(error, TeacherLogprobsError)


def test_importing_the_client_does_not_import_vllm():
    code = "import sys, impl.teacher_logprobs; sys.exit('vllm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
