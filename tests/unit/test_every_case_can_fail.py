"""Every case of the suite has been seen failing: on a lie that it catches, or on a release whose
baseline says so. A cell of the upgrade matrix is judged by expected.toml, and has tests of its own.
"""

import ast
import json
import tomllib

from fixtures.outcome import ROOT, SUITE
from tests.unit.test_baselines import FILES


def functions() -> set[str]:
    """FILE::FUNCTION of every case."""
    return {
        f"{file.relative_to(ROOT).as_posix()}::{node.name}"
        for file in SUITE.rglob("test_*.py")
        if file.parent.name != "upgrade"
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def seen_failing() -> set[str]:
    lies = tomllib.loads((ROOT / "tests" / "mutants" / "caught.toml").read_text(encoding="utf-8"))
    caught = [case for cases in lies.values() for case in cases]
    failed = [
        case["id"]
        for file in FILES
        for line in file.read_text(encoding="utf-8").splitlines()
        if (case := json.loads(line))["kind"] == "case"
        # A case that trips over a key which a release lacks has shown nothing of its rule.
        and case["status"] in ("failed", "known_failing")
        and "AssertionError" in case["message"]
    ]
    return {case.partition("[")[0] for case in (*caught, *failed)}


def test_every_case_has_been_seen_failing():
    assert functions() - seen_failing() == set()
