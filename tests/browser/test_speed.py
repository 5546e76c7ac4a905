"""Ten thousand cases open within two seconds, and the picture that the README shows can be taken."""

import pytest

from reports.compare import compare
from reports.page.build import page as build_page
from tests.browser.made import OLD, both, large, report
from tests.browser.screenshot import BIGGEST, README_PICTURE, take

SECONDS = 2.0


def sides(count):
    new = large()
    if count == 1:
        return (new,)
    cases = [{**case, "target": OLD} for case in new.cases]
    old = report(OLD, *cases, names=new.header["requirements"])
    return new, old, compare(old, new, ())


@pytest.mark.parametrize("count", [1, 2], ids=["one-side", "two-sides"])
def test_ten_thousand_cases_open_at_once(opened, capsys, count):
    text = build_page(*sides(count))
    # Of three openings the fastest says what the page costs, and not what else the machine does.
    pages = [opened(text) for _ in range(3)]
    times = [float(page.get_attribute("html", "data-drawn")) / 1000 for page in pages]
    told = ", ".join(f"{seconds:.2f} s" for seconds in times)
    with capsys.disabled():
        print(f"\n10,000 cases, {count} side(s), {len(text) / 1e6:.1f} MB, drawn after {told}")
    assert min(times) < SECONDS
    page = pages[-1]
    page.fill("#search", "test_case_9990")
    assert page.inner_text("#shown").startswith("1 requirement, 1 case")
    page.click("#matrix tr.rule:not([hidden])")
    page.wait_for_selector(".exchange")


def test_the_picture_of_the_readme_is_small(opened, tmp_path):
    picture = tmp_path / "screenshot.png"
    take(opened(build_page(*both())), "newly failing", "generate.counts", picture)
    assert picture.stat().st_size < BIGGEST
    assert README_PICTURE.stat().st_size < BIGGEST
