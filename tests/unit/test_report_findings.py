"""Findings: one fault per reason, the newest release and the simplest request to show it."""

import pytest

from reports import __main__ as command
from reports import findings
from reports.record import Report
from tests.unit.report_lines import case, exchange, header, write

KNOWN = "known failing since 0.24.0: It goes on. (vllm-project/vllm#1)\nAssertionError: 2 != 3"
CURL = "curl -sS -N -X POST http://127.0.0.1:44281/v1/x --data-raw '{\"a\":1}'"
NODE = "stock@0.33.0 cpu serve float32 tiny --max-logprobs 5 A=b #3"


def known(id, *exchanges, target="stock@0.33.0", message=KNOWN, **changes):
    exchanges = exchanges or (exchange(curl=CURL, node=NODE),)
    return case(id, "known_failing", *exchanges, target=target, message=message, **changes)


def report(*cases):
    return Report(header(targets=["stock@0.32.0", "stock@0.33.0"]), cases, {})


def text(*cases, lines=()):
    return "\n".join(findings.document([report(*cases)], dict(lines)))


def test_one_fault_of_several_cases_is_told_once_with_its_releases():
    document = text(known("t::a"), known("t::b", target="stock@0.32.0"), known("t::c"))
    assert document.count("\n## ") == 1
    assert "## 1. It goes on\n" in document
    assert "- on 0.32.0, 0.33.0, since 0.24.0; vllm-project/vllm#1\n" in document
    assert "- 3 cases; shown by `t::a`\n" in document
    assert "- rule `generate.a`: A node MUST answer\n" in document


def test_the_section_has_the_node_the_request_and_both_answers():
    document = text(known("t::a", exchange(curl=CURL, node=NODE, body=b'{"text":"no"}')))
    assert "- node: `vllm serve` `--dtype float32 --max-logprobs 5 A=b`\n" in document
    assert "```\ncurl -sS -N -X POST $NODE/v1/x --data-raw '{\"a\":1}'\n```" in document
    assert 'Actual:\n\n```\n200\n{"text":"no"}\n```' in document
    assert "What the case expected:\n\n```\nAssertionError: 2 != 3\n```" in document


def test_a_message_that_names_no_release_is_no_listed_failure():
    known_since = [KNOWN, KNOWN.replace("0.24.0", "zzz")]
    found = findings.findings([report(*(known("t::a", message=it) for it in known_since))])
    assert [(it.since, len(it.cases)) for it in found] == [("0.24.0", 1)]


SCRIPTED = exchange(curl="curl short", node=NODE, request_headers={"X-Engine-Script": "s"})
EASIEST = [
    ("no script before one", known("t::a"), known("t::b", SCRIPTED)),
    ("a short request", known("t::a"), known("t::b", exchange(curl=CURL + CURL, node=NODE))),
    ("an answer before none", known("t::a"), known("t::b", exchange(curl="c", status=None))),
    ("the newest release", known("t::b"), known("t::a", target="stock@0.32.0")),
]


@pytest.mark.parametrize(
    ("easy", "hard"), [row[1:] for row in EASIEST], ids=[r[0] for r in EASIEST]
)
def test_the_easiest_case_shows_it(easy, hard):
    assert findings.findings([report(hard, easy)])[0].shown is easy


def test_lines_of_the_list_take_the_place_of_a_request():
    lines = {("It goes on.", "vllm-project/vllm#1"): ("curl one &\ncurl two", "ab+c")}
    document = text(known("t::a", SCRIPTED), lines=lines)
    assert (
        "```\ncurl one &\ncurl two\n```\n\nActual, the output matches:\n\n```\nab+c\n```"
        in document
    )
    assert "scripted engine" not in document


def test_what_a_server_sent_cannot_end_its_block():
    document = text(known("t::a", exchange(curl=CURL, node=NODE, body=b"```\n# <b>\x1b[31m")))
    assert "` ` `\n# <b>\\x1b[31m\n```" in document


def test_rules_of_later_releases_are_a_table():
    later = "stock vLLM holds this from 0.33.0 on (GEN-01)\nAssertionError"
    document = text(known("t::a", target="stock@0.32.0", message=later))
    assert "0 faults" in document
    assert "| `generate.a` | 0.33.0 | 1 |" in document


def test_the_command_prints_a_report_of_a_file(tmp_path, capsys):
    file = write(tmp_path / "report.jsonl", known("t::a", target="stock@0.32.0"))
    assert command.main(["findings", str(file)]) == 0
    assert "## 1. It goes on" in capsys.readouterr().out
    assert command.main(["findings", str(file), "--known-failing", str(tmp_path / "none")]) == 1
    assert "cannot be read" in capsys.readouterr().err
