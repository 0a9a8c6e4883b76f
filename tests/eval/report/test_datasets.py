"""The report on KnowRef's pairs and on WinoNB with names and with someone: hand-made runs."""

import csv
import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pronominal import NONE, Decision
from pronominal.eval.report import write_report
from pronominal.eval.report.overview import overview
from pronominal.eval.report.scored import read_comparisons
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.runs.record import (
    DatasetRecord,
    PredictionsRecord,
    RunRecord,
    SystemRecord,
    Times,
)
from pronominal.eval.runs.units import write_units
from pronominal.eval.scores.knowref import score as knowref
from pronominal.eval.scores.winonb import score as winonb
from pronominal.eval.scores.winonb.answers import SOURCES
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.tables.table import percent

Rows = list[dict[str, Any]]


def pairs(switched: bool) -> Rows:
    """Twelve rows that can all be switched; the first name is right in eight of the originals."""
    return [
        {
            "id": str(number),
            "text": "word " * 12,
            "pronoun": {"text": "she", "start": 1, "end": 2},
            "candidates": [
                {"text": "Ann", "start": 8 if switched else 0, "end": 11 if switched else 3},
                {"text": "Eve", "start": 0 if switched else 8, "end": 3 if switched else 11},
            ],
            "label": int(number >= 8) ^ switched,
            "duplicate_of": None,
        }
        for number in range(12)
    ]


def schemas(names: Mapping[str, str]) -> Rows:
    """Two schemas of each source and number, with each name."""
    kinds = itertools.product(SOURCES, ("singular", "plural"), range(2))
    return [
        {
            "id": f"{number:02}-{name}",
            "text": f"{number} {name} they",
            "pronoun": {"text": "they", "start": 5, "end": 9},
            **{"source": source, "number": kind, "individual": name, "association": association},
        }
        for number, (source, kind, _) in enumerate(kinds)
        for name, association in names.items()
    ]


def write_run(
    out: Path,
    place: tuple[str, str, str],
    label: str,
    scores: Any,
    right: Mapping[str, PairedUnits],
) -> None:
    folder = out / ".".join((*place, label))
    folder.mkdir(parents=True)
    lines = [Prediction(str(number), NONE).line() for number in range(12)]
    (folder / "predictions.jsonl").write_text("".join(lines))
    record = RunRecord(
        dataset=DatasetRecord(*place, "0" * 64, 12),
        system=SystemRecord(label, "choosing"),
        checkpoint=None,
        settings={},
        label=label,
        versions={},
        self_check=(),
        times=Times(""),
        counts={"rows": 12},
        complete=True,
        predictions=PredictionsRecord.of(folder / "predictions.jsonl"),
    )
    (folder / "run.json").write_text(json.dumps(record.to_json()))
    (folder / "score.json").write_text(json.dumps(scores))
    write_units(folder, right)


def knowref_run(out: Path, label: str, answer: Any) -> dict[str, Any]:
    original, switched = pairs(switched=False), pairs(switched=True)
    beside = (pa.Table.from_pylist(switched), [answer(row) for row in switched])
    table, decisions = pa.Table.from_pylist(original), [answer(row) for row in original]
    scores = knowref.score(table, decisions, switched=beside)
    right = knowref.paired_units(table, decisions, switched=beside)
    write_run(out, ("knowref", "original", "test"), label, scores, right)
    return scores


def winonb_run(out: Path, label: str, answer: Any) -> dict[str, Any]:
    personal, generic = schemas({"Bo": "masc", "Kim": "neutral"}), schemas({"someone": "someone"})
    beside = (pa.Table.from_pylist(generic), [answer(row) for row in generic])
    table, decisions = pa.Table.from_pylist(personal), [answer(row) for row in personal]
    scores = winonb.score(table, decisions, generic=beside)
    right = winonb.paired_units(table, decisions, generic=beside)
    write_run(out, ("winonb", "personal", "test"), label, scores, right)
    return scores


