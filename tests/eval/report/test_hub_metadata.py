"""Scores as the model-card metadata that huggingface_hub defines."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData
from huggingface_hub.repocard_data import model_index_to_eval_results

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.report.hub_metadata import eval_results, write_hub_metadata
from pronominal.eval.runs.predictions import PREDICTIONS
from pronominal.eval.runs.record import DatasetRecord, RunRecord, SystemRecord, Times
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.units import SCORE
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Scores
from tests.eval.evaluated import evaluate

RUN = RunRecord(
    dataset=DatasetRecord("x", "c", "test", "d", 2),
    system=SystemRecord("random", "choosing"),
    checkpoint=None,
    settings={"reading": "offsets"},
    label="random",
    versions={},
    self_check=(),
    times=Times(""),
    counts={},
    complete=True,
)


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    for config in ("double", "single"):
        for name in ("first-mention", "random"):
            split = read_split(str(sample), config)
            evaluate(split, SystemSettings(name, name), out)
    return out


def test_every_system_gets_a_card_that_the_client_reads(runs: Path, tmp_path: Path) -> None:
    files = write_hub_metadata(runs, tmp_path / "metadata")
    assert [file.name for file in files] == ["first-mention.yaml", "random.yaml"]
    name, results = model_index_to_eval_results(yaml.safe_load(files[0].read_text())["model-index"])
    assert name == "first-mention"
    assert {(r.dataset_type, r.dataset_config, r.dataset_split) for r in results} == {
        ("sample", "double", "test"),
        ("sample", "single", "test"),
    }
    card = ModelCard(f"---\n{files[0].read_text()}---\n")
    assert isinstance(card.data, ModelCardData)
    assert len(card.data.eval_results) == len(results)


def test_several_folders_are_one_set_of_runs(runs: Path, tmp_path: Path) -> None:
    (whole,) = [f for f in write_hub_metadata(runs, tmp_path / "a") if f.stem == "random"]
    single = [runs / f"sample.{config}.test.random" for config in ("double", "single")]
    (joined,) = write_hub_metadata([*single, single[0]], tmp_path / "b")
    assert joined.read_bytes() == whole.read_bytes()


def test_values_are_those_of_the_scores(runs: Path, tmp_path: Path) -> None:
    file = write_hub_metadata(runs, tmp_path)[0]
    _, results = model_index_to_eval_results(yaml.safe_load(file.read_text())["model-index"])
    values = {r.metric_name: r.metric_value for r in results if r.dataset_config == "double"}
    scores = json.loads((runs / "sample.double.test.first-mention" / SCORE).read_text())
    assert values["Accuracy"] == scores["overall"]["accuracy"]
    assert values["F1, xe"] == scores["by_pronoun_set"]["xe"]["f1"]
    assert values["Pronoun consistency"] == scores["pronoun_consistency"]["score"]


def test_no_text_of_the_dataset_is_in_it(runs: Path, sample: Path, tmp_path: Path) -> None:
    content = "".join(file.read_text() for file in write_hub_metadata(runs, tmp_path))
    rows = read_split(str(sample), "double").table
    leaked = [
        name
        for column in ("text", "occupation", "participant", "id", "template_id")
        for name in rows[column].unique().to_pylist()
        if name in content
    ]
    assert len(leaked) == 0


@pytest.mark.parametrize(
    ("dataset", "scores", "values"),
    [
        ("winopron", {"overall": {"accuracy": 0.5, "f1": None}}, {"Accuracy": 0.5}),
        (
            "knowref",
            {"none": 0.25, "both": 0, "task_specific_accuracy": 1.0, "consistency": {"score": 0.5}},
            {
                "Task-specific accuracy": 1.0,
                "Rows without an answer": 0.25,
                "Rows with both answers": 0,
                "Consistency under switched names": 0.5,
            },
        ),
        (
            "gap",
            {"masculine": {"f1": 0.5}, "feminine": {"f1": 0.25}, "bias": 0.5},
            {"F1, masculine": 0.5, "F1, feminine": 0.25, "F1, feminine divided by masculine": 0.5},
        ),
        (
            "winonb",
            {"by_source": {"all": {"singular": {"accuracy": 0.5}, "plural": {"accuracy": 1.0}}}},
            {"Accuracy on singular they": 0.5, "Accuracy on plural they": 1.0},
        ),
        (
            "ruff",
            {"accuracy": 0.5, "sd": 0.1, "bias": {"by_form": {}}},
            {"Accuracy": 0.5, "Standard deviation of the accuracy over seeds": 0.1},
        ),
    ],
)
def test_every_dataset_gives_its_own_metrics(
    dataset: str, scores: dict[str, object], values: dict[str, float]
) -> None:
    results = eval_results(RUN, Scores(scores), task_of(dataset))
    assert {r.metric_name: r.metric_value for r in results} == values


@pytest.mark.parametrize(
    ("name", "id_"), [("winopron", "uds-lsv/winopron"), ("sample", "sample"), ("x", "x")]
)
def test_only_what_is_published_is_attributed(name: str, id_: str) -> None:
    run = replace(RUN, dataset=replace(RUN.dataset, name=name))
    results = eval_results(run, Scores({"accuracy": 0.5}), task_of("ruff"))
    assert [result.dataset_type for result in results] == [id_]


def test_runs_that_do_not_belong_together_are_refused(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run"):
        write_hub_metadata(tmp_path, tmp_path / "out")
    for number, path in enumerate(sorted(runs.glob("*random"))):
        copy = tmp_path / "runs" / path.name
        copy.mkdir(parents=True)
        run = json.loads((path / "run.json").read_text()) | {"checkpoint": str(number)}
        (copy / "run.json").write_text(json.dumps(run))
        for name in (SCORE, PREDICTIONS):
            shutil.copy(path / name, copy / name)
    with pytest.raises(InputError, match="the runs of random have different checkpoints"):
        write_hub_metadata(tmp_path / "runs", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_client_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r'pip install "pronominal\[hub\]"'):
        eval_results(RUN, Scores({}), task_of("ruff"))


def test_metadata_that_somebody_wrote_is_kept(runs: Path, tmp_path: Path) -> None:
    write_hub_metadata(runs, tmp_path)
    write_hub_metadata(runs, tmp_path)
    own = tmp_path / "random.yaml"
    own.write_text("license: mit\nmodel-index: []\n")
    with pytest.raises(InputError, match="there is a file that no report wrote"):
        write_hub_metadata(runs, tmp_path)
    assert own.read_text().startswith("license: mit")
