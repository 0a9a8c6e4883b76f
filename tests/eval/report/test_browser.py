"""The report in Chromium, from disk and without a network: reading, sorting, filtering, keys."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.report import write_report
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.best import best_first
from pronominal.eval.tables.table import percent
from tests.eval.conftest import broken_rules
from tests.eval.evaluated import evaluate, score_predictions

SYSTEMS = ("first-mention", "nearest-mention", "random")
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def report(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    split = read_split(str(sample), "double")
    for name in SYSTEMS:
        evaluate(split, SystemSettings(name, name), out / "runs")
    places: dict[str, Any] = {"datasets": [str(sample)], "include_text": True}
    write_report(out / "runs", out / "report.html", **places)
    return out / "report.html"


@pytest.fixture
def page(cleared: Any, report: Path) -> Iterator[Any]:
    problems: list[str] = []
    listeners: dict[str, Callable[[Any], None]] = {
        "pageerror": lambda error: problems.append(str(error)),
        "console": lambda said: problems.append(said.text),
    }
    for event, listener in listeners.items():
        cleared.on(event, listener)
    cleared.goto(report.as_uri())
    yield cleared
    for event, listener in listeners.items():
        cleared.remove_listener(event, listener)
    assert problems == []


def show(page: Any, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")


def systems_of(page: Any, title: str) -> list[str]:
    table = page.locator("table", has=page.locator("caption", has_text=title)).first
    return table.locator("tbody tr:not([hidden]) th").all_text_contents()


def test_every_number_is_that_of_score(page: Any, report: Path, sample: Path) -> None:
    split = read_split(str(sample), "double")
    folders = {name: report.parent / "runs" / f"sample.double.test.{name}" for name in SYSTEMS}
    # what `score --json` prints
    scores = {
        name: Scores(json.loads(json.dumps(score_predictions(split, folder).content)))
        for name, folder in folders.items()
    }
    marks = page.evaluate(
        "[...document.querySelectorAll('[data-path]')].map(mark => [mark.closest('[data-system]')"
        ".dataset.system, mark.dataset.path, mark.dataset.value, mark.textContent])"
    )
    # first six measures, answered, consistency and the worst set; then three cases, four sets,
    # their twelve forms, accuracy and two consistencies
    assert len(marks) == len(SYSTEMS) * (9 + 22)
    for system, path, value, hint in marks:
        found: Any = scores[system]
        for key in json.loads(path):
            found = found[key]
        assert float(value) == found
        assert f": {percent(found)}" in hint
    task = task_of("sample")
    ordered = best_first(task.headline_in(scores.values()), scores)
    assert [*ordered] != [*SYSTEMS], "tables and charts have the best system first, not names"
    for table in task.comparison_tables(ordered):
        caption = page.get_by_text(table.title, exact=True)
        shown = page.locator("table", has=caption).first.locator("tr")
        cells = [row.locator("th, td").all_text_contents() for row in shown.all()]
        assert cells == [list(table.columns), *map(list, table.rows)]


def test_a_click_on_a_heading_sorts(page: Any) -> None:
    heading = page.locator("table").first.locator("th", has_text=re.compile("sample double$"))
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    column = "tbody tr td:nth-child(2)"
    shown = page.locator("table").first.locator(column).all_text_contents()
    values = [float(cell.split()[0].rstrip("↓‡")) for cell in shown]
    assert values == sorted(values, reverse=True)
    heading.locator("button").click()
    shown = page.locator("table").first.locator(column).all_text_contents()
    values = [float(cell.split()[0].rstrip("↓‡")) for cell in shown]
    assert values == sorted(values)
    assert "ascending" in page.locator("#said").text_content()


def test_signs_count_when_differences_are_sorted(page: Any) -> None:
    folded = page.locator("details", has_text="Numbers: Paired tests").first
    folded.locator("summary").first.click()
    column = folded.locator("thead th").all_text_contents().index("Difference") + 1
    folded.locator(f"thead th:nth-child({column}) button").click()
    cells = folded.locator(f"tbody tr td:nth-child({column})").all_text_contents()
    assert {cell[0] for cell in cells} >= {"+", "-"}
    values = [float(cell.split()[0]) for cell in cells if cell != "–"]
    assert values == sorted(values, reverse=True)


def test_a_hidden_system_leaves_tables_and_charts(page: Any) -> None:
    chart = page.locator(".panels svg").first
    tall = chart.bounding_box()["height"]
    page.locator(".systems summary").click()
    page.get_by_role("checkbox", name="random", exact=True).uncheck()
    assert systems_of(page, "At a glance") == ["first-mention", "nearest-mention"]
    assert page.locator('g.row[data-system="random"]:visible').count() == 0
    assert chart.bounding_box()["height"] < tall
    page.get_by_role("checkbox", name="random", exact=True).check()
    assert chart.bounding_box()["height"] == pytest.approx(tall)


def test_a_hidden_system_leaves_the_rows_and_columns_of_the_tests(page: Any) -> None:
    heads = ".panels svg[data-side] g.heads g.col:visible"
    maps = page.locator(".panels svg[data-side]").count()
    assert maps == 6
    assert page.locator(heads).count() == maps * len(SYSTEMS)
    last = page.locator(heads).nth(2).bounding_box()["x"]
    page.locator(".systems summary").click()
    page.get_by_role("checkbox", name="nearest-mention", exact=True).uncheck()
    assert page.locator(heads).count() == maps * (len(SYSTEMS) - 1)
    cells = page.locator(".panels svg[data-side] g.row:visible g.col:visible")
    assert cells.count() == maps * (len(SYSTEMS) - 1) ** 2
    moved = page.locator(heads).nth(1).bounding_box()["x"]
    assert moved < last


def test_theme_follows_the_system_and_the_button(page: Any) -> None:
    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    show(page, "dark")
    dark = ground()
    assert dark != light
    page.locator("#theme").click()
    assert ground() == light
    page.reload()
    assert ground() == light


def test_everything_can_be_done_with_keys(page: Any) -> None:
    def press_until(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement.matches({selector!r})"):
                return
        raise AssertionError(f"{selector} is not reached")

    press_until("a.skip")
    press_until(".systems summary")
    page.keyboard.press("Enter")
    press_until(".systems input")
    page.keyboard.press("Space")
    assert systems_of(page, "At a glance") == ["first-mention", "nearest-mention"]
    page.keyboard.press("Escape")
    assert page.locator(".systems[open]").count() == 0
    press_until("#theme")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    press_until("thead button")
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort]").count() == 1
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, scheme: str) -> None:
    show(page, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert broken_rules(page, scheme) == []


CONTRASTS = """() => {
  const svg = document.querySelector(".panels svg.chart");
  const light = (colour) => colour.match(/[0-9]+/g).slice(0, 3).map((part) => part / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, place) => sum + x * [0.2126, 0.7152, 0.0722][place], 0.05);
  return [0, 1, 2, 3, 4].map((part) => {
    const [bar, number] = ["part", "inside"].map((kind) => {
      const made = svg.appendChild(document.createElementNS(svg.namespaceURI, "rect"));
      made.setAttribute("class", `${kind} p${part}`);
      return light(getComputedStyle(made).fill);
    });
    return Math.max(bar, number) / Math.min(bar, number);
  });
}"""
"""How well the numbers in bars stand out from each part; axe does not look at drawings."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_bars_can_be_read(page: Any, scheme: str) -> None:
    show(page, scheme)
    assert min(page.evaluate(CONTRASTS)) >= 4.5  # WCAG 2.2, AA


