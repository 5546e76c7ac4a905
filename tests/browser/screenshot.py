"""The picture of the page that the README shows.

`python -m tests.browser.screenshot PAGE.html CHANGE RULE` takes it anew.
"""

import shutil
import sys
from pathlib import Path

README_PICTURE = Path(__file__).resolve().parents[2] / "reports" / "page" / "screenshot.png"
BIGGEST = 200 * 1024  # bytes


def take(page, change: str, rule: str, out: Path) -> None:
    """Show what changed in one way, and of `rule` the first exchange that differs."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.click(f'[data-filter="change:{change}"]')
    page.click(f'[data-rule="{rule}"]')
    page.wait_for_selector(".exchange[open] .diff")
    page.evaluate("document.getElementById('requirements').scrollIntoView()")
    page.evaluate(
        """() => {
             const panel = document.getElementById("panel");
             panel.scrollTop = document.querySelector(".diff").getBoundingClientRect().top - 440;
           }"""
    )
    page.screenshot(path=out)


def main(path: str, change: str, rule: str) -> None:
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        page.goto(Path(path).resolve().as_uri())
        take(page, change, rule, README_PICTURE)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
