"""What is kept of each release is a whole report of it, compact, and says which command made it."""

import pytest

from fixtures.outcome import ROOT
from fixtures.releases import catalogue
from reports.record import read

FOLDER = ROOT / "reports" / "baselines"
FILES = sorted(FOLDER.glob("*/*.jsonl"))
LARGEST = 4 * 1024 * 1024  # bytes


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_it_is_a_compact_report_of_its_release(file):
    report = read(file)
    assert report.header["targets"] == [f"{file.parent.name}@{file.stem}"]
    assert report.header["command"][0] == "pytest"
    assert catalogue.load().get(file.stem).version in report.header["releases"]
    assert report.footer["exit_code"] == 0
    assert report.footer["planned"] == report.footer["reported"] > 3000
    assert not any(case["exchanges"] for case in report.cases)
    assert file.stat().st_size < LARGEST


@pytest.mark.parametrize("implementation", ["stock", "reference"])
def test_every_release_has_one(implementation):
    kept = {file.stem for file in FILES if file.parent.name == implementation}
    assert {release.version for release in catalogue.load().releases} == kept
