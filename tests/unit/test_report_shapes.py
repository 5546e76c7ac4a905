"""Each difference of two shapes is named for what it is, the most breaking first."""

import pytest

from reports.record import Report
from reports.shapes import moves, readers
from tests.unit.report_lines import case, header

OBJECT = {"(body)": ["object"]}
# what moved: (old shape, new shape, (kind, what is told))
MOVES = {
    "added": ({}, {"b": ["integer"]}, ("added", "b was added (integer)")),
    "added-null": ({}, {"b": ["null"]}, ("added", "b was added (null, always null)")),
    "added-sometimes": (
        {},
        {"b": ["absent", "integer"]},
        ("added", "b was added (absent or integer)"),
    ),
    "removed": ({"b": ["string"]}, {}, ("removed", "b was removed (string)")),
    "retyped": ({"b": ["string"]}, {"b": ["integer"]}, ("retyped", "b was string, is integer")),
    "nullable": (
        {"b": ["integer"]},
        {"b": ["integer", "null"]},
        ("may be null now", "b may be null now"),
    ),
    "optional": (
        {"b": ["integer"]},
        {"b": ["absent", "integer"]},
        ("may be absent now", "b may be absent now"),
    ),
    "new-word": (
        {"b": ['"stop"']},
        {"b": ['"abort"', '"stop"']},
        ("new value", 'b has a new value: "abort"'),
    ),
    "word-gone": (
        {"b": ['"abort"', '"stop"']},
        {"b": ['"stop"']},
        ("value gone", 'b was never "abort"'),
    ),
    "word-to-string": (
        {"b": ['"stop"']},
        {"b": ["string"]},
        ("new value", "b may be any string now"),
    ),
    "firmer": ({"b": ["integer", "null"]}, {"b": ["integer"]}, ("firmer", "b is never null now")),
    "null-no-more": (
        {"b": ["null"]},
        {"b": ["null", "object"], "b.c": ["integer"]},
        ("added", "b was always null, may be object now"),
    ),
    "header": (
        {"header x-request-id": ["string"]},
        {},
        ("removed", "header x-request-id was removed (string)"),
    ),
    "whole-object": (
        {"b": ["object"], "b.c": ["integer"]},
        {},
        ("removed", "b was removed (object)"),
    ),
    "whole-object-added": (
        {},
        {"b": ["array"], "b[]": ["object"], "b[].c": ["null"]},
        ("added", "b was added (array)"),
    ),
}


def report(*shapes, route="POST /v1/x 200"):
    cases = [case(f"t::{n}", shapes={route: OBJECT | shape}) for n, shape in enumerate(shapes)]
    return Report(header(), cases, {})


@pytest.mark.parametrize(("old", "new", "expected"), MOVES.values(), ids=MOVES.keys())
def test_a_difference_is_named(old, new, expected):
    found = moves(report(old), report(new))
    assert [(move.kind, f"{move.path} {move.told}") for move in found] == [expected]
    assert str(found[0]) == f"POST /v1/x 200: {expected[1]}"


REQUEST = "declared request of POST /v1/x"
# of what may be sent, more is harmless and less is not
SENT = {
    "taken": ({}, {"b": ["absent", "null"]}, ("taken now", "b is declared now (absent or null)")),
    "required": ({}, {"b": ["null"]}, ("required now", "b is required now (null)")),
    "undeclared": (
        {"b": ["absent", "null"]},
        {},
        ("declared no more", "b is declared no more (absent or null)"),
    ),
    "must-be-given": (
        {"b": ["absent", "null"]},
        {"b": ["null"]},
        ("required now", "b must be given now"),
    ),
    "need-not": (
        {"b": ["null"]},
        {"b": ["absent", "null"]},
        ("taken now", "b need not be given now"),
    ),
    "fewer-types": (
        {"b": ["integer", "string"]},
        {"b": ["integer"]},
        ("taken no more", "b takes string no more"),
    ),
    "more-words": (
        {"b": ['"text"']},
        {"b": ['"derender"', '"text"']},
        ("taken now", 'b takes "derender" too'),
    ),
    "default": (
        {"b": ["integer"], "b default": ["16"]},
        {"b": ["integer"], "b default": ["17"]},
        ("default or bound changed", "b default was 16, is 17"),
    ),
    "bound": (
        {"b": ["integer"]},
        {"b": ["integer"], "b maximum": ["20"]},
        ("taken no more", "b maximum is 20, was not declared"),
    ),
    "narrower": (
        {"b": ["integer"], "b maximum": ["20"]},
        {"b": ["integer"], "b maximum": ["10"]},
        ("taken no more", "b maximum was 20, is 10"),
    ),
    "wider": (
        {"b": ["integer"], "b minimum": ["1"]},
        {"b": ["integer"], "b minimum": ["0"]},
        ("default or bound changed", "b minimum was 1, is 0"),
    ),
    "narrower-from-below": (
        {"b": ["integer"], "b minItems": ["1"]},
        {"b": ["integer"], "b minItems": ["2"]},
        ("taken no more", "b minItems was 1, is 2"),
    ),
    "default-of-a-new-key": (
        {},
        {"b": ["absent", "integer"], "b default": ["16"]},
        ("taken now", "b is declared now (absent or integer)"),
    ),
    "closed": (
        {"b": ["null"]},
        {"b": ["null"], "(other keys)": ["refused"]},
        ("taken no more", "(other keys) are refused now"),
    ),
    "opened": (
        {"b": ["null"], "(other keys)": ["refused"]},
        {"b": ["null"]},
        ("taken now", "(other keys) are not refused any more"),
    ),
    "object-beside-a-string": (
        {"b": ["string"]},
        {"b": ["object", "string"], "b.c": ["integer"]},
        ("taken now", "b takes object too"),
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), SENT.values(), ids=SENT.keys())
def test_a_difference_of_what_may_be_sent_is_named(old, new, expected):
    found = moves(report(old, route=REQUEST), report(new, route=REQUEST))
    assert [(move.kind, f"{move.path} {move.told}") for move in found] == [expected]


