"""The pages of a leaderboard in Chromium, from disk and without a network."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.leaderboard import write_leaderboard
from pronominal.eval.runs.runner import SystemSettings
from tests.eval.conftest import broken_rules
from tests.eval.evaluated import evaluate_several

PAGES = ("index.html", "datasets/sample.html", "datasets/winopron.html", "systems/random.html")
SYSTEMS = ("toy-nine-in-ten", "first-mention", "random")


@pytest.fixture(scope="module")
def site(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaderboard")
    split = read_split(sample, "double")
    evaluate_several(split, [SystemSettings(name, name) for name in SYSTEMS], folder / "runs")
    evaluate_several(split.first(16), [SystemSettings("short", "random")], folder / "runs")
    write_leaderboard([folder / "runs"], folder / "site")
    return folder / "site"


@pytest.fixture
def page(cleared: Any) -> Iterator[Any]:
    problems: list[str] = []

    def note(error: Any) -> None:
        problems.append(str(error))

    cleared.on("pageerror", note)
    cleared.set_viewport_size({"width": 390, "height": 800})
    yield cleared
    cleared.remove_listener("pageerror", note)
    assert problems == []


def systems(page: Any) -> list[str]:
    return page.locator("table").first.locator("tbody tr:visible th a").all_text_contents()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", PAGES)
def test_axe_finds_nothing_and_a_phone_scrolls_down_only(
    place: str, scheme: str, page: Any, site: Path
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto((site / place).as_uri())
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(245, 246, 249)", "dark": "rgb(14, 18, 25)"}[scheme]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert broken_rules(page, scheme) == []


def test_a_click_on_a_heading_sorts_and_a_second_one_the_other_way(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "winopron.html").as_uri())
    heading = page.locator("table").first.locator("th", has_text="Disambiguation consistency")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert systems(page)[:2] == ["FLAN-T5-xl", "FLAN-T5-xxl"]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert systems(page)[-1] == "FLAN-T5-xl"
    assert "Disambiguation consistency, ascending" in page.locator("#said").text_content()


def test_what_is_undefined_comes_last_either_way(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "knowref.html").as_uri())
    heading = page.locator("table").first.locator("thead th").nth(2)
    for _ in range(2):
        heading.locator("button").click()
        cells = page.locator("table").first.locator("tbody td:nth-child(3)").all_text_contents()
        given = [cell.strip() != "–" for cell in cells]
        assert given == sorted(given, reverse=True)
        assert 0 < sum(given) < len(given)


def test_without_scripts_everything_is_there(browser: Any, site: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((site / "datasets" / "sample.html").as_uri())
    assert systems(page) == ["toy-nine-in-ten", "random", "first-mention"]
    assert "only 16 of the rows" in page.content()
    context.close()


def test_papers_can_be_left_out_of_sight(
    page: Any, sample: Path, site: Path, tmp_path: Path
) -> None:
    # runs of the sample under the name of a dataset that papers have figures of
    runs = Path(shutil.copytree(site.parent / "runs", tmp_path / "runs"))
    for file in runs.rglob("run.json"):
        file.write_text(file.read_text().replace('"name": "sample"', '"name": "winopron"', 1))
    write_leaderboard([runs], tmp_path / "site")
    page.goto((tmp_path / "site" / "datasets" / "winopron.html").as_uri())
    assert len(systems(page)) == 12
    page.get_by_label("runs", exact=True).check()
    assert systems(page) == ["toy-nine-in-ten", "random", "first-mention"]
    page.get_by_label("published", exact=True).check()
    assert len(systems(page)) == 9


def test_paper_has_no_controls(page: Any, site: Path) -> None:
    page.goto((site / "datasets" / "winopron.html").as_uri())
    page.emulate_media(media="print")
    assert not page.locator("header nav").is_visible()
    assert page.locator("table").first.is_visible()
    buttons = page.locator("thead button")
    before = buttons.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (before > 0, buttons.count()) == (True, 0)  # or no sheet but the first names columns
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert buttons.count() == before
