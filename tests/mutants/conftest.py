"""The score at the end of a run: mutants caught, and the must-level rules that they guard."""

import pytest

from fixtures.catalogue import load_catalogue
from fixtures.outcome import SUITE

# Mutant -> the requirements of the cases that failed on it; none where the lie survived.
SCORE = pytest.StashKey[dict[str, list[str]]]()


@pytest.fixture(scope="session")
def score(pytestconfig: pytest.Config) -> dict[str, list[str]]:
    """Filled in by the tests, printed at the end."""
    return pytestconfig.stash.setdefault(SCORE, {})


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if not (score := config.stash.get(SCORE, {})):
        return
    write = terminalreporter.write_line
    terminalreporter.section(f"mutants: {sum(map(bool, score.values()))} of {len(score)} caught")
    rules = load_catalogue(SUITE / "requirements")
    guards: dict[str, list[str]] = {name: [] for name in rules if rules[name].level == "must"}
    for mutant, broken in score.items():
        for name in broken:
            guards.get(name, []).append(mutant)
    write(f"{'chapter':12}{'musts':>7}{'guarded':>9}")
    for chapter in sorted({name.partition(".")[0] for name in guards}):
        own = [found for name, found in guards.items() if name.partition(".")[0] == chapter]
        write(f"{chapter:12}{len(own):7}{sum(map(bool, own)):9}")
    write(f"{'all':12}{len(guards):7}{sum(map(bool, guards.values())):9}")
    if config.option.verbose < 1:
        write("With -v: which mutants guard which requirement.")
        return
    for name, found in guards.items():
        write(f"{name}: {', '.join(found) or 'none'}")
