"""Failures as workflow commands: in the right place, and no text of a server starts one."""

from pathlib import Path

import pytest

from reports.annotations import commands
from reports.compare import compare
from reports.record import read
from tests.unit.report_lines import EVIL, RULE, TARGET, case, exchange, header, write

FILE = """
import pytest


@pytest.mark.parametrize("x", [1])
async def test_a(x):
    assert x


class TestB:
    def test_b(self):
        pass
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "test_x.py").write_text(FILE)
    (tmp_path / "conformance" / "test_broken.py").write_text("def test_a(:")
    return tmp_path


def lines(checkout, *cases, **footer):
    report = read(write(checkout / "r.jsonl", *cases, **{"exit_code": 1, **footer}))
    return list(commands(report, checkout))


@pytest.mark.parametrize(
    ("id", "place"),
    [
        ("conformance/test_x.py::test_a[1::2]", "file=conformance/test_x.py,line=6,"),
        ("conformance/test_x.py::TestB::test_b", "file=conformance/test_x.py,line=11,"),
        ("conformance/test_x.py::test_gone", "file=conformance/test_x.py,"),
        ("conformance/test_broken.py::test_a", "file=conformance/test_broken.py,"),
        ("conformance/test_gone.py::test_a", ""),
        ("../test_x.py::test_a", ""),
        (f"{Path(__file__)}::test_a", ""),
        ("\x00", ""),
    ],
)
def test_an_annotation_stands_at_the_function(checkout, id, place):
    (line,) = lines(checkout, case(id, "failed"))
    assert line.startswith(f"::error {place}title=failed%3A generate.a::")


def test_an_annotation_has_rule_message_and_how_to_repeat(checkout):
    bad = case("t::a", "error", exchange(), message="100% wrong\nreally", replay="pytest t::a")
    (line,) = lines(checkout, case("t::good"), bad)
    assert line == (
        "::error title=error%3A generate.a::t::a%0A  rule    generate.a: A node MUST answer.%0A"
        "  node    scripted-1 (reference@0.33.0, engine scripted)%0A  100%25 wrong%0A  really%0A"
        "  curl -d '{}' http://127.0.0.1:1/%0A  pytest t::a"
    )


def test_what_a_server_sent_starts_no_command(checkout):
    bad = case("t::a" + EVIL, "failed", exchange(curl=EVIL), message=EVIL, node=EVIL, replay=EVIL)
    found = lines(checkout, bad, problems=[EVIL])
    assert len(found) == 2 and all(line.startswith("::error ") for line in found)
    for line in found:
        properties = line.removeprefix("::error ").partition("::")[0]
        assert properties in ("title=tokenwire%3A the run itself", "title=failed%3A generate.a")
        assert line.isprintable() and len(line.splitlines()) == 1


def test_no_more_than_fifty_are_shown_and_the_rest_is_told(checkout):
    bad = [case(f"t::{n}", "failed") for n in range(60)]
    unjudged = case("t::n", "not_judged", observed="passed")
    found = lines(checkout, *bad, unjudged, problems=["lost: t::z."])
    assert len(found) == 51 and "lost: t::z." in found[0]
    assert found[-1] == (
        "::notice title=tokenwire::11 more failures are left out; not judged, because a rule they "
        "build on did not hold: 1 cases. They stand in the report."
    )


def test_a_good_run_has_none(checkout):
    assert lines(checkout, case(), case("t::b", "unsupported"), exit_code=0) == []


def test_against_an_older_report_what_got_worse_has_a_line(checkout):
    old_cases = [case("t::a"), case("t::b", "failed"), case("t::c"), case("t::e", "failed")]
    old_cases.append(case("t::gone", requirements=["generate.old"]))
    new_cases = [case("t::a", "failed"), case("t::b", "failed"), case("t::c", "unsupported")]
    new_cases.append(case("t::e", "error"))
    head = header(targets=[TARGET])
    rules = {**head["requirements"], "generate.old": RULE}
    old = write(
        checkout / "old.jsonl", *old_cases, head={**head, "requirements": rules}, exit_code=1
    )
    new = read(write(checkout / "new.jsonl", *new_cases, head=head, exit_code=1))
    found = list(commands(new, checkout, compare(read(old), new, ())))
    assert [line.partition("%0A")[0] for line in found] == [
        f"::error title=tokenwire%3A the run itself::1 case of {TARGET} ended as error.",
        "::error title=newly failing%3A generate.a::t::a",
        "::error title=newly unsupported%3A generate.a::t::c",
        "::error title=vanished%3A generate.old::t::gone",
        "::error title=error%3A generate.a::t::e",
    ]
    assert "generate.old: (no longer a rule)" in found[3]
