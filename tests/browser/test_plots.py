"""What cases measured, drawn: dots by rule, their limits, their words, and the keyboard."""

import pytest

from reports.compare import compare
from reports.page.build import page as build_page
from tests.browser.made import HOSTILE, NEW, OLD, hostile, measuring, report, rules, single

SECTION = "#measured"


@pytest.fixture(scope="module")
def one():
    return build_page(measuring())


@pytest.fixture(scope="module")
def two():
    new, old = measuring(), measuring(OLD)
    return build_page(new, old, compare(old, new, ()))


def left(mark):
    return float(mark.get_attribute("x").removesuffix("%"))


def titles(page):
    return page.locator(f"{SECTION} .dots .dot title").all_text_contents()


def focused(page):
    return page.evaluate("document.activeElement.querySelector('title')?.textContent")


def test_each_measure_is_a_dot_with_its_words(opened, one):
    page = opened(one)
    assert page.locator(f"{SECTION} h3").all_inner_texts() == [
        "How far log probabilities moved",
        "How soon an aborted request stopped",
        "How far an aborted request came",
    ]
    assert titles(page) == [
        f"m.py::same\n{NEW}: logprob difference 0 nats, limit 1e-3",
        f"m.py::agrees\n{NEW}: logprob difference 3.1e-4 nats, limit 1e-3",
        f"m.py::drifts\n{NEW}: logprob drift under load 0.015 nats, no limit",
        f"m.py::differs\n{NEW}: logprob difference 0.02 nats, limit 1e-3",
        f"m.py::stops\n{NEW}: abort 0.31 seconds, limit 5",
        f"m.py::stops-late\n{NEW}: abort 2.01 seconds, limit 2",
        f"m.py::stops\n{NEW}: abort 130 tokens, limit 4,072",
    ]
    rows = page.locator(f"{SECTION} .plot").first.locator("tbody tr")
    assert rows.locator("th").all_inner_texts() == ["generate.answers", "generate.counts"]
    assert rows.locator("td.largest").all_inner_texts() == ["0.015", "0.02 of 1e-3"]


def test_dots_stand_in_order_about_the_limit_and_zero_at_the_left_edge(opened, one):
    page = opened(one)
    marks = page.locator(f"{SECTION} .plot").first.locator("tbody tr").first.locator(".dot")
    zero, within, drifted = (left(marks.nth(at)) for at in range(3))
    limit = page.locator(f"{SECTION} .limit").first
    bound = float(limit.get_attribute("x1").removesuffix("%"))
    assert zero < within < bound < drifted
    ticks = page.locator(f"{SECTION} .plot").first.locator("thead text")
    assert ticks.all_text_contents() == ["0", "1e-4", "1e-3", "1e-2", "1e-1"]
    assert left(ticks.first) == zero < left(ticks.nth(1)) < within
    assert page.locator(f"{SECTION} .dots .dot.beyond").count() == 2


def test_no_dot_is_cut_off_or_on_another(opened, one):
    boxes = [mark.bounding_box() for mark in opened(one).locator(f"{SECTION} .dots .dot").all()]
    assert all(box["width"] > 6 and box["height"] > 6 for box in boxes)
    assert len({(round(box["x"]), round(box["y"])) for box in boxes}) == len(boxes)


def test_two_sides_have_a_mark_each(opened, two):
    page = opened(two)
    assert page.locator(f"{SECTION} .key li").all_inner_texts() == [OLD, NEW]
    assert len(titles(page)) == 14
    marks = page.locator(f"{SECTION} .plot").first.locator("tbody tr").first.locator(".dot")
    assert {marks.nth(at).get_attribute("href") for at in range(6)} == {"#m-0", "#m-1"}
    largest = page.locator(f"{SECTION} td.largest").nth(1).locator("span")
    assert largest.all_inner_texts() == ["0.02 of 1e-3"] * 2
    shapes = page.evaluate(
        """[...document.querySelectorAll('#measured .key .dot')].map(
             (one) => getComputedStyle(one).fill)"""
    )
    assert len(set(shapes)) == 2


def test_a_click_opens_the_case_with_what_it_measured(opened, one):
    page = opened(one)
    page.locator(f"{SECTION} .dots .dot").nth(3).click()
    assert page.inner_text("#panel-title") == "differs"
    page.wait_for_selector("#panel .exchange")
    assert "logprob difference: 0.02 nats, limit 0.001" in page.inner_text("#panel")


def test_dots_by_keyboard(opened, one):
    page = opened(one)
    assert page.locator(f"{SECTION} .dot[tabindex='0']").count() == 3  # one for each plot
    page.locator(f"{SECTION} .plot button").first.focus()
    page.keyboard.press("Tab")
    assert focused(page).startswith("m.py::same")
    page.keyboard.press("ArrowRight")
    assert focused(page).startswith("m.py::agrees")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("m.py::differs")
    page.keyboard.press("ArrowUp")
    assert focused(page).startswith("m.py::drifts")
    page.keyboard.press("Home")
    assert focused(page).startswith("m.py::same")
    page.keyboard.press("End")
    stroke = "getComputedStyle(document.activeElement).strokeWidth"
    assert page.evaluate(stroke) == "4px"
    page.keyboard.press("Enter")
    assert page.inner_text("#panel-title") == "drifts"
    page.keyboard.press("Escape")
    assert page.is_hidden("#panel")
    assert focused(page).startswith("m.py::drifts")


