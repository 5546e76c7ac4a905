"""The page of a report: what is in it, what is left out, and that nothing in it becomes markup."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import pytest

from reports import __main__ as command
from reports.page import build, content
from reports.page.content import MAX_EVIDENCE, MAX_TEXT
from reports.record import Report
from tests.browser.made import HOSTILE, NEW, OLD, both, cases, hostile, large, report, single
from tests.unit.report_lines import RULE, case, exchange, header, write


class Parts(HTMLParser):
    """The elements of a page that have an id or a policy, and the text of each script."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.names, self.policy, self.inside = {}, [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.append(tag)
        self.inside = tag
        self.last = given.get("id", tag)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            self.scripts[self.last] = self.scripts.get(self.last, "") + data


def unpacked(text):
    """The index of a page and its chunks of evidence."""
    scripts = Parts(text).scripts
    packed = [scripts[name] for name in sorted(scripts) if name.startswith("chunk-")]
    return json.loads(scripts["index"]), [
        json.loads(gzip.decompress(base64.b64decode(text))) for text in packed
    ]


def evidence_of(made, name):
    line = next(line for line in made.index["cases"] if line[1] == name)
    return line[4] and made.chunks[line[4][0]][line[4][1]]


def test_every_case_is_in_the_index_with_its_status():
    index, _ = unpacked(build.page(single()))
    letters = {line[1]: line[3] for line in index["cases"]}
    assert letters["failed"] == "F"
    assert letters["unsupported"] == "U"
    assert len(index["cases"]) == len(single().cases)
    assert index["problems"] == ["lost: t::z."]
    assert index["sentence"].startswith("14 cases on stock@0.33.0: 9 passed")


def test_evidence_is_kept_of_what_did_not_pass_and_of_one_passed_case_of_a_rule():
    made = content.content(single())
    assert evidence_of(made, "failed")[0]["message"] == "AssertionError: 4 != 3"
    assert len(evidence_of(made, "failed")[0]["exchanges"]) == 2
    assert evidence_of(made, "error")[0]["exchanges"] == []
    kept = [line[1] for line in made.index["cases"] if line[1].startswith("passed") and line[4]]
    assert len(kept) == 1
    assert made.index["left_out"]["cases"] == 4 + 3  # four cells passed, one is the example


def test_both_sides_of_a_change_are_kept():
    new, old, comparison = both()
    made = content.content(new, old, comparison)
    assert made.index["columns"] == [OLD, NEW]
    line = next(line for line in made.index["cases"] if line[1] == "failed")
    assert (line[3], made.index["kinds"][line[5]]) == ("PF", "newly failing")
    assert [side["status"] for side in evidence_of(made, "failed")] == ["passed", "failed"]
    assert [move[0] for move in made.index["shapes"]["moves"]] == ["removed"]


def test_sides_without_shapes_say_nothing_of_them():
    new, old = report(NEW, *cases(NEW)), report(OLD, *cases(OLD))
    made = content.content(new, old, command.comparing.compare(old, new, ()))
    assert made.index["shapes"] is None
    assert content.content(new).index["grid"] is None


def test_a_case_of_one_side_alone_has_no_status_on_the_other():
    new, old = report(NEW, *cases(NEW)[:2]), report(OLD, *cases(OLD)[1:])
    made = content.content(new, old, command.comparing.compare(old, new, ()))
    letters = {line[1]: line[3] for line in made.index["cases"]}
    assert (letters["passed"], letters["known"]) == (".P", "K.")
    assert evidence_of(made, "known")[1] is None


def test_the_same_target_twice_is_told_apart():
    new, old = report(NEW, *cases(NEW)), report(NEW, *cases(NEW))
    made = content.content(new, old, command.comparing.compare(old, new, ()))
    assert made.index["columns"] == ["stock@0.33.0 (old)", "stock@0.33.0 (new)"]


def test_releases_are_columns():
    sides = [report(target, *cases(target)) for target in (OLD, NEW)]
    both_targets = {**sides[0].header, "targets": [OLD, NEW]}
    made = content.content(Report(both_targets, sides[0].cases + sides[1].cases, sides[0].footer))
    assert made.index["columns"] == [OLD, NEW]
    assert {line[3] for line in made.index["cases"]} == {"PP", "FF", "KK", "UU", "EE"}


def test_the_grid_has_the_rule_and_the_case_of_every_cell():
    grid = content.content(single()).index["grid"]
    assert [plane["axes"] for plane in grid["planes"]] == [("render", "generate")]
    worst = {(row, column): state for row, column, state, _ in grid["planes"][0]["cells"]}
    assert worst == {
        (0, 0): "interoperates",
        (0, 1): "degrades",
        (1, 0): "unexpected",
        (1, 1): "refuses_cleanly",
    }
    met = grid["planes"][0]["cells"][-1][3]
    assert [line[0] for line in met] == ["chat[a]", "stream"]
    assert grid["rules"][met[1][3]][0] == "it-refuses_cleanly"
    assert len(single().cases) > met[1][4]


