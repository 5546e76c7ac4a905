"""Shards become the report that one run would have left, or are refused with one sentence."""

import json
import os

import pytest

from reports import __main__ as command
from reports.check import ReportProblem
from reports.known import KnownFailing
from reports.merge import merge
from reports.record import read
from tests.unit.report_lines import RULE, case, exchange, header, write
from tests.unit.verdict_lines import ENTRY

TARGET = "stock@0.33.0"
RULES = {
    "g.control": RULE,
    "g.end": {**RULE, "needs": ["g.control"]},
    "g.alone": RULE,
    "upgrade.a": RULE,
}
KNOWN = "known failing since 0.24.0: it drops the field (vllm-project/vllm#1)\nAssertionError"


def head(**changes):
    return header(**{"targets": [TARGET], "requirements": RULES} | changes)


def line(id, status="passed", rule="g.alone", **changes):
    observed = {"known_failing": "failed", "not_judged": "passed"}.get(status)
    changes = ({"observed": observed} if observed else {}) | changes
    return case(f"t::{id}", status, exchange(), target=TARGET, requirements=[rule], **changes)


def shard(tmp_path, name, *cases, **options):
    bad = {case["status"] for case in cases} & {"failed", "error", "not_judged"}
    options = {"head": head(), "exit_code": int(bool(bad or not cases)), **options}
    return write(tmp_path / f"{name}.jsonl", *cases, **options)


def merged(tmp_path, *shards, **options):
    return merge(shards, tmp_path / "out.jsonl", **options)


def statuses(report):
    return {case["id"]: case["status"] for case in report.cases}


def test_shards_are_the_report_of_the_whole(tmp_path):
    cases = [line(number) for number in range(5)]
    cases += [line("u", "unsupported"), line("k", "known_failing", message=KNOWN)]
    whole = read(shard(tmp_path, "whole", *cases))
    shards = [shard(tmp_path, str(n), *cases[n::4]) for n in range(4)]
    report = merged(tmp_path, *shards, shards=4)
    order = [case for n in range(4) for case in whole.cases[n::4]]
    assert list(report.cases) == order
    for key in ("planned", "reported", "counts", "exit_code", "problems"):
        assert report.footer[key] == whole.footer[key]
    assert report.header["command"][3:] == ["merge", *map(str, shards)]
    for key in ("targets", "releases", "engines", "requirements", "platform", "python"):
        assert report.header[key] == whole.header[key]


@pytest.mark.parametrize(
    ("control", "status", "code"),
    [
        ({"status": "passed"}, "passed", 0),
        ({"status": "failed"}, "not_judged", 1),
        ({"status": "error"}, "not_judged", 1),
        ({"status": "known_failing", "message": KNOWN}, "not_judged", 1),
        ({"status": "unsupported"}, "passed", 0),
    ],
)
def test_a_control_of_another_shard_counts(tmp_path, control, status, code):
    one = shard(tmp_path, "1", line("control", rule="g.control", **control))
    two = shard(tmp_path, "2", line("end", rule="g.end"))
    report = merged(tmp_path, one, two)
    assert statuses(report)["t::end"] == status
    assert report.footer["exit_code"] == code
    if status == "not_judged":
        end = report.cases[1]
        said = f"needs g.control, which is {control['status']} in t::control"
        assert (end["observed"], end["message"]) == ("passed", said)


def test_a_control_that_fails_as_listed_holds_where_another_shard_saw_it_hold(tmp_path):
    listed = line("control", "known_failing", "g.control", message=KNOWN)
    why = "needs g.control, which is known_failing in t::control"
    one = shard(tmp_path, "1", listed, line("end", "not_judged", "g.end", message=why))
    two = shard(tmp_path, "2", line("held", rule="g.control"))
    report = merged(tmp_path, one, two)
    assert statuses(report)["t::end"] == "passed" and "message" not in report.cases[1]
    assert report.footer["exit_code"] == 0


def test_a_case_of_two_shards_stands_once(tmp_path):
    one, two = shard(tmp_path, "1", line("a"), line("b")), shard(tmp_path, "2", line("b"))
    report = merged(tmp_path, one, two)
    assert (list(statuses(report)), report.footer["planned"]) == (["t::a", "t::b"], 2)


@pytest.mark.parametrize("code", [1, 2, 3])
def test_what_stopped_a_shard_stays_said(tmp_path, code):
    one = shard(tmp_path, "1", line("a"))
    two = shard(tmp_path, "2", line("b"), planned=3, exit_code=code, problems=["lost: t::c."])
    footer = merged(tmp_path, one, two).footer
    assert (footer["exit_code"], footer["problems"]) == (code, ["lost: t::c."])
    assert (footer["planned"], footer["reported"]) == (4, 2)


def test_a_shard_that_does_not_say_why_it_failed_is_a_problem(tmp_path):
    one, two = shard(tmp_path, "1", line("a")), shard(tmp_path, "2", line("b"), exit_code=1)
    footer = merged(tmp_path, one, two).footer
    assert footer["exit_code"] == 1 and "does not say why" in footer["problems"][0]


def test_what_differs_between_machines_is_joined(tmp_path):
    release = {"version": "0.33.0+cpu", "obtained": "another wheel", "packages": {"torch": "2.9.0"}}
    other = head(releases={"0.33.0": release}, engines=["none"])
    other = {**other, "platform": "elsewhere", "started": "2000-01-01T00:00:00Z"}
    one, two = shard(tmp_path, "1", line("a")), shard(tmp_path, "2", line("b"), head=other)
    told = merged(tmp_path, one, two).header
    assert told["releases"]["0.33.0"]["obtained"] == "CPU wheel; another wheel"
    assert told["platform"].endswith("; elsewhere") and told["started"].startswith("2000")
    assert told["engines"] == ["cpu", "none", "scripted"]