def test_links_lead_to_their_dataset_on_a_long_page(page: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.evaluate(
        """() => {
          const heading = document.querySelector("#sample");
          const card = document.querySelector("section[data-rows]");
          for (let i = 0; i < 8; i++) heading.before(card.cloneNode(true));
        }"""
    )
    page.locator("nav a", has_text="sample").click()
    top = "document.querySelector('#sample').getBoundingClientRect().top"
    page.wait_for_function(f"Math.abs({top}) < 100", timeout=5000)


def test_a_phone_scrolls_down_only(page: Any) -> None:
    page.set_viewport_size(PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    charts = page.locator(".panels svg")
    assert charts.count()
    assert all(chart.bounding_box()["width"] <= PHONE["width"] for chart in charts.all())


def test_rows_can_be_searched_and_compared(page: Any, sample: Path) -> None:
    browse = page.locator("details.browse")
    browse.locator("summary").click()
    rows, count = browse.locator("tbody tr:not(.text)"), browse.locator(".count")
    split = read_split(str(sample), "double")
    total = f"of {split.num_rows} rows"
    assert total in count.text_content()
    browse.get_by_label("Answers").select_option("")
    assert count.text_content() == f"{split.num_rows} {total}"
    wanted = split.table["id"].to_pylist()[-1]
    browse.get_by_label("Find").fill(wanted)
    assert rows.first.locator("th").text_content() == wanted
    text = split.table["text"].to_pylist()[-1]
    assert browse.locator("tr.text").first.text_content() == text
    pronoun = split.table["pronoun"].to_pylist()[-1]["text"]
    assert browse.locator("tr.text mark.pronoun").first.text_content() == pronoun
    browse.get_by_label("Find").fill("")
    browse.get_by_label("System A").select_option("first-mention")
    browse.get_by_label("System B").select_option("nearest-mention")
    browse.get_by_label("pronoun set").select_option(label="xe")
    found = {}
    for outcome in ("11", "00", "10", "01"):
        browse.get_by_label("Answers").select_option(outcome)
        found[outcome] = int(count.text_content().split()[0])
    assert sum(found.values()) == split.table["pronoun_set"].to_pylist().count("xe")
    assert found["11"] == 0  # one takes what the other does not, or what precedes the pronoun


def test_another_measure_can_be_chosen(page: Any) -> None:
    first = page.locator("section.first").first
    shown = first.locator("[data-measure]:visible")
    assert shown.count() == 2  # the sentences, and the chart
    assert first.get_by_role("heading", name="Which is better: Accuracy").is_visible()
    first.get_by_label("F1", exact=True).check()
    assert [one.get_attribute("data-measure") for one in shown.all()] == ["f1", "f1"]
    assert first.get_by_role("heading", name="Which is better: F1").is_visible()


@pytest.mark.parametrize("width", [1440, 1024])
def test_charts_are_wide_enough_on_a_desktop(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    charts = page.locator(".multiples svg:visible, .panels svg:visible")
    assert min(chart.bounding_box()["width"] for chart in charts.all()) >= 300


def test_paper_shows_what_is_folded(page: Any) -> None:
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.more:not([open]):not(.browse)").count() == 0
    assert not page.locator(".browse").first.is_visible()
    assert not page.locator(".bar").is_visible()


def test_headings_are_in_no_button_on_paper(page: Any) -> None:
    """Chromium repeats a heading on each sheet, but no button that is in it."""
    buttons = page.locator("thead button")
    before = buttons.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (before > 0, buttons.count()) == (True, 0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert buttons.count() == before
