"""The page of a report in a real browser: what a reader sees, does with mouse and keys, and prints."""

import json

import pytest

from reports.page.build import page as build_page
from tests.browser.made import CURL, HOSTILE, REPLAY, both, hostile, single

ROWS = "#matrix tr.rule:not(.folded):not([hidden])"


@pytest.fixture(scope="module")
def one():
    return build_page(single())


@pytest.fixture(scope="module")
def two():
    return build_page(*both())


def ids(page):
    """The rules that are to be seen."""
    return page.locator(f"{ROWS} .rule-id").all_inner_texts()


def focused(page):
    return page.evaluate("document.activeElement.dataset.rule || document.activeElement.id")


def test_the_matrix_and_the_summary_are_there(opened, one):
    page = opened(one)
    assert page.inner_text("h1") == "stock@0.33.0"
    assert page.title() == "stock@0.33.0: tokenwire"
    assert "lost: t::z." in page.inner_text("#problems")
    assert [text.strip() for text in page.locator("#summary .counts li").all_inner_texts()] == [
        *("9 passed", "1 unsupported", "1 known failing", "2 failed", "1 error"),
    ]
    assert page.inner_text("#shown") == "6 requirements, 14 cases"
    assert page.get_by_role("treegrid").count() == 1


def test_chapters_fold_and_unfold(opened, one):
    page = opened(one)
    page.get_by_text("Fold all", exact=True).click()
    assert ids(page) == []
    page.locator("tr.chapter", has_text="generate").first.click()
    assert ids(page) == ["generate.answers", "generate.counts", "generate.words"]
    page.locator("tr.chapter", has_text="generate").first.click()
    assert ids(page) == []
    page.get_by_text("Unfold all").click()
    assert len(ids(page)) == 6


FILTERS = [
    (["status:failed"], ["generate.counts", "upgrade.agrees"]),
    (["status:failed", "status:error"], ["generate.counts", "derender.text", "upgrade.agrees"]),
    (["level:should"], ["generate.words"]),
    (["role:render"], ["render.templates", "upgrade.agrees"]),
    (["role:render", "status:unsupported"], ["render.templates"]),
]


@pytest.mark.parametrize(("chips", "left"), FILTERS)
def test_the_filter_leaves_what_was_asked_for(opened, one, chips, left):
    page = opened(one)
    for chip in chips:
        page.click(f'[data-filter="{chip}"]')
        assert page.get_attribute(f'[data-filter="{chip}"]', "aria-pressed") == "true"
    assert ids(page) == left
    page.click("text=Clear filter")
    assert page.inner_text("#shown") == "6 requirements, 14 cases"


def test_a_word_finds_rules_and_cases(opened, one):
    page = opened(one)
    page.fill("#search", "refusal why")
    assert ids(page) == ["generate.words"]
    page.fill("#search", "passed-2")
    assert ids(page) == ["generate.answers"]
    assert page.inner_text("#shown") == "1 requirement, 1 case: filtered by passed-2"
    page.fill("#search", "nothing of the kind")
    assert page.is_visible("#nothing")


def test_a_failure_shows_rule_message_exchanges_and_lines_to_copy(opened, one):
    page = opened(one, permissions=["clipboard-read", "clipboard-write"])
    page.click('[data-rule="generate.counts"]')
    page.wait_for_selector(".exchange")
    panel = page.inner_text("#panel")
    for word in ("A node MUST count its tokens.", "must", "0.20.2", "vllm-project/vllm#9",
                 "GEN-01", "generate.answers", "AssertionError: 4 != 3"):  # fmt: skip
        assert word in panel
    assert page.inner_text('[data-copy="curl"]') == CURL
    assert page.inner_text('[data-copy="pytest"]') == REPLAY
    # Numbers stay as they were sent.
    assert str(2**70) in page.inner_text(".exchange[open]")
    page.click('[aria-label="Copy curl"]')
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == CURL


def test_of_the_passed_cases_one_is_shown_and_the_page_says_so(opened, one):
    page = opened(one)
    page.click('[data-rule="generate.answers"]')
    page.wait_for_selector(".exchange")
    assert page.locator("details.case").count() == 5
    page.locator("details.case").nth(3).locator("summary").first.click()
    page.wait_for_selector("text=Its exchanges stand in the report")
    assert "other passed cases" in page.inner_text("#run")


def test_two_sides_stand_side_by_side_with_their_difference(opened, two):
    page = opened(two)
    assert page.inner_text("h1") == "stock@0.33.0 against stock@0.32.0"
    assert "1 newly failing" in page.inner_text("#summary")
    assert page.locator("thead .target").all_inner_texts() == ["stock@0.32.0", "stock@0.33.0"]
    assert "usage.gone was removed (integer)" in page.inner_text("#shapes")
    page.click('[data-filter="change:newly failing"]')
    assert ids(page) == ["generate.counts"]
    page.click('[data-rule="generate.counts"]')
    page.wait_for_selector(".exchange[open]")
    assert "differs" in page.inner_text(".exchange[open] > summary")
    marked = page.locator(".exchange[open] .diff")
    assert marked.first.locator("del").all_inner_texts() == ['- {"n": 3}']
    assert marked.first.locator("ins").all_inner_texts() == ['+ {"n": 4}']
    assert "completion_tokens" in marked.last.locator("del").inner_text()


