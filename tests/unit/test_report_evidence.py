"""Exchanges are kept within bounds and without secrets."""

import shlex

import pytest

from reports.evidence import HIDDEN, MAX_BODY, evidence
from reports.record import ReportProblem, Writer, read
from tests.unit.report_lines import case, exchange, header, write


def test_exchanges_are_the_first_ones_and_the_last():
    made = [exchange(path=f"/{number}") for number in range(25)]
    line = evidence(made)
    kept = [*range(19), 24]
    assert [kept["path"] for kept in line["exchanges"]] == [f"/{number}" for number in kept]
    assert line["exchanges_left_out"] == 5
    assert "exchanges_left_out" not in evidence(made[:20])
    assert evidence(made[:20], made=1000)["exchanges_left_out"] == 980


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (None, None),
        (b"", {"bytes": 0, "text": ""}),
        (b"\xff\x00", {"bytes": 2, "base64": "/wA="}),
        ("\ud800", {"bytes": 3, "base64": "7aCA"}),
        ([1, "é"], {"bytes": 9, "text": '[1, "é"]'}),
        (b"a" * MAX_BODY, {"bytes": MAX_BODY, "text": "a" * MAX_BODY}),
        (
            b"a" * (MAX_BODY + 1),
            {"bytes": MAX_BODY + 1, "truncated": True, "text": "a" * MAX_BODY},
        ),
        (
            b"a" * (MAX_BODY - 1) + "é".encode(),
            {"bytes": MAX_BODY + 1, "truncated": True, "text": "a" * (MAX_BODY - 1)},
        ),
    ],
)
def test_body_is_kept_up_to_its_bound(body, kept):
    (line,) = evidence([exchange(body=body, request=body)])["exchanges"]
    assert line["body"] == line["request"] == kept


def test_large_evidence_still_makes_a_report(tmp_path):
    big = "\x00é" * MAX_BODY
    large = exchange(body=b"\xff" * 99_999, request=big, curl=big, headers=[("x", big)], error=big)
    path = write(tmp_path / "r.jsonl", case("t::a", "passed", large, message=big, replay=big))
    (kept,) = read(path).cases
    assert len(kept["message"]) == len(kept["exchanges"][0]["curl"]) == MAX_BODY
    assert kept["message"].endswith(" … (131072 characters in all)")
    assert len(kept["exchanges"][0]["headers"]["x"]) == 8192


def test_no_answer_is_status_null():
    (line,) = evidence([exchange(status=0, body=b"", error="reset")])["exchanges"]
    assert (line["status"], line["error"]) == (None, "reset")


def test_headers_of_one_name_are_joined():
    (line,) = evidence([exchange(headers=[("Via", "a"), ("via", "b"), ("X", "c")])])["exchanges"]
    assert line["headers"] == {"via": "a, b", "x": "c"}


@pytest.mark.parametrize("name", ["Authorization", "AUTHORIZATION", "Cookie", "X-API-Key"])
def test_secret_is_never_written(tmp_path, name):
    value = "Bearer s3cr3t-Value=="
    sent = exchange(
        request_headers={name: value},
        url="http://user:s3cr3t-Value==@localhost/",
        curl=f"curl -H {shlex.quote(f'{name}: {value}')} -d '{{}}' http://u:s3cr3t-Value==@h/",
    )
    message = f"failed:\n{sent['curl']}\n{ {name: value} }\nvllm serve --api-key s3cr3t-Value== x"
    path = tmp_path / "r.jsonl"
    command = ["pytest", "--api-key", "s3cr3t-Value==", "--url=http://u:s3cr3t-Value==@h/"]
    writer = Writer(path, header(command=command))
    line = case("t::a", "failed", sent, message=message)
    writer.case(line)
    assert b"s3cr3t" not in path.read_bytes()
    writer.finish([line], planned=1, exit_code=1, problems=[message])
    assert b"s3cr3t" not in path.read_bytes()
    (kept,) = read(path).cases
    assert kept["exchanges"][0]["request_headers"] == {name.lower(): HIDDEN}
    assert (
        kept["exchanges"][0]["curl"] == f"curl -H '{name}: {HIDDEN}' -d '{{}}' http://{HIDDEN}@h/"
    )
    assert kept["message"].endswith(f"\nvllm serve --api-key {HIDDEN} x")


def test_secret_that_is_a_shell_variable_stays_runnable():
    curl = """curl -H "authorization: $AUTHORIZATION" http://h/"""
    assert evidence([exchange(curl=curl)])["exchanges"][0]["curl"] == curl


def test_secret_header_in_the_open_is_refused(tmp_path):
    line = case("t::a", "passed", exchange(request_headers={"authorization": "Bearer x"}))
    line["exchanges"][0]["request_headers"]["authorization"] = "Bearer x"
    with pytest.raises(ReportProblem, match=r"authorization: '\(hidden\)' was expected"):
        write(tmp_path / "r.jsonl", line)
