"""The score at the end of a run: mutants caught, and the must-level rules that they guard."""

import pytest

from reports.mutants import guard_lines, print_chapters
from tests.scoring import FOUND


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    found = config.stash.get(FOUND, None)
    if not found or not found.mutants:
        return
    scores = found.scores(config.invocation_params.args)
    mutants = scores.mutants
    caught = len(mutants) - len(scores.survived)
    terminalreporter.section(f"mutants: {caught} of {len(mutants)} caught")
    print_chapters(scores)
    if config.option.verbose < 1:
        terminalreporter.write_line("With -v: which mutants guard which requirement.")
        return
    for rule in scores.musts:
        for line in guard_lines(scores, rule):
            terminalreporter.write_line(line.plain)
