"""The README's picture, of the demo's report: ``make demo``, then ``python docs/picture.py``."""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
MARGIN = 8


def main() -> None:
    """Photograph the first card of ``demo/report.html`` with the Chromium that is there."""
    with sync_playwright() as playwright:
        place = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1400}, color_scheme="light")
        page.goto((ROOT / "demo" / "report.html").as_uri())
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


if __name__ == "__main__":
    main()
