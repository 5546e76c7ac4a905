"""A report keeps all it is given, and one that is not whole or not consistent is refused."""

import errno
import io
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rich.console import Console

from fixtures import verdict
from fixtures.catalogue import LEVELS, ROLES
from reports.check import SCHEMA_FILE
from reports.record import ReportProblem, Writer, read
from reports.summary import print_summary
from tests.unit.report_lines import NORMAL, RULE, TARGET, case, exchange, header, write

# write and read


def test_report_reads_back_as_written(tmp_path):
    path = write(tmp_path / "new" / "folder" / "r.jsonl", case("t::a", "passed", exchange()))
    report = read(path)
    assert report.header == header() | {"started": report.header["started"]}
    assert report.header["engines"] == ["cpu", "scripted"]
    assert report.cases == (
        {"kind": "case"}
        | case("t::a", "passed")
        | {
            "exchanges": [
                {
                    "method": "POST",
                    "path": "/inference/v1/generate",
                    "request_headers": {"content-type": "application/json"},
                    "request": {"bytes": 17, "text": '{"model": "tiny"}'},
                    "status": 200,
                    "headers": {},
                    "body": {"bytes": 2, "text": "{}"},
                    "seconds": 0.25,
                    "node": "scripted-1",
                    "curl": "curl -d '{}' http://127.0.0.1:1/",
                }
            ]
        },
    )
    finished = report.footer.pop("finished")
    assert finished >= report.header["started"]
    assert report.footer == {
        "kind": "footer",
        "planned": 1,
        "reported": 1,
        "counts": {"passed": 1},
        "exit_code": 0,
        "problems": [],
    }


def test_finish_puts_the_final_statuses_in_place(tmp_path):
    first = case("t::a", "failed", message="3 != 4")
    second = case("t::b", "passed", message="own")
    final = [
        {"id": "t::b", "target": TARGET, "status": "not_judged", "observed": "passed"},
        {"id": "t::a", "target": TARGET, "status": "failed", "message": "3 != 4"},
    ]
    path = write(tmp_path / "r.jsonl", first, second, resolved=final, exit_code=1)
    a, b = read(path).cases
    assert a == {"kind": "case", **first}
    assert (b["status"], b["observed"], "message" in b) == ("not_judged", "passed", False)
    assert read(path).footer["counts"] == {"failed": 1, "not_judged": 1}
    assert os.listdir(tmp_path) == ["r.jsonl"]


def test_killed_run_leaves_every_finished_case_and_no_footer(tmp_path):
    path = tmp_path / "r.jsonl"
    writer = Writer(path, header())
    for id in ("t::a", "t::b"):
        writer.case(case(id))
        assert json.loads(path.read_bytes().splitlines()[-1])["id"] == id
    with pytest.raises(ReportProblem, match=r"r\.jsonl line 3: the footer is missing"):
        read(path)
    writer.close()


TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
CASES = st.lists(
    st.builds(
        lambda status, message, body, request, shapes: case(
            "t", status, exchange(body=body, request=request), message=message, shapes=shapes
        ),
        st.sampled_from(["passed", "failed", "known_failing", "unsupported", "error"]),
        TEXT,
        st.binary(max_size=20) | TEXT,
        JSON,
        st.dictionaries(
            TEXT, st.dictionaries(TEXT, st.lists(TEXT, max_size=2), max_size=2), max_size=2
        ),
    ),
    max_size=3,
)


@settings(deadline=None, max_examples=30)  # it writes files
@given(CASES)
def test_whatever_a_server_sends_comes_back_unchanged(tmp_path_factory, lines):
    lines = [line | {"id": f"t::{number}\u2028"} for number, line in enumerate(lines)]
    path = write(tmp_path_factory.mktemp("report") / "r.jsonl", *lines, exit_code=1)
    assert read(path).cases == tuple({"kind": "case", **line} for line in lines)
    shapes = {json.dumps(it, sort_keys=True) for line in lines for it in line["shapes"].values()}
    assert path.read_bytes().count(b"\n") == len(lines) + len(shapes) + 2
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    for line in path.read_text().splitlines():
        validator.validate(json.loads(line))
    print_summary(read(path), Console(file=io.StringIO()))


def test_report_cut_anywhere_is_refused(tmp_path):
    whole = write(tmp_path / "r.jsonl", case("t::a", "passed", exchange()), case("t::b"))
    data = whole.read_bytes()
    cut = tmp_path / "cut.jsonl"
    at_lines = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")][:-1]
    for at in (0, *at_lines, *range(1, len(data), 97), len(data) - 1):
        cut.write_bytes(data[:at])
        with pytest.raises(ReportProblem, match=r"line \d+: |the file is empty"):
            read(cut)


# what is refused


