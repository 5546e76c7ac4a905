"""The protocol as a document: what stands in the suite's files is what is printed."""

import pytest

from reports import __main__ as command

RULES = """
["generate.a"]
text = "A node MUST answer."
level = "must"
roles = ["generate", "coupled"]
since = "0.22.1"
references = ["GEN-01", "CASES 1"]
needs = []

["generate.b"]
text = "A node SHOULD stop."
level = "should"
roles = ["generate"]
since = "none yet"
references = ["found by tokenwire"]
needs = ["generate.a"]
"""
ENTRY = """
[[known_failing]]
target = "stock@0.33.0"
requirement = "generate.b"
cases = "{}"
reason = "It goes on."
reference = "vllm-project/vllm#1"
since = "0.22.1"
review_by = 2027-03-01
"""
SOURCES = """
[cases.1]
about = "It stops early."
reports = ["vllm-project/vllm PR#3"]

[cases.N2]
about = "It starts late."
reports = []

[left_out]
"GEN-02" = "It does not show."
"GEN-03" = "It does not show."
"CASES N2" = "It is the client's."
"""
CASES = """
pytestmark = pytest.mark.parametrize("node", [])

@requirement("generate.a", "generate.b")
async def test_one(wire):
    pass

TABLE = [pytest.param(1, marks=requirement("generate.b"))]
"""
PRINTED = """\
# The wire protocol of vLLM's disaggregated serving

2 rules in 1 chapters. A rule binds the roles it names, from the
release on in which stock vLLM began to hold it.

## generate

### generate.a

A node MUST answer.

- must, generate and coupled; held from 0.22.1 on
- from GEN-01, CASES 1
- guarded by `suite/generate/test_it.py::test_one`

### generate.b

A node SHOULD stop.

- should, generate; held by no release yet
- builds on generate.a
- from found by tokenwire
- guarded by `suite/generate/test_it.py::test_one`
- guarded by `suite/generate/test_it.py`
- fails on stock@0.33.0: It goes on. (vllm-project/vllm#1)

## Faults that people met

### CASES 1

It stops early.

- reported in vllm-project/vllm PR#3
- guarded by `generate.a`

### CASES N2

It starts late.

- reported in no public place: found on live nodes
- guarded by no rule: It is the client's.

## Left out

- GEN-02, GEN-03: It does not show.
- CASES N2: It is the client's.
"""


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    (folder / "requirements").mkdir(parents=True)
    (folder / "generate").mkdir()
    (folder / "requirements" / "generate.toml").write_text(RULES)
    (folder / "known_failing.toml").write_text(ENTRY.format("a") + ENTRY.format("b"))
    (folder / "sources.toml").write_text(SOURCES)
    (folder / "generate" / "test_it.py").write_text(CASES)
    return folder


def test_rules_cases_and_known_failures_are_printed(suite, capsys):
    assert command.main(["catalogue", "--suite", str(suite)]) == 0
    assert capsys.readouterr().out == PRINTED


@pytest.mark.parametrize(
    "file", ["requirements/generate.toml", "generate/test_it.py", "sources.toml"]
)
def test_a_broken_file_is_one_sentence(suite, capsys, file):
    (suite / file).write_text("][")
    assert command.main(["catalogue", "--suite", str(suite)]) == 1
    assert capsys.readouterr().err.startswith(f"the catalogue in {suite} cannot be read: ")


def test_another_folder_is_one_sentence(tmp_path, capsys):
    (tmp_path / "known_failing.toml").write_text("")
    (tmp_path / "sources.toml").write_text("")
    assert command.main(["catalogue", "--suite", str(tmp_path)]) == 1
    assert "it is not the suite's folder" in capsys.readouterr().err


def test_each_rule_of_this_checkout_has_a_case(capsys):
    assert command.main(["catalogue"]) == 0
    rules = capsys.readouterr().out.partition("\n## Faults that people met")[0]
    for rule in rules.split("\n### ")[1:]:
        assert "- guarded by `conformance/" in rule, rule
