"""A leaderboard ranks what is comparable, names what is not, and publishes no id."""

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.leaderboard import write_leaderboard
from pronominal.eval.leaderboard.boards import leaderboards
from pronominal.eval.leaderboard.published import published
from pronominal.eval.leaderboard.records import OF_PAPERS
from pronominal.eval.leaderboard.submissions import read_submissions
from pronominal.eval.report.charts.svg import palette
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.statistics.paired_tests import paired_tests
from pronominal.eval.statistics.ranks import rank, ranks_by_t
from pronominal.opaque_ids import OPAQUE_ID
from tests.cli.test_main import pronominal
from tests.eval.evaluated import evaluate, evaluate_several
from tests.eval.unexplained import html_tables, of_table

SYSTEMS = ("toy-nine-in-ten", "toy-blind-to-xe", "first-mention", "random")


@pytest.fixture(scope="module")
def evaluated(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("submitted")
    split = read_split(sample, "double")
    evaluate_several(split, [SystemSettings(name, name) for name in SYSTEMS], out)
    evaluate(split.first(48), SystemSettings("short", "random"), out)
    evaluate(split, SystemSettings("other-rule", "random"), out, reading="upstream")
    stopped = Path(shutil.copytree(out / "sample.double.test.random", out / "stopped"))
    lines = (stopped / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    (stopped / "predictions.jsonl").write_bytes(b"".join(lines[:300]))
    record = json.loads((stopped / "run.json").read_text())
    (stopped / "run.json").write_text(json.dumps(record | {"label": "stopped"}))
    return out


@pytest.fixture(scope="module")
def site(evaluated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaderboard")
    write_leaderboard([evaluated], folder / "site", key=folder / "ids.key")
    return folder / "site"


def entries(site: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (site / "leaderboard.jsonl").read_text().splitlines()]


def test_places_are_those_of_the_report(evaluated: Path, sample: Path, site: Path) -> None:
    split = read_split(sample, "double")
    asked = [SystemSettings(name, name) for name in SYSTEMS]
    scores = evaluate_several(split, asked, evaluated)
    runs = [one for one in entries(site) if one["kind"] == "run"]
    assert {one["label"] for one in runs} == {*SYSTEMS}
    for one in runs:
        assert one["place"] == scores[one["label"]]["ranks"]["accuracy"]
        expected = scores[one["label"]]["overall"]
        figure = {"value": expected["accuracy"], "interval": expected["interval"]["accuracy"]}
        assert one["figures"]["accuracy"] == figure
    page = (site / "datasets" / "sample.html").read_text()
    lead = r"toy-nine-in-ten is better than every other run, beyond chance: Accuracy 88\.0 "
    assert re.search(rf"{lead}\S+ \S+ 13\.0 points \[\S+ \S+\] more than toy-blind-to-xe\.", page)
    assert "pronoun set xe: 0.0↓" in page


def test_no_figure_stands_without_its_interval_or_the_reason(site: Path) -> None:
    for one in entries(site):
        for name, block in one["figures"].items():
            assert block["interval"] or block["interval_missing"], (one["label"], name)
    of_papers = (
        "Published figures are those of the papers, and were not rerun; they have no interval"
    )
    for file in site.rglob("*.html"):
        page = file.read_text()
        assert of_papers in page
        for table in html_tables(page):
            ours = tuple(row for row in table.rows if "published, not rerun" not in row[0])
            if table.columns != ("Measure", "Published"):
                assert [*of_table(replace(table, rows=ours))] == []


def test_what_cannot_be_compared_is_named_and_not_ranked(evaluated: Path) -> None:
    boards = leaderboards(*read_submissions([evaluated]), papers=False)
    assert {one.label: one.why for one in boards["sample"].unranked} == {
        "short": "only 48 of the rows",
        "other-rule": "another decision rule, upstream; the board's is offsets",
        "stopped": "not finished: 300 of 576 rows",
    }


def test_rows_of_another_build_are_on_no_board_with_these(
    evaluated: Path, sample: Path, tmp_path: Path
) -> None:
    runs = Path(shutil.copytree(evaluated, tmp_path / "runs"))
    for name in SYSTEMS[1:]:
        file = runs / f"sample.double.test.{name}" / "run.json"
        record = json.loads(file.read_text())
        record["dataset"]["digest"] = "f" * 64
        file.write_text(json.dumps(record))
    # most runs say which rows count, unless somebody has the dataset
    for datasets, ranked in (((), SYSTEMS[1:]), ((str(sample),), SYSTEMS[:1])):
        board = leaderboards(*read_submissions([runs]), datasets=datasets, papers=False)["sample"]
        assert {one.entry.label for one in board.boards[0].ranked} == {*ranked}
        apart = {one.label for one in board.unranked if one.why.startswith("other rows")}
        assert apart >= {*SYSTEMS} - {*ranked}


def test_the_papers_are_its_first_rows(tmp_path: Path) -> None:
    empty = tmp_path / "submissions"
    empty.mkdir()
    count = write_leaderboard([empty], tmp_path / "site")
    found = entries(tmp_path / "site")
    assert count == len(found) == sum(map(len, published().values())) == 69
    assert {one["kind"] for one in found} == {"published"}
    lingmess = next(
        one for one in found if one["label"] == "lingmess" and one["config"] == "double"
    )
    assert lingmess["tables"][0] == "Table 2"
    assert lingmess["figures"]["f1"] == {
        "value": pytest.approx(0.644),
        "interval": None,
        "interval_missing": OF_PAPERS,
    }
    page = (tmp_path / "site" / "datasets" / "winopron.html").read_text()
    assert page.count("published, not rerun") == 18
    assert "Winogender 2.0" not in page  # the paper has a later version


def test_nothing_published_holds_an_id_or_a_sentence(site: Path, sample: Path) -> None:
    table = read_split(sample, "double").table
    content = "\n".join(file.read_text() for file in site.rglob("*") if file.is_file())
    assert not [name for name in table["id"].to_pylist() if name in content]
    assert not [text for text in table["text"].to_pylist() if text in content]
    assert str(site.parent) not in content


def test_answers_to_rows_are_resolved_by_whoever_has_the_key(site: Path, sample: Path) -> None:
    file = site / "rows" / "sample.double.test.random.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    names = [line["id"] for line in lines]
    assert all(map(OPAQUE_ID.fullmatch, names))
    assert names == sorted(names)  # the order of the rows would tell which is which
    rows = ("--dataset", sample, "--config", "double")
    resolved = pronominal("ids", "resolve", file, *rows, "--key", site.parent / "ids.key")
    assert resolved.returncode == 0
    given = {one["id"]: one["choice"] for one in map(json.loads, resolved.stdout.splitlines())}
    assert {*given} == {*read_split(sample, "double").table["id"].to_pylist()}
    other = site.parent / "other.key"
    assert pronominal("ids", "key", other).returncode == 0
    refused = pronominal("ids", "resolve", file, *rows, "--key", other)
    assert refused.returncode == 1
    assert "576 ids are of other rows, or were made with another key" in refused.stderr


def test_the_same_runs_give_the_same_bytes(evaluated: Path, site: Path, tmp_path: Path) -> None:
    write_leaderboard([evaluated], tmp_path / "site", key=site.parent / "ids.key")
    for file in site.rglob("*"):
        if file.is_file():
            assert (tmp_path / "site" / file.relative_to(site)).read_bytes() == file.read_bytes()


class Links(HTMLParser):
    """The places that a page leads to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [str(value) for name, value in attrs if name in ("href", "src")]


def test_every_link_leads_to_a_page_of_the_folder(site: Path) -> None:
    for page in site.rglob("*.html"):
        for link in Links(page).found:
            place, _, part = link.partition("#")
            assert ":" not in place or place == "data:,"  # nothing from elsewhere
            target = page if not place else page.parent / place
            assert place == "data:," or target.exists(), (page, link)
            assert not part or f'id="{part}"' in target.read_text()


def test_its_colours_are_those_of_the_report_and_dark_as_the_system_is(site: Path) -> None:
    style = (site / "style.css").read_text()
    colours = re.escape(palette().partition("@media")[0])
    assert re.match(colours, style)
    assert "@media screen and (prefers-color-scheme: dark) { :root {" in style
    assert "data-theme" not in style
    own = {"at", "low", "high", "chance"}  # places, which each row sets
    assert {*re.findall(r"var\(--([\w-]+)", style)} <= {*re.findall(r"--([\w-]+):", style)} | own


def test_a_folder_of_something_else_is_kept(evaluated: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("my own page")
    with pytest.raises(InputError, match=r"it holds index\.html, of no leaderboard"):
        write_leaderboard([evaluated], tmp_path / "site")
    assert (tmp_path / "site" / "index.html").read_text() == "my own page"
    write_leaderboard([evaluated], tmp_path / "new")
    write_leaderboard([], tmp_path / "new")
    (tmp_path / "new" / ".git").mkdir()
    with pytest.raises(InputError, match=r"it holds \.git, of no leaderboard"):
        write_leaderboard([evaluated], tmp_path / "new")


def test_two_runs_of_one_label_are_refused(evaluated: Path, tmp_path: Path) -> None:
    shutil.copytree(evaluated / "sample.double.test.random", tmp_path / "again")
    with pytest.raises(InputError, match="are both called random"):
        write_leaderboard([evaluated, tmp_path], tmp_path / "site")


def test_a_place_on_a_machine_is_not_published(evaluated: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(evaluated / "sample.double.test.random", tmp_path / "run"))
    record = json.loads((run / "run.json").read_text())
    record |= {"checkpoint_name": "/home/ann/models/mine", "checkpoint": "0" * 64}
    record["settings"]["vocabulary"] = "/home/ann/vocab.txt"
    (run / "run.json").write_text(json.dumps(record))
    write_leaderboard([tmp_path], tmp_path / "site")
    page = (tmp_path / "site" / "systems" / "random.html").read_text()
    assert "ann" not in re.findall(r"\w+", page)
    assert "vocabulary = vocab.txt" in page


def units_of(systems: int, n: int = 60) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    draws = np.random.default_rng(1)
    shares = np.linspace(0.2, 0.95, systems)
    return {f"s{i}": draws.binomial(8, share, n) / 8 for i, share in enumerate(shares)}


def test_places_by_t_are_close_to_those_by_signs() -> None:
    units = units_of(12)
    by_t = ranks_by_t(units)
    for label, tests in paired_tests(units).items():
        by_signs = rank([test.to_json() for test in tests.values()])
        assert by_t[label]["rank"] == by_signs["rank"]
        (low, high), (best, worst) = by_t[label]["interval"]["rank"], by_signs["interval"]["rank"]
        assert abs(low - best) <= 1
        assert abs(high - worst) <= 1


def test_places_of_systems_that_are_alike_are_open() -> None:
    same = np.repeat([0.0, 1.0], 30)
    alike = ranks_by_t({"a": same, "b": same, "c": same, "d": 1 - same})
    assert {tuple(one["interval"]["rank"]) for one in alike.values()} == {(1, 4)}
    few = ranks_by_t({"a": np.ones(4), "b": np.zeros(4), "c": np.zeros(4)})
    assert {tuple(one["interval"]["rank"]) for one in few.values()} == {(1, 3)}
    clear = ranks_by_t({"a": np.ones(60), "b": np.zeros(60), "c": np.full(60, 0.5)})
    assert {name: one["interval"]["rank"] for name, one in clear.items()} == {
        "a": [1, 1], "b": [3, 3], "c": [2, 2],
    }  # fmt: skip