def shown(page: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every mark of a page: (system, path in its scores) -> its value."""
    found = {}
    for system, row in re.findall(
        r'<g class="row"[^>]*data-system="([^"]+)"[^>]*>(.*?)</g>(?=<g class="row"|</svg>)',
        page,
        re.DOTALL,
    ):
        for path, value in re.findall(r'data-path="([^"]+)" data-value="([^"]+)"', row):
            found[system, tuple(json.loads(path.replace("&#34;", '"')))] = float(value)
    return found


def at(scores: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        scores = scores[key]
    return scores


def test_knowrefs_pairs_are_shown_and_tested(tmp_path: Path) -> None:
    scores = {
        "gold": knowref_run(tmp_path / "runs", "gold", lambda row: Decision(row["label"])),
        "name": knowref_run(tmp_path / "runs", "name", lambda row: Decision(0)),
        "silent": knowref_run(tmp_path / "runs", "silent", lambda row: NONE),
    }
    write_report(tmp_path / "runs", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    marks = shown(page)
    for path in (("correct",), ("switched", "correct"), ("consistency", "score")):
        for system in scores:
            value = at(scores[system], path)
            # parts that are empty are not drawn
            assert marks.get((system, path), 0) == value
    assert all(at(scores[system], path) == value for (system, path), value in marks.items())
    # gold is right in all pairs, a fixed name in none
    assert "gold alone right: 12, name alone: 0, n = 12; difference +100.0 [" in page


def test_winonbs_names_stand_beside_someone(tmp_path: Path) -> None:
    def mixed(row: dict[str, Any]) -> Decision:
        known = row["individual"] == "someone" or row["source"] == "winogender"
        return Decision(int(row["number"] == "singular" and known))

    scores = {
        "group": winonb_run(tmp_path / "runs", "group", lambda row: Decision(0)),
        "mixed": winonb_run(tmp_path / "runs", "mixed", mixed),
    }
    write_report(tmp_path / "runs", tmp_path / "report.html", csv=tmp_path / "csv")
    page = (tmp_path / "report.html").read_text()
    marks = shown(page)
    generic = ("generic", "by_source", "all", "singular", "accuracy")
    assert {system: marks[system, generic] for system in scores} == {"group": 0, "mixed": 1}
    assert all(at(scores[system], path) == value for (system, path), value in marks.items())
    assert all(name in page for name in ("generic singular", "singular winogender", "Friedman"))
    (file,) = (tmp_path / "csv").glob("*of-they-by-source*.csv")
    cells = file.read_text()
    assert (
        percent(at(scores["mixed"], ("by_source", "winogender", "singular", "accuracy"))) in cells
    )


def test_each_series_of_winonbs_charts_has_the_scores_of_its_heading(tmp_path: Path) -> None:
    def patchy(row: dict[str, Any]) -> Decision:
        """Answer each source, number and association differently often."""
        return Decision(int(sum(map(ord, row["id"] + row["source"])) % 3 == 0))

    scores = winonb_run(tmp_path / "runs", "patchy", patchy)
    write_report(tmp_path / "runs", tmp_path / "report.html", csv=tmp_path / "csv")

    def drawn(kind: str) -> dict[str, str]:
        (file,) = (tmp_path / "csv").glob(f"*of-they-by-{kind}.csv")
        head, row = csv.reader(file.read_text().splitlines())
        return {name: cell.split()[0] for name, cell in zip(head[1:], row[1:], strict=True)}

    found = {
        f"{source}, {series}": percent(block["by_source"][source][number]["accuracy"])
        for source in (*SOURCES, "all")
        for series, number, block in (
            ("singular", "singular", scores),
            ("plural", "plural", scores),
            ("generic singular", "singular", scores["generic"]),
        )
    }
    assert drawn("source") == found
    assert len({*found.values()}) > 4
    assert drawn("association") == {
        f"{name}, {number}": percent(scores["by_association"][name][number]["accuracy"])
        for name in ("masc", "neutral")
        for number in ("singular", "plural")
    }


def test_kinds_without_rows_are_not_drawn(tmp_path: Path) -> None:
    """All of these rows have their names in a known order, a woman's pronoun and few words."""
    scores = knowref_run(tmp_path / "runs", "name", lambda row: Decision(0))
    assert scores["by_right_mention"]["no_order"]["n"] == 0
    write_report(tmp_path / "runs", tmp_path / "report.html", csv=tmp_path / "csv")
    (file,) = (tmp_path / "csv").glob("*kind-of-row.csv")
    head, _ = csv.reader(file.read_text().splitlines())
    named = dict.fromkeys(name.removesuffix(" acc.").rpartition(" ")[2] for name in head[1:])
    assert [*named] == ["feminine", "first", "second", "1-15"]


def test_curves_are_over_the_configs_of_one_split(tmp_path: Path) -> None:
    """Another split of one config is no reason to have none, and never a point of the curve."""
    scores = {"n": 9, "accuracy": 0.5, "sd": None, "none": 0.0, "both": 0.0, "by_seed": {}}
    scores |= {"by_pronoun_set": {}, "by_case": {}}
    for config, split in (("0", "seed_13"), ("1", "seed_13"), ("1", "seed_17")):
        write_run(tmp_path / "runs", ("ruff", f"distractors_{config}", split), "one", scores, {})
    write_report(tmp_path / "runs", tmp_path / "report.html", svg=tmp_path / "svg")
    drawn = [file.name for file in (tmp_path / "svg").glob("*.distractors.*")]
    assert drawn == ["ruff.distractors.seed_13.svg"]
    page = (tmp_path / "report.html").read_text()
    heads = re.findall(r'<th scope="col">(ruff .*?)</th>', page)
    assert heads == [
        "ruff distractors_0",
        "ruff distractors_1 seed_13",
        "ruff distractors_1 seed_17",
    ]


def test_charts_of_two_builds_have_files_of_their_own(tmp_path: Path) -> None:
    for build in "ab":
        knowref_run(tmp_path / "runs" / build, "name", lambda row: Decision(0))
        file = tmp_path / "runs" / build / "knowref.original.test.name" / "run.json"
        run = json.loads(file.read_text())
        file.write_text(json.dumps(run | {"dataset": run["dataset"] | {"digest": build * 64}}))
    write_report(tmp_path / "runs", tmp_path / "report.html", svg=tmp_path / "svg")
    drawn = [file.name for file in (tmp_path / "svg").glob("*.outcomes.*")]
    assert sorted(drawn) == [f"knowref-original-test-{b * 8}.outcomes.svg" for b in "ab"]


def test_a_report_without_a_headline_has_no_note_of_it(tmp_path: Path) -> None:
    scores = {"n": 9, "context_free": {"n": 9}}
    write_run(tmp_path / "runs", ("ruff", "no_context", "test"), "one", scores, {})
    assert overview(read_comparisons([tmp_path / "runs"])).notes == ()


@pytest.mark.parametrize("said", ["n = ", "interval over", "McNemar", "Holm", "Visible from"])
def test_figures_say_how_they_came_about(tmp_path: Path, said: str) -> None:
    for label, answer in (("gold", lambda row: Decision(row["label"])), ("none", lambda row: NONE)):
        knowref_run(tmp_path / "runs", label, answer)
    write_report(tmp_path / "runs", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    notes = re.findall(r'<ul class="notes">(.*?)</ul>', page, re.DOTALL)
    assert any(said in note for note in notes)
