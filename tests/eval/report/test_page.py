"""What a reader of the report relies on: its numbers, its files, and that no sentence leaks."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.report import write_report
from pronominal.eval.report.charts.drawings import Drawer
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.units import UNITS
from pronominal.eval.scores.winopron.bias_tables import bias_map
from tests.cli.test_main import pronominal
from tests.eval.evaluated import evaluate

SYSTEMS = ("first-mention", "nearest-mention", "parallelism", "random")


class Skewed:
    """Right everywhere, but resolves *she* to the occupation and does not know *xe*."""

    name = "skewed"

    def __init__(self, answers: dict[str, tuple[int, str]]) -> None:
        self._answers = answers

    def choose(self, instances: Sequence[Any]) -> list[list[float]]:
        return [self._answer(instance.id) for instance in instances]

    def _answer(self, name: str) -> list[float]:
        label, pronoun_set = self._answers[name]
        if pronoun_set == "xe":
            return [0.5, 0.5]
        choice = 0 if pronoun_set == "she" else label
        return [float(choice == 0), float(choice == 1)]


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    split = read_split(str(sample), "double")
    for name in SYSTEMS:
        evaluate(split, SystemSettings(name, name), out)
    columns = (split.table[name].to_pylist() for name in ("id", "label", "pronoun_set"))
    answers = {name: (label, pronoun) for name, label, pronoun in zip(*columns, strict=True)}
    evaluate(split, SystemSettings("skewed", "skewed"), out, system=Skewed(answers))
    return out


def scores_of(sample: Path, runs: Path, label: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "pronominal", "score", "sample", "--json"]
    command += ["--dataset", sample, "--config", "double"]
    command += ["--predictions", runs / f"sample.double.test.{label}"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_page_is_whole_and_holds_no_sentence(sample: Path, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done: list[tuple[int, int]] = []
    number = write_report(
        runs, out, datasets=[str(sample)], progress=lambda *told: done.append(told)
    )
    assert (number, done) == (len(SYSTEMS) + 1, [(0, 1)])
    page = out.read_text()
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert not re.search(r"@import|url\(", page)
    split = read_split(str(sample), "double")
    assert sum(text in page for text in split.table["text"].to_pylist()) == 0
    assert "no evaluation text, but ids of rows" in page


def test_text_is_shown_to_those_who_ask(sample: Path, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    write_report(runs, out, datasets=[str(sample)], include_text=True)
    page = out.read_text()
    texts = read_split(str(sample), "double").table["text"].to_pylist()
    assert all(text in page for text in texts)
    assert "This page holds evaluation text" in page


def test_tables_and_charts_come_as_files(sample: Path, runs: Path, tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("markdown", "latex", "csv", "svg")}
    write_report(runs, tmp_path / "report.html", datasets=[str(sample)], **places)
    titles = re.findall(r"^\*\*(.+)\*\*$", places["markdown"].read_text(), re.MULTILINE)
    tables = sorted(places["csv"].iterdir())
    assert len(titles) == len(tables) == places["latex"].read_text().count(r"\toprule")
    assert places["latex"].read_text().isascii()
    assert len({len(row) for row in csv.reader(tables[0].open())}) == 1
    charts = {file.name: file.read_text() for file in places["svg"].iterdir()}
    assert all(chart.startswith("<svg") and "<style>" in chart for chart in charts.values())
    by_both = charts["sample-double-test.accuracy-by-case-and-pronoun-set.svg"]
    assert all(f">{name}<" in by_both for name in ("nominative", "possessive", "he", "xe"))
    assert 'width="16cm"' in by_both


@pytest.mark.parametrize("option", ["csv", "svg"])
def test_a_folder_with_other_files_is_not_replaced(runs: Path, tmp_path: Path, option: str) -> None:
    alone, page = runs / "sample.double.test.random", tmp_path / "report.html"
    places: dict[str, Any] = {option: tmp_path / "out"}
    for _ in range(2):  # what a report wrote itself is replaced
        write_report(alone, page, **places)
    page.unlink()
    (tmp_path / "out" / f"thesis.{option}").write_text("years of work")
    with pytest.raises(InputError, match=r"thesis\."):
        write_report(alone, page, **places)
    with pytest.raises(InputError, match="it is a file"):
        write_report(alone, page, **{option: tmp_path / "out" / f"thesis.{option}"})
    assert (tmp_path / "out" / f"thesis.{option}").read_text() == "years of work"
    assert not page.exists()


def test_a_margin_asks_for_equivalence_on_the_page(runs: Path, tmp_path: Path) -> None:
    for margin, asked in ((None, False), (0.03, True)):
        write_report(runs, tmp_path / "report.html", margin=margin)
        page = (tmp_path / "report.html").read_text()
        assert ("Within ±3" in page) == asked
    assert "Ranks" in page


@pytest.mark.parametrize("margin", [5, 0, True, float("nan"), "x"])
def test_what_is_no_margin_is_refused(runs: Path, tmp_path: Path, margin: Any) -> None:
    with pytest.raises(InputError, match=r"give a share between 0 and 1, as 0\.05 for five points"):
        write_report(runs, tmp_path / "report.html", margin=margin)


@pytest.mark.parametrize("place", [".", "", "/"])
def test_a_page_is_no_folder(runs: Path, place: str) -> None:
    with pytest.raises(InputError, match=r"this is a folder; add a name, such as report\.html"):
        write_report(runs, Path(place))


def test_systems_are_tested_without_the_dataset(runs: Path, sample: Path, tmp_path: Path) -> None:
    csvs = {}
    for name, datasets in (("with", [str(sample)]), ("without", [])):
        write_report(runs, tmp_path / "report.html", datasets=datasets, csv=tmp_path / name)
        (file,) = (tmp_path / name).glob("*paired-tests*.csv")
        csvs[name] = [*csv.reader(file.open())]
    assert csvs["with"] == csvs["without"]
    measures, pairs = 6, len(SYSTEMS) * (len(SYSTEMS) + 1) // 2
    assert len(csvs["with"]) == 1 + measures * pairs


def test_runs_without_units_are_tested_with_the_dataset(
    runs: Path, sample: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    for file in (tmp_path / "runs").glob(f"*/{UNITS}"):
        file.unlink()
    found = {}
    for name, datasets in (("with", [str(sample)]), ("without", [])):
        write_report(tmp_path / "runs", tmp_path / "report.html", datasets=datasets)
        found[name] = "Paired tests between systems" in (tmp_path / "report.html").read_text()
    assert found == {"with": True, "without": False}
    (tmp_path / "runs/sample.double.test.random" / UNITS).write_bytes(b"PK")
    with pytest.raises(InputError, match="damaged"):
        write_report(tmp_path / "runs", tmp_path / "report.html")


def test_a_dataset_of_other_rows_is_refused(runs: Path, tmp_path: Path) -> None:
    write_dataset(dataset_script("sample"), Sources(), BuildOptions(), tmp_path)
    file = tmp_path / "sample/double/test.parquet"
    rows = pq.read_table(file)
    pq.write_table(rows.slice(1), file)
    (tmp_path / "sample/single/test.parquet").unlink()
    with pytest.raises(InputError) as refused:
        write_report(runs, tmp_path / "report.html", datasets=[str(tmp_path / "sample")])
    run = json.loads((runs / "sample.double.test.random/run.json").read_text())
    given = read_split(str(tmp_path / "sample"), "double").digest
    assert run["dataset"]["digest"][:12] in str(refused.value)
    assert given[:12] in str(refused.value)
    assert not (tmp_path / "report.html").exists()


def test_a_dataset_whose_default_config_has_another_split(sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample, folder)
    (folder / "double" / "test.parquet").rename(folder / "double" / "train.parquet")
    split = read_split(str(folder), "double", "train")
    evaluate(split, SystemSettings("random", "random"), tmp_path / "runs")
    write_report(tmp_path / "runs", tmp_path / "report.html", datasets=[str(folder)])
    assert "sample / double / train" in (tmp_path / "report.html").read_text()
    with pytest.raises(InputError, match="there is no such folder"):
        write_report(tmp_path / "runs", tmp_path / "report.html", datasets=[str(tmp_path / "no")])


def test_two_runs_of_one_name_are_refused(runs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "other" / "sample.double.test.random"
    copy.mkdir(parents=True)
    for file in (runs / "sample.double.test.random").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError, match="both called random"):
        write_report([runs, tmp_path / "other"], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"n": 3}'])
def test_damaged_scores_are_named(runs: Path, tmp_path: Path, content: str) -> None:
    copy = tmp_path / "runs" / "run"
    copy.mkdir(parents=True)
    for name in ("run.json", "predictions.jsonl"):
        (copy / name).write_bytes((runs / "sample.double.test.random" / name).read_bytes())
    (copy / "score.json").write_text(content)
    with pytest.raises(InputError, match="pronominal evaluate"):
        write_report(tmp_path / "runs", tmp_path / "report.html")


def test_bias_map_shows_the_planted_bias(sample: Path, runs: Path) -> None:
    scores = {name: scores_of(sample, runs, name) for name in ("skewed", "random")}
    (drawing,) = Drawer(scores, "pairs").drawings(*bias_map(scores))
    rows = [row for row in drawing.table.rows if row[0] == "skewed"]
    biased = {row[1] for row in rows if row[4] != "–"}
    assert biased == {f"{case}/she" for case in ("nominative", "accusative", "possessive")}
    assert all(row[5] == "–" for row in rows)
    panels = {panel.systems: panel.drawn for panel in drawing.panels}
    positive = sum(len(form["positive"]) for form in scores["skewed"]["bias"]["by_form"].values())
    assert panels[("skewed",)].count('class="col positive"') == positive


def test_a_sample_without_a_whole_template_pair_has_no_bias_map() -> None:
    cut = {"bias": {"by_form": {}, "between_cases": {}}}
    assert list(bias_map({"human": cut})) == []


@pytest.mark.parametrize("option", ["--out", "--markdown", "--latex"])
def test_only_an_earlier_report_is_replaced(runs: Path, tmp_path: Path, option: str) -> None:
    file, page = tmp_path / "file", tmp_path / "page.html"
    to_page = () if option == "--out" else ("--out", page)
    arguments = ("report", runs, *to_page, option, file)
    assert pronominal(*arguments).returncode == 0
    assert pronominal(*arguments).returncode == 0
    file.write_text("mine")
    page.unlink(missing_ok=True)
    refused = pronominal(*arguments)
    assert (refused.returncode, file.read_text()) == (2, "mine")
    assert f"{file}: there is a file that no report wrote" in refused.stderr
    assert not page.exists()
