"""The ids that cases send: each case's own, and none of them a constant."""

import re

from fixtures.case import own_id
from fixtures.outcome import SUITE

# But for the value that is refused because it cannot be an id.
CONSTANT = re.compile(
    r"""\b(?:(?i:request_id|x-request-id|cache_salt)["']?\s*[:=]|HEADER\s*:)\s*f?["'](?!\\ud800)"""
)


def test_an_id_is_of_one_case_and_one_process(monkeypatch):
    case = "conformance/x/test_y.py::test_z[a b]"
    monkeypatch.setenv("PYTEST_CURRENT_TEST", f"{case} (setup)")
    first = own_id("r")
    assert re.fullmatch(r"r-[0-9a-f]{12}", first)
    monkeypatch.setenv("PYTEST_CURRENT_TEST", f"{case} (call)")
    assert own_id("r") == first != own_id("s")
    monkeypatch.setenv("PYTEST_CURRENT_TEST", f"{case.replace('a', 'c')} (call)")
    assert own_id("r") != first
    monkeypatch.setenv("PYTEST_CURRENT_TEST", f"{case} (call)")
    monkeypatch.setattr("fixtures.case._PROCESS", "another")
    assert own_id("r") != first


def test_no_case_sends_a_constant_where_servers_may_be_shared():
    for line in (
        'call(request_id="own")',
        '{"X-Request-Id": "own"}',
        "{'cache_salt': 'own'}",
        '{HEADER: "own"}',
    ):
        assert CONSTANT.search(line)
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted(SUITE.rglob("*.py"))
        if file.parent.name != "upgrade"
        for line in file.read_text(encoding="utf-8").splitlines()
        if CONSTANT.search(line)
    ]
    assert found == []
