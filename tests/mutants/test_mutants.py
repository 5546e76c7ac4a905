"""Each lie is caught by the case that caught.toml names for it."""

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from fixtures.releases import catalogue
from tests.mutants.batch import batch

HERE = Path(__file__).parent
CAUGHT = tomllib.loads((HERE / "caught.toml").read_text())
NEWEST = catalogue.load().newest.version
# What the newest release no longer has is lied about in one that has it.
ELSEWHERE = {"conformance/render/test_assistant_mask.py": "0.27.1"}
NOT_MUTANTS = ("__init__", "batch", "conftest", "tools")


def release_of(case: str) -> str:
    """What --vllm says in the run of a case: a release, or nothing for the newest; one for all of a
    mutant's cases.
    """
    # The upgrade chapter runs by itself.
    upgrade = NEWEST if case.startswith("conformance/upgrade/") else ""
    return ELSEWHERE.get(case.partition("::")[0], upgrade)


@cache
def mutants() -> dict[str, str]:
    """Every public callable of the mutant modules: MODULE:CALLABLE to its lie."""
    found = {}
    for file in sorted(HERE.glob("*.py")):
        if file.stem in NOT_MUTANTS or file.stem.startswith("test_"):
            continue
        module = import_module(f"tests.mutants.{file.stem}")
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("_") and value.__module__ == module.__name__:
                found[f"{file.stem}:{name}"] = value.__doc__
    return found


def test_every_mutant_says_its_lie_and_has_a_case():
    assert {name: bool(lie) for name, lie in mutants().items()} == dict.fromkeys(CAUGHT, True)
    assert [name for name, cases in CAUGHT.items() if len(set(map(release_of, cases))) != 1] == []


@pytest.fixture(scope="module")
def cases_of(pool_address, request, tmp_path_factory):
    """An implementation's cases as reported; all runs begin at once and are waited for singly."""
    wanted = {item.callspec.params["mutant"] for item in request.session.items
              if hasattr(item, "callspec") and "mutant" in item.callspec.params}  # fmt: skip
    cases = {f"tests.mutants.{name}": CAUGHT[name] for name in CAUGHT if name in wanted}
    named = sorted({case for named in cases.values() for case in named})
    cases = {
        ("reference", release): [case for case in named if release_of(case) == release]
        for release in sorted(set(map(release_of, named)))
    } | {(mutant, release_of(named[0])): named for mutant, named in cases.items()}
    with batch(pool_address) as runs:
        begun: dict[str, list] = {}
        for (implementation, release), named in cases.items():
            folder = tmp_path_factory.mktemp("mutant")
            options = ["--impl", implementation, *(["--vllm", release] if release else [])]
            run = folder, runs.start(folder, *named, *options)
            begun.setdefault(implementation, []).append(run)
        yield lambda implementation: [
            case for run in begun[implementation] for case in runs.report(*run).cases
        ]


@pytest.fixture(scope="module")
def honest(cases_of):
    """The named cases that pass on the reference."""
    return {case["id"] for case in cases_of("reference") if case["status"] == "passed"}


@pytest.mark.parametrize("mutant", CAUGHT)
def test_the_lie_is_caught(cases_of, honest, found, mutant):
    cases = cases_of(f"tests.mutants.{mutant}")
    found.mutant(mutant, mutants()[mutant], CAUGHT[mutant], cases, honest)
    assert {case["id"]: case["status"] for case in cases} == dict.fromkeys(CAUGHT[mutant], "failed")


def test_the_reference_passes_the_named_cases(cases_of):
    cases = cases_of("reference")
    assert [case["id"] for case in cases if case["status"] != "passed"] == []
