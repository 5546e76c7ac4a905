"""A real headless Chromium, as the machine has it; nothing is installed here."""

import os
import shutil
from pathlib import Path

import pytest

NO_BROWSER = "TOKENWIRE_NO_BROWSER"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
LEFT_OUT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get(NO_BROWSER):
        return
    here = Path(__file__).parent
    out = [item for item in items if here in item.path.parents]
    items[:] = [item for item in items if item not in out]
    config.hook.pytest_deselected(items=out)
    config.stash[LEFT_OUT] = len(out)


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{count} tests of the page in a browser were left out, because {NO_BROWSER} is set."
        )


# Not of the session: Playwright's event loop runs in this thread until the browser is closed,
# and no asynchronous test can run beside it.
@pytest.fixture(scope="package")
def browser():
    """The browser of all tests here."""
    found = os.environ.get("TOKENWIRE_CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    if not found:
        pytest.fail(
            "There is no Chromium: install it (apt-get install chromium), name it in "
            f"TOKENWIRE_CHROMIUM, or set {NO_BROWSER} to leave these tests out.",
            pytrace=False,
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield chromium
        chromium.close()


class Seen:
    """What a page did that it must not do."""

    def __init__(self):
        self.errors: list[str] = []
        self.requests: list[str] = []


@pytest.fixture
def opened(browser, tmp_path):
    """`opened(text, **options)`: a page of that HTML, drawn; at the end it had no error and asked
    for nothing but itself.
    """
    seen, contexts, own = Seen(), [], set()

    def open_page(text: str, **options):
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(text, encoding="ascii")
        context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        contexts.append(context)
        own.add(path.as_uri())
        page = context.new_page()
        page.on("console", lambda message: seen.errors.append(message.text))
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn]", timeout=20_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not seen.errors
    assert {request.partition("#")[0] for request in seen.requests} == own
