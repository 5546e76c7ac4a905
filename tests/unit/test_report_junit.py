"""A report as JUnit XML: valid by the schema, counts right, nothing in it can break the document."""

import xml.etree.ElementTree as tree
from pathlib import Path

import pytest
import xmlschema

from reports import junit
from reports.record import read
from tests.unit.report_lines import EVIL, TARGET, case, exchange, write

SCHEMA = xmlschema.XMLSchema(Path(junit.__file__).parent / "schema" / "junit.xsd")
KNOWN = "known failing since 0.24.0: it drops the field (vllm-project/vllm#1)\nAssertionError: 1"


def suites(path):
    """The suites by their names; the document must be valid."""
    text = junit.document(read(path))
    SCHEMA.validate(text)
    root = tree.fromstring(text.encode())
    for key in ("tests", "failures", "errors"):
        assert int(root.get(key)) == sum(int(suite.get(key)) for suite in root)
    return {suite.get("name"): suite for suite in root}


def test_each_status_has_its_element_and_the_counts_are_right(tmp_path):
    cases = [
        case("c/test_a.py::test_p"),
        case("c/test_a.py::test_f[x::y-1]", "failed", exchange(), message="AssertionError: 2 != 3"),
        case("c/test_a.py::TestA::test_e", "error", message="it broke"),
        case("c/test_a.py::test_n", "not_judged", observed="passed", message="needs generate.b"),
        case("c/test_a.py::test_k", "known_failing", observed="failed", message=KNOWN),
        case("c/test_a.py::test_u", "unsupported", message="no derender"),
        case("c/test_b.py::test_r", requirements=["render.b"], target="stock@0.32.0"),
    ]
    found = suites(write(tmp_path / "r.jsonl", *cases, exit_code=1))
    assert list(found) == [f"generate on {TARGET}", "render on stock@0.32.0"]
    suite = found[f"generate on {TARGET}"]
    counts = [suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time")]
    assert counts == ["6", "1", "2", "2", "3.000"]
    told = [(c.get("classname"), c.get("name"), [child.tag for child in c]) for c in suite]
    assert told == [
        ("c.test_a", "test_p", []),
        ("c.test_a", "test_f[x::y-1]", ["failure"]),
        ("c.test_a.TestA", "test_e", ["error"]),
        ("c.test_a", "test_n", ["error"]),
        ("c.test_a", "test_k", ["skipped"]),
        ("c.test_a", "test_u", ["skipped"]),
    ]
    assert suite[4][0].get("message") == "known failing: it drops the field (vllm-project/vllm#1)"
    assert suite[5][0].get("message") == "unsupported: no derender"
    assert suite[1][0].get("message") == "AssertionError: 2 != 3"


def test_the_body_has_rule_message_curl_and_pytest_line(tmp_path):
    bad = case("t::a", "failed", exchange(), message="a\nb", replay="pytest t::a")
    failure = suites(write(tmp_path / "r.jsonl", bad, exit_code=1))[f"generate on {TARGET}"][0][0]
    for word in ("generate.a: A node MUST answer.", "  b\n", "curl -d '{}'", "pytest t::a"):
        assert word in failure.text


def test_what_a_server_sent_cannot_break_the_document(tmp_path):
    bad = case("t::a" + EVIL, "failed", exchange(curl=EVIL), message=EVIL, node=EVIL, replay=EVIL)
    path = write(tmp_path / "r.jsonl", bad, exit_code=1, problems=[EVIL])
    found = suites(path)
    assert (
        r"\x1b[2J\x00\x0b\ufffe\ud800\u202e]]></failure>"
        in found[f"generate on {TARGET}"][0][0].text
    )
    assert set(junit.document(read(path))) & set("\x1b\x00\x0b\ufffe\ud800\u202e\r") == set()


@pytest.mark.parametrize(
    ("footer", "said"),
    [
        ({"exit_code": 1, "problems": ["lost: t::z."]}, ["lost: t::z."]),
        ({"exit_code": 2}, ["the run ended with exit code 2."]),
        ({}, []),
    ],
)
def test_what_is_wrong_with_the_run_itself_is_an_error(tmp_path, footer, said):
    suite = suites(write(tmp_path / "r.jsonl", case(), **footer)).get("the run itself", [])
    assert [one.find("error").text for one in suite] == said


def test_a_report_without_a_case_is_valid(tmp_path):
    assert list(suites(write(tmp_path / "r.jsonl", exit_code=5))) == ["the run itself"]


@pytest.mark.parametrize("text", ["<testsuites/>", "<testsuite/>", "<a>"])
def test_the_schema_refuses_other_documents(text):
    with pytest.raises((xmlschema.XMLSchemaException, tree.ParseError)):
        SCHEMA.validate(text)
