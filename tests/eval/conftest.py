"""What tests of pages share: a browser with one open page."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; install Debian's package chromium")
    playwright_api = pytest.importorskip("playwright.sync_api")

    with playwright_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    """A page that tests open one after the other; each new one would start a process."""
    return browser.new_context(offline=True).new_page()


@pytest.fixture
def cleared(tab: Any) -> Iterator[Any]:
    """The page as if it had just been opened, without what a test before has set or stored."""
    tab.emulate_media(media="null", color_scheme="light")
    tab.set_viewport_size({"width": 1280, "height": 720})
    yield tab
    if tab.url.startswith("file:"):
        tab.evaluate("localStorage.clear()")
    tab.goto("about:blank")