SENDERS = [({"b": ["null"]}, {}, [True]), ({}, {"b": ["absent", "null"]}, [False]), ({}, {}, [])]


@pytest.mark.parametrize(("old", "new", "third"), SENDERS)
def test_a_sender_is_told_where_the_documents_differ(old, new, third):
    sentences = readers(moves(report(old, route=REQUEST), report(new, route=REQUEST)))
    assert ["may break" in line for line in sentences] == [False, False, *third]


def test_a_default_or_bound_of_an_answer_breaks_no_reader():
    route = "declared answer of POST /v1/x 200 application/json"
    old, new = (
        report({"b": ["integer"], "b default": [value], f"b {bound}": ["1"]}, route=route)
        for value, bound in (("16", "minimum"), ("17", "maximum"))
    )
    assert moves(old, new) == []


def test_equal_shapes_have_no_difference():
    assert moves(report({"a": ["null"]}), report({"a": ["null"]})) == []


def test_cases_of_one_route_are_one_shape():
    """A key that one case alone saw may be absent."""
    always = {"a": ["integer"]}
    found = moves(report(always, always), report(always, {}))
    assert [move.told for move in found] == ["may be absent now"]


def test_a_case_of_one_side_alone_says_nothing():
    """A mode that one release lacks is another form of answer, not a move of the wire."""
    both, more = {"a": ["integer"]}, {"a": ["integer"], "b": ["null"]}
    assert moves(report(both), report(both, more)) == []
    lacking = report(both, {})
    lacking.cases[1]["status"] = "unsupported"
    assert moves(lacking, report(both, more)) == []


@pytest.mark.parametrize("status", ["unsupported", "error"])
def test_a_case_that_was_not_asked_says_nothing(status):
    asked = report({"a": ["integer"]}, {"a": ["integer"]})
    other = report({"a": ["integer"]}, {"b": ["integer"]})
    other.cases[1]["status"] = status
    assert moves(asked, other) == moves(other, asked) == []


def test_an_answer_without_a_body_takes_none_from_the_others():
    """A header alone, as of a 204: the body of the others may not be absent by that."""
    whole, bare = report({}, {}), report({}, {})
    del bare.cases[1]["shapes"]["POST /v1/x 200"]["(body)"]
    assert moves(whole, bare) == []


def test_at_most_three_rules_are_named():
    sides = [report({}, {}, {}, {}), report(*[{"b": ["null"]}] * 4)]
    for side in sides:
        for number, line in enumerate(side.cases):
            line["requirements"] = [f"generate.{number}"]
    assert moves(*sides)[0].rules == ("generate.0", "generate.1", "generate.2")


def test_a_route_of_one_side_alone_says_nothing():
    assert moves(report({}), report({"a": ["null"]}, route="POST /v1/y 200")) == []


def test_the_most_breaking_comes_first():
    old = {"a": ["string"], "b": ["integer"], "c": ["integer"]}
    new = {"b": ["string"], "c": ["integer", "null"], "d": ["null"]}
    kinds = [move.kind for move in moves(report(old), report(new))]
    assert kinds == ["removed", "retyped", "may be null now", "added"]


READERS = [
    ({"a": ["null"]}, {"a": ["null"], "b": ["null"]}, True, False),
    ({"a": ["null"]}, {}, True, True),
    ({"a": ["null", "string"]}, {"a": ["string"]}, False, False),
]


@pytest.mark.parametrize(("old", "new", "strict_breaks", "lenient_breaks"), READERS)
def test_readers_are_told_apart(old, new, strict_breaks, lenient_breaks):
    strict, lenient = readers(moves(report(old), report(new)))
    assert ("may break" in strict, "may break" in lenient) == (strict_breaks, lenient_breaks)


def test_a_difference_names_the_rules_that_saw_it():
    found = moves(report({}), report({"b": ["null"]}))
    assert found[0].rules == ("generate.a",)