def changed(path, number, **changes):
    """The report at `path` with members of line `number` changed, or taken out where None."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[number - 1] |= changes
    for key in [key for key, value in changes.items() if value is None]:
        del lines[number - 1][key]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


MIX = {"render": "stock@0.33.0", "exchange": "chat"}
ENDED = {"outcome": "breaks", "expected": "breaks"}


@pytest.mark.parametrize(
    ("number", "changes", "sentence"),
    [
        (1, {"schema": 1}, "line 1: schema version 1 is unknown: this tokenwire reads 2."),
        (1, {"schema": None}, "line 1: schema version None is unknown: this tokenwire reads 2."),
        (1, {"seed": "x"}, "line 1: seed: 'x' is not of type 'integer', 'null'."),
        (1, {"targets": []}, "line 1: targets: [] should be non-empty."),
        (1, {"python": None}, "line 1: 'python' is a required property."),
        (1, {"kind": "case"}, "line 1: a case stands where the header must be."),
        (
            1,
            {"kind": "note"},
            "line 1: not a line of a report: its kind is none of header, shape, ",
        ),
        (2, {"kind": "header"}, "line 2: a second header."),
        (2, {"id": "t::b"}, "line 3: t::b on reference@0.33.0 stands here a second time."),
        (2, {"target": "stock@0.31.0"}, "line 2: target stock@0.31.0 is not in the header."),
        (2, {"target": "stock"}, "line 2: target: 'stock' does not match "),
        (2, {"requirements": ["g.x"]}, "line 2: requirement g.x is not in the header."),
        (2, {"requirements": []}, "line 2: requirements: [] should be non-empty."),
        (2, {"status": "ok"}, "line 2: status: 'ok' is not one of "),
        (2, {"status": "not_judged"}, "line 2: 'observed' is a required property."),
        (2, {"seconds": -1}, "line 2: seconds: -1 is less than the minimum of 0."),
        (2, {"extra": 1}, "line 2: Additional properties are not allowed"),
        (2, {"exchanges": None}, "line 2: 'exchanges' is a required property."),
        (2, {"status": "failed"}, "line 4: the footer's counts are not those of the file's cases."),
        (4, {"counts": {"passed": 3}}, "line 4: the footer's counts are not those of the file's"),
        (4, {"counts": {"ok": 2}}, "line 4: counts: 'ok' is not one of"),
        (4, {"reported": 3}, "line 4: the footer says 3 cases, the file holds 2."),
        (
            4,
            {"planned": 3},
            "line 4: the exit code is 0 although not all 3 planned cases reported.",
        ),
        (4, {"problems": ["p"]}, "line 4: the exit code is 0 although there was a problem: p."),
        *(
            (4, {"exit_code": code}, f"line 4: exit_code: {code} is ")
            for code in (1.0, -9, 256, 10**23)
        ),
        *(
            (1, {"requirements": {"generate.a": {**RULE, "since": since}}}, "line 1: requirements/")
            for since in ("zzz", "none", "0.33.0.dev1")
        ),
        *(
            (2, {"cell": cell}, f"line 2: {sentence}")
            for cell, sentence in (
                ({"exchange": "chat", **ENDED}, "cell: {'exchange': 'chat', "),
                ({**MIX}, "cell: 'outcome' is a required property."),
                ({**MIX, "outcome": "breaks"}, "cell: 'expected' is a required property."),
                ({**MIX, **ENDED, "contradicts": "x"}, "cell: 'rule' is a dependency of "),
            )
        ),
        (4, {"finished": "today"}, "line 4: finished: 'today' does not match "),
    ],
)
def test_report_that_does_not_hold_together_is_refused(tmp_path, number, changes, sentence):
    path = changed(write(tmp_path / "r.jsonl", case("t::a"), case("t::b")), number, **changes)
    with pytest.raises(ReportProblem) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path} {sentence}")
    assert "\n" not in str(raised.value) and str(raised.value).endswith(".")


def test_a_cell_of_a_case_that_ended_early_needs_no_outcome(tmp_path):
    cells = {"a": MIX, "b": {**MIX, "expected": "breaks", "rule": "r", "contradicts": "x"}}
    cases = [case(id, "error", cell=cell) for id, cell in cells.items()]
    assert len(read(write(tmp_path / "r.jsonl", *cases, exit_code=1)).cases) == 2


SHAPES = {"POST /v1/x 200": {"(body)": ["object"], "a": ["integer"]}}


def test_a_shape_of_many_cases_is_written_once(tmp_path):
    path = write(tmp_path / "r.jsonl", *(case(f"t::{n}", shapes=SHAPES) for n in range(5)))
    assert path.read_bytes().count(b"(body)") == 1
    assert [line["shapes"] for line in read(path).cases] == [SHAPES] * 5


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([0, 2, 1, 3], "line 2: shape [0-9a-f]{16} does not stand before its case"),
        ([0, 1, 1, 2, 3], "line 3: the shape [0-9a-f]{16} stands here a second time"),
    ],
)
def test_shapes_out_of_place_are_refused(tmp_path, lines, sentence):
    path = write(tmp_path / "r.jsonl", case(shapes=SHAPES))
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[number] for number in lines))
    with pytest.raises(ReportProblem, match=sentence):
        read(path)


def test_exit_code_0_without_a_case_is_refused(tmp_path):
    with pytest.raises(ReportProblem, match="the footer: the exit code is 0 although no case"):
        write(tmp_path / "r.jsonl")
    assert os.listdir(tmp_path) == ["r.jsonl"]
    with pytest.raises(ReportProblem, match="the footer is missing"):
        read(tmp_path / "r.jsonl")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"\n", "line 2: not a JSON line: "),
        (b"\xff\n", "line 2: not a JSON line: "),
        (b'{"kind": "case", "kind": "case"}\n', "line 2: not a JSON line: a key stands twice in "),
        (b'{"kind": NaN}\n', "line 2: not a JSON line: NaN is not JSON."),
        (b'{"kind": 1e999}\n', "line 2: not a JSON line: 1e999 is too large a number."),
        (b"[" * 100_000 + b"\n", "line 2: not a JSON line: "),
        (b"[]\n", "line 2: not a line of a report: "),
        (b'{"kind": ["case"]}\n', "line 2: not a line of a report: "),
        (b'{"kind": "case', "line 2: the line is cut off: the run that wrote it did not end."),
    ],
)
def test_line_that_is_none_is_refused(tmp_path, line, sentence):
    path = write(tmp_path / "r.jsonl", case())
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0] + line)
    with pytest.raises(ReportProblem) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path} {sentence}")
    assert len(str(raised.value)) < len(str(path)) + 300


def test_line_after_the_footer_is_refused(tmp_path):
    path = write(tmp_path / "r.jsonl", case())
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[1])
    with pytest.raises(ReportProblem, match="line 4: a line stands after the footer"):
        read(path)


def test_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ReportProblem, match=r"none: the report cannot be read: No such file"):
        read(tmp_path / "none")


# what cannot be written


def test_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "r.jsonl", tmp_path):
        with pytest.raises(ReportProblem) as raised:
            Writer(path, header())
        assert str(raised.value).startswith(f"the report {path} cannot be written: ")


class FullDisk(io.BytesIO):
    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_full_disk_is_one_sentence_and_keeps_what_was_written(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    writer = Writer(path, header())
    writer.case(case())
    written = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_file", FullDisk())
        with pytest.raises(ReportProblem, match=r"cannot be written: No space left on device\."):
            writer.case(case("t::b"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: FullDisk().write(b""))
        with pytest.raises(ReportProblem, match=r"cannot be written: No space left on device\."):
            writer.finish([case(), case("t::b")], **{**NORMAL, "exit_code": 1})
    assert os.listdir(tmp_path) == ["r.jsonl"]
    assert path.read_bytes() == written


@pytest.mark.parametrize("seconds", [float("nan"), b"1", None])
def test_line_that_no_report_may_hold_is_refused_and_not_written(tmp_path, seconds):
    path = tmp_path / "r.jsonl"
    writer = Writer(path, header())
    written = path.read_bytes()
    with pytest.raises(ReportProblem, match=r"case t::a: |cannot hold this line"):
        writer.case(case(seconds=seconds))
    assert path.read_bytes() == written
    with pytest.raises(ReportProblem, match="the header: "):
        Writer(tmp_path / "other", header(targets=[]))
    assert os.listdir(tmp_path) == ["r.jsonl"]


def test_written_and_resolved_cases_must_be_the_same(tmp_path):
    for resolved in ([], [case(), case("t::b")], [case(target="stock@0.32.0")]):
        with pytest.raises(ReportProblem, match="written and resolved cases differ, first in t::"):
            write(tmp_path / "r.jsonl", case(), resolved=resolved)


# the schema speaks the words of the verdict


def test_schema_and_verdict_name_the_same_things():
    definitions = json.loads(SCHEMA_FILE.read_text())["$defs"]
    Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text()))
    assert set(definitions["status"]["enum"]) == set(verdict.STATUSES)
    observed = definitions["case"]["properties"]["observed"]["enum"]
    assert set(observed) == set(verdict.OUTCOMES)
    rule = definitions["header"]["properties"]["requirements"]["additionalProperties"]
    assert set(rule["properties"]["level"]["enum"]) == set(LEVELS)
    assert ROLES  # roles are free words in a report, so that an older one stays readable