def test_long_texts_and_long_cases_are_cut_and_counted():
    long = exchange(body="x" * 60_000)
    made = content.content(
        report(NEW, case("t::a", "failed", *[long] * 20, target=NEW), names={"generate.a": RULE})
    )
    (side,) = evidence_of(made, "a")
    body = side["exchanges"][-1]["body"]
    assert len(body["text"]) == MAX_TEXT
    assert body["cut"] == 60_000 - MAX_TEXT
    assert body["bytes"] == 60_000
    assert len(json.dumps(side)) < MAX_EVIDENCE * 1.1
    assert side["made"] == 20
    assert side["exchanges"][-1]["number"] == 20
    left_out = made.index["left_out"]
    assert left_out["exchanges"] == 20 - len(side["exchanges"]) > 0
    assert left_out["texts"] >= len(side["exchanges"])


def test_the_page_is_small():
    made = large(2000)
    assert len(build.page(made)) < len(json.dumps(made.cases)) / 5


def test_the_page_is_the_same_for_the_same_report():
    made = single()
    assert build.page(made) == build.page(made)


def test_what_a_report_says_is_no_markup():
    text = build.page(hostile())
    assert text.isascii()
    plain = Parts(build.page(report(NEW, *hostile().cases[:0], *cases(NEW))))
    names = Parts(text).names
    assert sorted(set(names)) == sorted(set(plain.names))
    assert names.count("script") == plain.names.count("script")
    index, chunks = unpacked(text)
    assert index["problems"] == list(HOSTILE)
    assert chunks[0][0][0]["message"] == HOSTILE[0]


def test_the_policy_names_its_own_style_and_script_alone():
    parts = Parts(build.page(single()))
    assert parts.policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in parts.policy
    assert build._hash(parts.scripts["style"]) in parts.policy
    assert build._hash(parts.scripts["script"]) in parts.policy


def test_the_sources_hold_no_address_and_write_no_markup():
    for name in (*build.SCRIPTS, "style.css", "template.html"):
        text = (build.FOLDER / name).read_text(encoding="ascii")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)
        assert not re.search(r"fetch\(|XMLHttpRequest|import\(|@import|url\(|WebSocket", text)


def test_the_command_writes_the_page_beside_the_report(tmp_path, capsys):
    path = write(tmp_path / "r.jsonl", case())
    assert command.main(["html", str(path)]) == 0
    page = tmp_path / "r.html"
    assert capsys.readouterr().out.startswith(f"{page}: 1 case, ")
    assert unpacked(page.read_text())[0]["cases"][0][1] == "a"


def one_side(path, target, status):
    text = write(path, case(target=target, status=status)).read_text().splitlines()
    head = json.dumps({**json.loads(text[0]), "targets": [target]})
    path.write_text("\n".join([head, *text[1:]]) + "\n")
    return path


def test_the_command_compares(tmp_path):
    new = one_side(tmp_path / "new.jsonl", "reference@0.33.0", "passed")
    old = one_side(tmp_path / "old.jsonl", "stock@0.32.0", "passed")
    out = tmp_path / "page.html"
    assert command.main(["html", str(new), "--against", str(old), "--out", str(out)]) == 0
    index, _ = unpacked(out.read_text())
    assert index["columns"] == ["stock@0.32.0", "reference@0.33.0"]
    assert index["sentence"] == "1 same: nothing got worse"


BROKEN = [
    ("r.jsonl", b"", "the file is empty"),
    ("r.jsonl", b"{}\n", "not a line of a report"),
    ("r.jsonl", json.dumps(header()).encode() + b"\n", "the footer is missing"),
]


@pytest.mark.parametrize(("name", "data", "told"), BROKEN)
def test_a_broken_report_is_one_sentence(tmp_path, capsys, name, data, told):
    (tmp_path / name).write_bytes(data)
    assert command.main(["html", str(tmp_path / name)]) == 1
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not (tmp_path / "r.html").exists()


def test_what_cannot_be_compared_or_written_is_one_sentence(tmp_path, capsys):
    path = write(tmp_path / "r.jsonl", case())
    assert command.main(["html", str(path), "--against", str(path)]) == 1
    assert "only a report of one target can be compared" in capsys.readouterr().err
    assert command.main(["html", str(path), "--out", str(path / "p.html")]) == 1
    assert capsys.readouterr().err.endswith("p.html cannot be written: Not a directory.\n")
    assert command.main(["html", str(tmp_path / "none.jsonl")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_a_report_of_no_case_is_a_page(tmp_path):
    index, chunks = unpacked(build.page(report(NEW, exit_code=1)))
    assert (index["cases"], chunks) == ([], [])
