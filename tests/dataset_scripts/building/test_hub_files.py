"""``eval.yaml`` and ``croissant.json``: what a built folder tells other programs, without rows."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.benchmark import Benchmark, task_id
from pronominal.dataset_scripts.building.card import card_header
from pronominal.dataset_scripts.building.croissant import SECTIONS


@pytest.fixture(scope="module")
def croissant(sample: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((sample / "croissant.json").read_text())
    return content


def tasks(folder: Path) -> list[dict[str, Any]]:
    content = yaml.safe_load((folder / "eval.yaml").read_text())
    assert content["evaluation_framework"] == "inspect-ai"
    found: list[dict[str, Any]] = content["tasks"]
    return found


def test_each_task_asks_about_columns_that_there_are(sample: Path) -> None:
    assert [task["id"] for task in tasks(sample)] == ["sample_double", "sample_single"]
    for task in tasks(sample):
        table = pq.read_table(sample / task["config"] / f"{task['split']}.parquet")
        asked = task["field_spec"]
        columns = [asked["input"], asked["target"], *asked["choices"], *asked["metadata"]]
        assert {*columns} <= {*table.column_names}
        answers = zip(*(table[name].to_pylist() for name in asked["choices"]), strict=True)
        candidates = [[one["text"] for one in row] for row in table["candidates"].to_pylist()]
        assert [[*row] for row in answers] == candidates


def test_ruff_has_a_task_for_each_of_the_papers_samples(own_ruff: str) -> None:
    found = tasks(Path(own_ruff))
    seeds = [f"ruff_distractors_{n}_seed_{s}" for n in range(6) for s in (13, 17, 19)]
    assert sorted(task["id"] for task in found) == sorted(seeds)
    assert all(task["field_spec"]["choices"] == "options" for task in found)


def test_tasks_have_no_field_that_inspect_refuses(sample: Path) -> None:
    known = {"id", "config", "split", "field_spec", "solvers", "scorers"}
    fields = {"input", "target", "choices", "metadata"}
    for task in tasks(sample):
        assert task.keys() == known
        assert task["field_spec"].keys() == fields


@pytest.mark.parametrize("name", DATASETS)
def test_a_benchmark_is_declared_in_full_and_kept_out_of_the_header(name: str) -> None:
    benchmark = Benchmark.of(name)
    assert (benchmark is None) == ("benchmark" not in card_header(name))
    if benchmark is not None:
        assert "{prompt}" in benchmark.question
        assert benchmark.description


@pytest.mark.parametrize(
    ("name", "numbered"),
    [("knowref", "0) Ada\n1) Bea\n\n"), ("gap", "0) Ada\n1) Bea\n2) neither"), ("winonb", "")],
)
def test_a_question_points_to_the_pronoun_where_its_word_occurs_twice(
    name: str, numbered: str
) -> None:
    benchmark = Benchmark.of(name)
    assert benchmark is not None
    text = "When she sang, Ada saw that she had moved Bea."
    asked = benchmark.question.format(
        prompt=text,
        pronoun={"text": "she", "start": 28, "end": 31},
        candidates=[{"text": "Ada"}, {"text": "Bea"}],
    )
    assert asked.startswith(f'{text}\n\nWho does the "she" refer to')
    assert "\n\nWhen she sang, Ada saw that she" in asked.removeprefix(text)
    assert numbered in asked
    field_spec = benchmark.task(name, "original", "test")["field_spec"]
    assert ("choices" in field_spec) == (numbered == "")  # or the question has them


def test_the_card_has_no_benchmark_but_task_ids(sample: Path) -> None:
    header = yaml.safe_load((sample / "README.md").read_text().split("---\n")[1])
    assert "benchmark" not in header
    assert header["task_ids"] == ["coreference-resolution"]


def test_a_test_split_is_called_by_its_config() -> None:
    assert task_id("winopron", "double", "test") == "winopron_double"
    assert task_id("ruff", "distractors_0", "seed_13") == "ruff_distractors_0_seed_13"


def test_croissant_names_every_table_with_its_digest(
    sample: Path, croissant: dict[str, Any]
) -> None:
    described = {one["contentUrl"]: one["sha256"] for one in croissant["distribution"]}
    tables = {
        path.relative_to(sample).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sample.glob("*/*.parquet")
    }
    assert described == tables


def test_croissant_names_every_column(sample: Path, croissant: dict[str, Any]) -> None:
    for records in croissant["recordSet"]:
        table = pq.read_schema(sample / f"{records['name']}.parquet")
        assert [field["name"] for field in records["field"]] == table.names
    (pronoun,) = [one for one in records["field"] if one["name"] == "pronoun"]
    assert [one["name"] for one in pronoun["subField"]] == ["text", "start", "end"]
    assert pronoun["subField"][1]["source"] == {
        "fileObject": {"@id": "single/test.parquet"},
        "extract": {"column": "pronoun"},
        "transform": {"jsonPath": "start"},
    }


def test_croissant_says_what_the_neurips_track_asks_for(croissant: dict[str, Any]) -> None:
    told = {*SECTIONS, "rai:dataUseCases", "rai:hasSyntheticData", "prov:wasGeneratedBy"}
    assert told - {"rai:dataLimitations"} <= croissant.keys()  # the sample has none
    assert all(croissant[key] != "" for key in told if key in croissant)


def test_neither_file_holds_a_sentence(sample: Path) -> None:
    written = (sample / "eval.yaml").read_text() + (sample / "croissant.json").read_text()
    for table in sample.glob("*/*.parquet"):
        assert not [text for text in pq.read_table(table)["text"].to_pylist() if text in written]


@pytest.mark.parametrize("name", ["winopron", "knowref", "winonb", "gap", "winogender", "ruff"])
def test_every_card_has_what_croissant_takes_from_it(name: str) -> None:
    from importlib.resources import files

    page = files("pronominal.cards").joinpath(f"{name}.md").read_text(encoding="utf-8")
    for title in SECTIONS.values():
        assert f"\n## {title}\n" in page
    assert "```bibtex" in page
