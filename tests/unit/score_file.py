"""A small file of scores for tests to change, and for the page to show."""

import json

RUN = {
    "made": "2026-01-01T00:00:00Z",
    "command": ["pytest", "tests/mutants", "-k", "a or b"],
    "release": "0.33.0",
}
RULES = {
    "generate.answers": "must",
    "generate.counts": "must",
    "generate.words": "should",
    "render.templates": "must",
}


def mutant(lie, *rules, failed=True, case="t.py::counts"):
    return {
        "run": 0,
        "lie": lie,
        "caught": failed,
        "cases": {case: {"failed": failed, "rules": list(rules)}},
    }


def null(does="200 and nothing in it.", passed=4, cases=100, **changes):
    return {
        "run": 0,
        "does": does,
        "cases": cases,
        "counts": {"passed": passed, "failed": cases - passed},
    } | changes


def document(**changes):
    """Two lies of generate and two nulls; nothing guards the rule of render."""
    return {
        "schema": 1,
        "runs": [dict(RUN)],
        "rules": dict(RULES),
        "mutants": {
            "a:one_less": mutant("Usage is one less.", "generate.counts", "generate.answers"),
            "a:no_words": mutant("Refusals are empty.", "generate.words", case="t.py::words"),
        },
        "nulls": {"empty": null(), "closing": null("Closes the connection.", 1)},
    } | changes


def survived(name="b:survivor"):
    """As `document`, with one lie that its case did not catch."""
    lie = mutant("The template is another.", "render.templates", failed=False, case="t.py::temp")
    return document(mutants={**document()["mutants"], name: lie})


def write(path, made=None):
    path.write_text(json.dumps(document() if made is None else made))
    return path