def _release(**changes):
    return {"0.33.0": {"version": "1", "obtained": "x", "packages": {}} | changes}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"targets": ["stock@0.32.0", TARGET]}, "it has other targets than"),
        ({"releases": _release()}, r"other releases than \S+ \(0.33.0\)"),
        (
            {"requirements": {**RULES, "g.end": {**RULES["g.end"], "text": "MUST not"}}},
            r"other requirements than \S+ \(g.end\)",
        ),
        ({"seed": 3}, "another seed than"),
    ],
)
def test_shards_of_different_runs_are_refused(tmp_path, changes, said):
    one = shard(tmp_path, "1", line("a"))
    two = shard(tmp_path, "2", line("b"), head=head(**changes))
    with pytest.raises(ReportProblem, match=said):
        merged(tmp_path, one, two)


def test_shards_that_contradict_each_other_are_refused(tmp_path):
    one = shard(tmp_path, "1", line("a"))
    for name, other in (("2", line("a", "failed")), ("3", line("a", rule="g.control"))):
        with pytest.raises(ReportProblem, match=r"contradict each other: t::a on stock@0.33.0"):
            merged(tmp_path, one, shard(tmp_path, name, other))


def test_a_shard_that_did_not_end_is_refused_and_leaves_no_report(tmp_path):
    one, two = shard(tmp_path, "1", line("a")), shard(tmp_path, "2", line("b"))
    two.write_bytes(b"".join(two.read_bytes().splitlines(keepends=True)[:-1]))
    (tmp_path / "out.jsonl").write_text("of an older run")
    with pytest.raises(ReportProblem, match="the footer is missing"):
        merged(tmp_path, one, two)
    assert not (tmp_path / "out.jsonl").exists()


def test_another_schema_is_refused(tmp_path):
    one, two = shard(tmp_path, "1", line("a")), shard(tmp_path, "2", line("b"))
    first, *rest = two.read_bytes().splitlines(keepends=True)
    two.write_bytes(
        json.dumps({**json.loads(first), "schema": 1}).encode() + b"\n" + b"".join(rest)
    )
    with pytest.raises(ReportProblem, match="schema version 1 is unknown"):
        merged(tmp_path, one, two)


def test_a_report_given_twice_and_a_missing_one_are_refused(tmp_path):
    one, two = shard(tmp_path, "1", line("a")), tmp_path / "2.jsonl"
    two.write_bytes(one.read_bytes())
    for twin in (one, two):
        with pytest.raises(ReportProblem, match="it is the same report as"):
            merged(tmp_path, one, twin, shards=2)
    with pytest.raises(ReportProblem, match="1 reports were given, and there are 2 shards"):
        merged(tmp_path, one, shards=2)
    with pytest.raises(ReportProblem, match="in the place of a report that is read"):
        merge([one], one)
    assert read(one)


def test_in_a_complete_run_every_rule_has_a_case_and_every_entry_matches(tmp_path):
    cases = [line("c", rule="g.control"), line("e", rule="g.end"), line("a")]
    shards = [shard(tmp_path, str(n), one) for n, one in enumerate(cases)]
    with pytest.raises(ReportProblem, match=r"no case judges g.end on stock@0.33.0: a shard is"):
        merged(tmp_path, shards[0], shards[2], complete=True)
    assert merged(tmp_path, *shards, complete=True).footer["exit_code"] == 0
    stale = KnownFailing(**{**ENTRY, "cases": "t::gone"})
    footer = merged(tmp_path, *shards, complete=True, entries=[stale]).footer
    assert footer["exit_code"] == 1 and "matches no case" in footer["problems"][0]
    mixed = shard(tmp_path, "u", line("u", rule="upgrade.a"))
    with pytest.raises(ReportProblem, match="whether the upgrade matrix is whole"):
        merged(tmp_path, *shards, mixed, complete=True)


def test_the_same_case_on_two_targets_is_two_cases(tmp_path):
    both = head(targets=[TARGET, "stock@0.32.0"])
    other = line("a") | {"target": "stock@0.32.0"}
    one, two = (
        shard(tmp_path, str(n), case, head=both) for n, case in enumerate([line("a"), other])
    )
    report = merged(tmp_path, one, two)
    assert (len(report.cases), report.footer["exit_code"]) == (2, 0)


def test_rules_that_need_each_other_are_refused(tmp_path):
    rules = {**RULES, "g.control": {**RULE, "needs": ["g.end"]}}
    one = shard(tmp_path, "1", line("a"), head=head(requirements=rules))
    with pytest.raises(ReportProblem, match="need each other"):
        merged(tmp_path, one)


def test_the_command_ends_as_the_run_would_have(tmp_path, capsys):
    one = shard(tmp_path, "1", line("c", "failed", "g.control"))
    two = shard(tmp_path, "2", line("e", rule="g.end"))
    out = str(tmp_path / "all.jsonl")
    assert command.main(["merge", str(one), str(two), "--out", out, "--of", "2"]) == 1
    assert capsys.readouterr().out.startswith("tokenwire: 2 cases on stock@0.33.0: 1 failed, 1 not")
    assert command.main(["merge", str(one), "--out", out, "--of", "2"]) == 1
    assert capsys.readouterr().err == "1 reports were given, and there are 2 shards.\n"


def test_what_is_no_file_is_not_replaced(tmp_path):
    device = tmp_path / "pipe"
    os.mkfifo(device)
    with pytest.raises(ReportProblem, match="it is no file"):
        merge([shard(tmp_path, "1", line("a"))], device)
    assert device.exists()