def test_a_cell_of_the_grid_tells_its_rule(opened, one):
    page = opened(one)
    buttons = page.locator(".plane button")
    assert buttons.all_inner_texts() == [".", "d", "!", "r"]
    buttons.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#panel-title") == "render stock@0.33.0, generate stock@0.32.0"
    panel = page.inner_text("#panel")
    for word in ("breaks, unexpected", "interoperates", "it-breaks", "so it is", "EVOLUTION 3.2"):
        assert word in panel
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.place") == "1 0"


def test_all_of_it_by_keyboard(opened, one):
    page = opened(one)
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("count")
    assert ids(page) == ["generate.counts"]
    page.keyboard.press("Escape")
    assert page.input_value("#search") == ""
    page.locator("tr.chapter").first.focus()
    page.keyboard.press("ArrowLeft")
    assert page.get_attribute("tr.chapter >> nth=0", "aria-expanded") == "false"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "generate.counts"
    assert page.locator("#matrix tbody tr[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    assert focused(page) == "panel-title"
    assert page.get_attribute('[data-rule="generate.counts"]', "aria-selected") == "true"
    page.keyboard.press("Escape")
    assert page.is_hidden("#panel")
    assert focused(page) == "generate.counts"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert focused(page) == "upgrade.agrees"


def test_focus_can_be_seen_and_each_sign_has_words(opened, one):
    page = opened(one)
    page.keyboard.press("/")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, td.cell:not(.change)")].filter(
             (one) => !(one.getAttribute("aria-label") || one.textContent).trim()).length"""
    )
    assert unnamed == 0
    label = page.get_attribute('[data-rule="generate.counts"] td', "aria-label")
    assert label == "stock@0.33.0: 1 failed"


def luminance(color):
    red, green, blue = (int(part) for part in color[4:-1].split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light(opened, one, scheme):
    page = opened(one, color_scheme=scheme)
    paper, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    assert (luminance(paper) > luminance(ink)) == (scheme == "light")
    assert abs(luminance(paper) - luminance(ink)) > 150


def test_a_narrow_window_shows_it_without_moving_sideways(opened, two):
    page = opened(two)
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_print_unfolds_what_is_shown(opened, one):
    page = opened(one, color_scheme="dark")
    page.get_by_text("Fold all", exact=True).click()
    page.emulate_media(media="print", color_scheme="dark")
    rows = page.locator("#matrix tr.rule:visible .rule-id")
    assert rows.count() == 6
    assert page.is_hidden("#filter")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")
    page.click('[data-filter="status:failed"]')
    page.emulate_media(media="print")
    assert rows.count() == 2
    assert page.pdf()[:5] == b"%PDF-"


def test_what_a_server_said_is_never_code(opened):
    page = opened(build_page(hostile()))
    elements = "document.querySelectorAll('script, img, iframe, object').length"
    before = page.evaluate(elements)
    page.get_by_text("Unfold all").click()
    for row in page.locator(ROWS).all():
        row.click()
        page.wait_for_selector(".exchange")
        page.evaluate(
            "document.querySelectorAll('#panel details').forEach((one) => one.open = true)"
        )
        page.wait_for_timeout(20)
    page.locator(".plane button").first.click()
    page.evaluate("document.querySelectorAll('#panel details').forEach((one) => one.open = true)")
    page.wait_for_selector(".exchange")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(elements) == before
    assert page.locator("a[href^='javascript']").count() == 0
    seen = page.inner_text("body")
    for word in HOSTILE[:4]:
        assert word in seen
    # What cannot be seen, or turns the text around, is told as an escape.
    assert r"\u2028window.hacked='line'\u2029\u202egnp.exe\ud800" in seen


def test_the_policy_refuses_any_other_script(browser, tmp_path, one):
    (tmp_path / "page.html").write_text(one, encoding="ascii")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    refused = page.evaluate(
        """() => new Promise((resolve) => {
             document.addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective));
             const script = document.createElement("script");
             script.textContent = "window.hacked = 1";
             document.body.append(script);
             setTimeout(() => resolve("nothing"), 1000);
           })"""
    )
    assert refused.startswith("script-src")
    assert page.evaluate("window.hacked") is None
    page.close()


def test_an_address_opens_its_rule(opened, one):
    page = opened(one)
    page.click('[data-rule="generate.words"]')
    address = page.url
    assert address.endswith("#generate.words")
    page.keyboard.press("Escape")
    assert "#" not in page.url
    page.goto(address)
    page.reload()
    page.wait_for_selector("#panel-title")
    assert page.inner_text("#panel-title") == "generate.words"


def test_the_index_is_what_the_report_says(opened, one):
    page = opened(one)
    index = json.loads(page.evaluate("document.getElementById('index').textContent"))
    assert len(index["cases"]) == len(single().cases)
