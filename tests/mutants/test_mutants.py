"""Each lie is caught by the case that caught.toml names for it."""

import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

from tests.live.sharing import run_suite

HERE = Path(__file__).parent
CAUGHT = tomllib.loads((HERE / "caught.toml").read_text())


def mutants() -> dict[str, str]:
    """Every public callable of the mutant modules: MODULE:CALLABLE to its lie."""
    found = {}
    for file in sorted(HERE.glob("*.py")):
        if file.stem in ("__init__", "tools") or file.stem.startswith("test_"):
            continue
        module = import_module(f"tests.mutants.{file.stem}")
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("_") and value.__module__ == module.__name__:
                found[f"{file.stem}:{name}"] = value.__doc__
    return found


def test_every_mutant_says_its_lie_and_has_a_case():
    assert {name: bool(lie) for name, lie in mutants().items()} == dict.fromkeys(CAUGHT, True)


@pytest.fixture(scope="module")
def reports(pool, tmp_path_factory):
    """A report of the named cases for each mutant and, for the control, for the reference."""
    cases = sorted({case for named in CAUGHT.values() for case in named})
    runs = {"reference": cases} | {f"tests.mutants.{name}": named for name, named in CAUGHT.items()}

    def run(implementation: str):
        folder = tmp_path_factory.mktemp("mutant")
        return run_suite(pool.address, folder, *runs[implementation], "--impl", implementation)

    with ThreadPoolExecutor(2) as threads:
        return dict(zip(runs, threads.map(run, runs), strict=True))


def statuses(report) -> dict[str, str]:
    return {case["id"]: case["status"] for case in report.cases}


def test_the_reference_passes_the_named_cases(reports):
    assert set(statuses(reports["reference"]).values()) == {"passed"}


@pytest.mark.parametrize("mutant", CAUGHT)
def test_the_lie_is_caught(reports, mutant):
    seen = statuses(reports[f"tests.mutants.{mutant}"])
    assert "error" not in seen.values()
    assert "failed" in seen.values()
