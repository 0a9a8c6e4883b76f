"""The README's picture, of the demo's report: ``make demo``, then ``python docs/picture.py``.

``report.txt`` beside it holds the words and figures of what it shows, which a test compares with
today's report: where they differ, the picture is made again.
"""

import re
import shutil
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARGIN = 8

FIRST = re.compile(r'<section class="card first".*?</section>', re.DOTALL)
NO_WORDS = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*>", re.DOTALL)


def words(page: str) -> str:
    """Return the words and figures of a report's first card, a line for each element's."""
    card = FIRST.search(page)
    if card is None:
        raise SystemExit("the report does not show its first screen")
    lines = (line.strip() for line in unescape(NO_WORDS.sub("\n", card[0])).splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def main() -> None:
    """Photograph the first card of ``demo/report.html`` with the Chromium that is there."""
    from playwright.sync_api import sync_playwright

    report = ROOT / "demo" / "report.html"
    shown = words(report.read_text(encoding="utf-8"))
    with sync_playwright() as playwright:
        place = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1400}, color_scheme="light")
        page.goto(report.as_uri())
        first = page.locator("section.first").bounding_box()
        if first is None:
            raise SystemExit("demo/report.html does not show its first screen")
        clip = {
            "x": first["x"] - MARGIN,
            "y": first["y"] - MARGIN,
            "width": first["width"] + 2 * MARGIN,
            "height": first["height"] + 2 * MARGIN,
        }
        page.screenshot(path=ROOT / "docs" / "report.png", full_page=True, clip=clip)
        browser.close()
    (ROOT / "docs" / "report.txt").write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
