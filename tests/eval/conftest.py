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


OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that one scheme may keep and the other break."""


def broken_rules(page: Any, scheme: str) -> list[tuple[str, int]]:
    """Return each rule that axe finds broken, and by how many elements; in the dark of colours."""
    from axe_playwright_python.sync_playwright import Axe

    # the elements that keep a rule are not listed, which takes a third of the time
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    asked = {"runOnly": OF_COLOURS} if scheme == "dark" else {}
    response = Axe().run(page, options=options | asked).response
    assert {*OF_COLOURS} & {rule["id"] for rule in response["passes"]}
    return [(rule["id"], len(rule["nodes"])) for rule in response["violations"]]