def test_all_numbers_stand_in_a_table(opened, two):
    page = opened(two)
    block = page.locator(f"{SECTION} details.numbers").first
    assert block.locator("summary").inner_text() == "Numbers of 4 cases"
    block.locator("summary").press("Enter")
    block.locator("tbody tr").first.wait_for()
    rows = [row.all_inner_texts() for row in
            (line.locator("td") for line in block.locator("tbody tr").all())]  # fmt: skip
    assert [row[1:] for row in rows] == [
        ["logprob difference", "0.00031", "0.00031", "0.001"],
        ["logprob difference", "0", "0", "0.001"],
        ["logprob drift under load", "0.015", "0.015", "none"],
        ["logprob difference", "0.02", "0.02", "0.001"],
    ]
    block.get_by_role("button", name="agrees").press("Enter")
    assert page.inner_text("#panel-title") == "agrees"


def test_where_many_cases_meet_a_dot_tells_how_many(opened):
    made = measuring()
    crowd = [{**made.cases[1], "id": f"m.py::same-{number}"} for number in range(50)]
    page = opened(build_page(report(NEW, *made.cases, *crowd, exit_code=1)))
    first = page.locator(f"{SECTION} .plot").first.locator("tbody tr").first
    assert first.locator(".dot").count() == 4 + 2
    assert first.locator("title").nth(3).text_content().endswith("\nand 47 other cases here")
    assert page.inner_text(f"{SECTION} details.numbers summary >> nth=0") == "Numbers of 54 cases"


def test_of_many_rules_the_first_are_drawn_and_then_the_others(opened):
    made = measuring()
    names = rules() | {f"render.z{number}": rules()["render.templates"] for number in range(150)}
    crowd = [
        {**made.cases[0], "id": f"m.py::{name}", "requirements": [name]}
        for name in names
        if name.startswith("render.z")
    ]
    crowd[-1] |= {"measured": [crowd[-1]["measured"][0] | {"value": 0.5}]}
    page = opened(build_page(report(NEW, *made.cases, *crowd, names=names, exit_code=1)))
    rows = page.locator(f"{SECTION} .plot").first.locator("tbody tr")
    # What is beyond its limit is among them.
    assert rows.locator("th").all_inner_texts()[:2] == ["generate.counts", "render.z149"]
    assert rows.count() == 100
    page.get_by_role("button", name="Draw 52 more rules").press("Enter")
    assert rows.count() == 152
    assert page.get_by_role("button", name="more rules").count() == 0


def test_a_report_that_measured_nothing_has_no_such_section(opened):
    page = opened(build_page(single()))
    assert page.is_hidden(SECTION)
    assert "Measured" not in page.inner_text("#contents")


def test_the_section_is_named_among_the_parts(opened, one):
    page = opened(one)
    assert "Measured" in page.inner_text("#contents")
    assert page.is_visible(SECTION)


def test_dots_are_seen_in_the_dark_and_on_paper(opened, one):
    fill = "getComputedStyle(document.querySelector('#measured .dots .dot')).fill"
    light, dark = (opened(one, color_scheme=scheme) for scheme in ("light", "dark"))
    assert light.evaluate(fill) != dark.evaluate(fill)
    dark.emulate_media(media="print", color_scheme="dark")
    assert dark.locator(f"{SECTION} .plot button").first.is_visible()
    assert dark.locator(f"{SECTION} .dots .dot").first.is_visible()
    assert dark.pdf()[:5] == b"%PDF-"


def test_what_a_measure_or_a_case_says_is_never_code(opened):
    page = opened(build_page(hostile()))
    elements = "document.querySelectorAll('script, img, iframe, object').length"
    before = page.evaluate(elements)
    assert page.locator(f"{SECTION} .dots .dot").count() == len(HOSTILE)
    for block in page.locator(f"{SECTION} details.numbers").all():
        block.locator("summary").click()
    for mark in page.locator(f"{SECTION} .dots .dot").all():
        mark.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#panel .exchange")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(elements) == before
    seen = page.inner_text(SECTION) + "".join(titles(page))
    for word in HOSTILE[:4]:
        assert word in seen
    assert "\u202e" not in seen


@pytest.mark.parametrize(
    "value", [5e-324, 1e-300, 1e308, 0], ids=["smallest", "small", "large", "zero"]
)
def test_any_number_has_a_place(opened, value):
    made = measuring()
    made.cases[0]["measured"][0] |= {"value": value, "limit": None}
    page = opened(build_page(made))
    places = [left(mark) for mark in page.locator(f"{SECTION} .dots .dot").all()]
    assert all(0 < place < 100 for place in places)


def test_where_all_is_zero_the_limit_stands_away_from_it(opened):
    made = measuring()
    page = opened(build_page(report(NEW, made.cases[1])))
    mark, limit = page.locator(f"{SECTION} .dots .dot"), page.locator(f"{SECTION} .limit")
    assert left(mark) < 5
    assert float(limit.get_attribute("x1").removesuffix("%")) > 90
