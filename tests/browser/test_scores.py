"""The scores on the page: what a reader sees, folds, opens by keyboard and prints."""

import pytest

from reports.page.build import page as build_page
from reports.scores import check
from tests.browser.made import HOSTILE, single
from tests.unit.score_file import document, mutant, null, survived


@pytest.fixture(scope="module")
def scored():
    return build_page(single(), scores=check(survived(), "made"))


def test_the_section_is_there_with_scores_alone(opened, scored):
    page = opened(scored)
    assert page.is_visible("#scores")
    assert "Scores" in page.inner_text("#contents")
    without = opened(build_page(single()))
    assert without.is_hidden("#scores")
    assert "Scores" not in without.inner_text("#contents")


def test_chapters_and_servers_are_told_as_text_and_drawn_as_bars(opened, scored):
    page = opened(scored)
    rows = [" ".join(row.split()) for row in page.locator("#scores .beside tr").all_inner_texts()]
    assert rows == [
        "Chapter Lies caught Musts guarded",
        "generate 2 of 2 2 of 2",
        "render 0 of 1 0 of 1",
        "Server Its cases Passes",
        "empty 200 and nothing in it. 4 passed, 96 failed 4.0 %",
        "closing Closes the connection. 1 passed, 99 failed 1.0 %",
    ]
    widths = page.evaluate(
        """[...document.querySelectorAll("#scores .beside .bar")].map((bar) =>
             [...bar.children].map((part) => [part.className, part.getBoundingClientRect().width]))"""
    )
    assert [[name for name, _ in bar] for bar in widths] == [
        ["st-passed"], ["st-failed"], *[["st-passed", "st-failed"]] * 2
    ]  # fmt: skip
    (_, passed), (_, failed) = widths[2]
    assert 0 < passed < failed / 10
    assert "4.0 % (empty); 2 of 3 lies are caught" in page.inner_text("#scores")


def test_a_survivor_stands_open_and_the_others_are_folded(opened, scored):
    page = opened(scored)
    assert "1 lie not caught" in page.inner_text("#scores")
    assert "t.py::temp (did not fail)" in page.inner_text("#scores")
    folded = page.get_by_text("Usage is one less.")
    assert folded.is_hidden()
    page.focus("#scores summary >> nth=0")
    assert page.inner_text("#scores summary >> nth=0") == "generate: 2 lies"
    page.keyboard.press("Enter")
    assert folded.is_visible()
    told = page.inner_text("#scores details >> nth=0")
    for word in ("a:one_less", "t.py::counts", "generate.counts", "Refusals are empty."):
        assert word in told
    page.keyboard.press("Enter")
    assert folded.is_hidden()


def test_a_rule_tells_its_lies_and_a_lie_opens_its_rule(opened, scored):
    page = opened(scored)
    page.get_by_text("Unfold all").click()
    page.click('[data-rule="generate.words"]')
    assert "Refusals are empty." in page.inner_text("#panel dl")
    page.click('[data-rule="render.templates"]')
    assert "no lie" in page.inner_text("#panel dl")
    page.click('[data-rule="derender.text"]')
    assert "Lies it catches" not in page.inner_text("#panel")
    page.keyboard.press("Escape")
    page.click("#scores summary >> nth=0")
    page.focus("#scores details button:has-text('generate.counts')")
    page.keyboard.press("Enter")
    assert page.inner_text("#panel-title") == "generate.counts"
    assert "Usage is one less." in page.inner_text("#panel dl")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "generate.counts"


def test_many_lies_of_a_rule_are_folded_in_its_panel(opened):
    made = document(mutants={f"a:{at}": mutant(f"Lie {at}.", "generate.counts") for at in range(4)})
    page = opened(build_page(single(), scores=check(made, "made")))
    page.click('[data-rule="generate.counts"]')
    assert page.get_by_text("Lie 3.").last.is_hidden()
    page.focus("#panel dl summary")
    page.keyboard.press("Enter")
    assert page.locator("#panel dl").get_by_text("Lie 3.").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_in_both_schemes_and_on_paper(opened, scored, scheme):
    page = opened(scored, color_scheme=scheme)
    ink = "getComputedStyle(document.querySelector('#scores td')).color"
    paper = "getComputedStyle(document.querySelector('#scores table')).backgroundColor"
    dark, light = ("paper", "ink") if scheme == "dark" else ("ink", "paper")
    seen = {
        name: sum(map(int, page.evaluate(what)[4:-1].split(",")))
        for name, what in (("ink", ink), ("paper", paper))
    }
    assert seen[light] - seen[dark] > 400
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.locator("#scores .bar span").first.is_visible()
    assert page.locator("#scores .list button").first.is_visible()
    assert page.pdf()[:5] == b"%PDF-"


def test_on_a_narrow_screen_nothing_stands_out(opened, scored):
    page = opened(scored)
    page.set_viewport_size({"width": 480, "height": 900})
    page.evaluate("document.querySelectorAll('#scores details').forEach((one) => one.open = true)")
    wide = page.evaluate("[document.querySelector('#scores').scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]


def test_what_a_lie_says_is_never_code(opened):
    made = document(
        mutants={word: mutant(word, word, "generate.counts", case=word) for word in HOSTILE},
        nulls={word: null(word) for word in HOSTILE},
        rules={"generate.counts": "must", **dict.fromkeys(HOSTILE, "must")},
    )
    made["runs"][0]["command"] = list(HOSTILE)
    page = opened(build_page(single(), scores=check(made, "made")))
    page.click('[data-rule="generate.counts"]')
    page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    assert page.locator("#scores script, #scores img, #scores svg, #scores a").count() == 0
    assert page.evaluate("window.hacked") is None
    for place in ("#scores", "#panel dl"):
        seen = page.inner_text(place)
        for word in HOSTILE[:4]:
            assert word in seen
