"""A report as a comment: short where all is well, bounded, and inert whatever a server sent."""

import re

from markdown_it import MarkdownIt

from reports.compare import compare
from reports.markdown import LONGEST, code, document, fence
from reports.record import Report, read
from tests.unit.report_lines import EVIL, RULE, case, exchange, header, write

# What GitHub may act on, once code is out of the way: HTML, mentions, references, links, marks.
ACTIVE = re.compile(r"[<>@#\[\]!\\~`]|https?:|GH-|::")
MARKDOWN = MarkdownIt("commonmark").enable("table")
OURS = re.compile(r"</?(?:details|summary)>")


def report_of(tmp_path, *cases, **footer):
    return read(write(tmp_path / "r.jsonl", *cases, **footer))


def side(target, *cases):
    footer = {"problems": [], "exit_code": 0, "counts": {}}
    return Report(header(targets=[target], requirements={"generate.a": RULE}), cases, footer)


def outside_code(text):
    """What of `text` a reader of Markdown takes for no code."""
    kept = []
    for token in MARKDOWN.parse(text):
        if token.type == "inline":
            kept += [child.content for child in token.children if child.type != "code_inline"]
        elif token.type != "fence":
            kept.append(token.content)
    return "".join(kept)


def test_a_good_run_is_two_lines_and_a_folded_table(tmp_path):
    text = document(report_of(tmp_path, case(), case("t::b", "unsupported")))
    head, _, folded = text.partition("\n<details>\n")
    assert head == (
        "**tokenwire: good**\n\n"
        "2 cases on `reference@0.33.0`, `stock@0.32.0`: 1 passed, 1 unsupported.\n"
    )
    assert "| `generate on reference@0.33.0` | 2 | 1 | 1 |" in folded
    assert text.endswith("\n</details>\n")


def test_what_failed_has_rule_message_and_curl_once_a_rule(tmp_path):
    bad = [case(f"t::{id}", "failed", exchange(), message=f"2 != {id}") for id in "abc"]
    unjudged = case("t::n", "not_judged", observed="passed", message="needs generate.a")
    report = report_of(tmp_path, *bad, unjudged, exit_code=1, problems=["lost: t::z."])
    text = document(report)
    for word in ("**failed** `t::a`, and 2 more of its rule", "A node MUST answer.", "2 != a"):
        assert word in text
    assert "curl -d '{}'" in text and "lost: t::z." in text and "**not judged** `t::n`" in text
    assert "2 != b" not in text and text.startswith("**tokenwire: exit code 1**")


def test_against_an_older_report_only_what_got_worse_is_told():
    shapes = [{"POST /x 200": {"(body)": ["object"], key: ["string"]}} for key in ("id", "name")]
    old = side(
        "stock@1",
        *[case(f"t::{id}", target="stock@1", shapes=shapes[0]) for id in "ab"],
        case("t::c", "failed", target="stock@1"),
        case("t::gone", target="stock@1", requirements=["generate.old"]),
    )
    new = side(
        "stock@2",
        case("t::a", "failed", exchange(), target="stock@2", message="2 != 3", shapes=shapes[1]),
        case("t::b", target="stock@2"),
        case("t::c", "failed", target="stock@2"),
    )
    text = document(new, compare(old, new, ()))
    assert text.startswith("**tokenwire: it got worse**")
    assert "Against `stock@1`: 1 newly failing, 1 vanished, 1 still failing, 1 same." in text
    assert "**newly failing** `t::a`" in text and "`t::c`" not in text
    assert "(no longer a rule)" in text
    assert "POST /x 200: id was removed (string)" in text
    assert "A client that skips unknown keys may break" in text
    good = document(old, compare(old, old, ()))
    assert good.startswith("**tokenwire: nothing got worse**")


def test_what_a_server_sent_is_inert(tmp_path):
    bad = [
        case(f"t::{n}{EVIL}", status, exchange(curl=EVIL), message=EVIL, node=EVIL, replay=EVIL)
        for n, status in enumerate(["failed", "error"])
    ]
    text = document(report_of(tmp_path, *bad, exit_code=1, problems=[EVIL, "`"]))
    assert "@team" in text and "<script>" in text
    assert not ACTIVE.search(OURS.sub("", outside_code(text)))
    assert set("\x1b\x00\x0b\ud800\u202e\r") & set(text) == set()


def test_code_cannot_be_ended_from_within():
    for text in (EVIL, "`", "``", "```", "a`b``c", " ` ", "\\`", ""):
        assert outside_code(f"a {code(text)} b") == "a  b"
        assert outside_code(f"a\n{fence([text.replace(chr(10), ' ')])}b") == "ab"


def test_the_table_holds_whatever_a_header_calls_its_targets(tmp_path):
    evil = "a|b\\|`c`<b>@1"
    report = side(evil, case(target=evil))
    row = next(line for line in document(report).splitlines() if line.startswith("| `"))
    assert row == "| `generate` | 1 |"
    two = Report({**report.header, "targets": [evil, "b@1"]}, report.cases, report.footer)
    row = next(line for line in document(two).splitlines() if line.startswith("| `"))
    assert row == "| ``generate on a?b??`c`<b>@1`` | 1 |"


def test_a_long_comment_is_cut_with_a_sentence(tmp_path):
    rules = {f"generate.{n}": RULE for n in range(300)}
    cases = [
        case(f"t::{n}", "failed", message="m" * 5000, requirements=[f"generate.{n}"])
        for n in range(300)
    ]
    path = write(tmp_path / "r.jsonl", *cases, head=header(requirements=rules), exit_code=1)
    text = document(read(path))
    shown = text.count("**failed**")
    assert 0 < shown < 300 and len(text) <= LONGEST
    assert f"\n{300 - shown} more cases are left out here: they stand in the report.\n" in text
    assert outside_code(text).count("<details>") == 1


def test_a_case_with_endless_rules_is_cut(tmp_path):
    rules = {f"generate.{n}": {**RULE, "text": "t" * 9000} for n in range(20)}
    bad = case("t::" + "i" * 90000, "failed", requirements=list(rules))
    path = write(tmp_path / "r.jsonl", bad, head=header(requirements=rules), exit_code=1)
    text = document(read(path))
    assert "**failed**" in text and "… cut here" in text and len(text) <= LONGEST
