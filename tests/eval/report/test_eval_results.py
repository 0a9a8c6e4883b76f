"""Scores as the ``.eval_results`` of a model's repository."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.benchmark import Benchmark
from pronominal.dataset_scripts.hub.model_results import read_results
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.errors import InputError
from pronominal.eval.report.eval_results import SHARE_RIGHT, write_eval_results
from pronominal.eval.runs.record import read_record
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import task_of
from pronominal.eval.scores.ruff.samples import SAMPLES
from pronominal.instances import FillingInstance
from tests.eval.evaluated import evaluate

FIRST = SystemSettings("first-mention", "first-mention")


class Longest:
    """Chooses the form that is longest, whatever was introduced."""

    name = "longest"

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        return [[float(len(option)) for option in one.options] for one in instances]


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    for config in ("double", "single"):
        evaluate(read_split(str(sample), config), FIRST, out)
    evaluate(read_split(str(sample), "double").first(20), FIRST, out)
    return out


def test_each_task_has_its_value_with_interval_and_digests(runs: Path, tmp_path: Path) -> None:
    written = write_eval_results(runs, tmp_path)
    (file,) = written.files
    assert file == tmp_path / "first-mention" / ".eval_results" / "sample.yaml"
    entries = parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert {one.task_id for one in entries} == {"sample_double", "sample_single"}
    for one in entries:
        assert one.dataset_id == "uds-lsv/sample"
        assert isinstance(one.date, str)
        assert datetime.fromisoformat(one.date).tzinfo is not None
        run = read_record(runs / f"sample.{one.task_id.partition('_')[2]}.test.first-mention")
        assert one.notes is not None
        assert one.notes.startswith("choosing; read by offsets; 95% interval 0.")
        assert run.predictions is not None
        assert run.predictions.sha256 in one.notes
        assert run.dataset.digest in one.notes
    double = next(one for one in entries if one.task_id == "sample_double")
    assert double.value == pytest.approx(0.5)  # which entity comes first is balanced


def test_a_run_over_some_rows_is_left_out_and_named(runs: Path, tmp_path: Path) -> None:
    written = write_eval_results(runs, tmp_path)
    assert len(written.left_out) == 1
    assert "sample/double/test.first-20 is no task of a benchmark" in written.left_out[0]
    some = runs / "sample.double.test.first-20.first-mention"
    with pytest.raises(InputError, match="none of the runs is about all rows"):
        write_eval_results(some, tmp_path / "none")


def test_joined_samples_are_one_value_each(own_ruff: str, tmp_path: Path) -> None:
    split = load_split(own_ruff, "distractors_1", SAMPLES)
    asked = SystemSettings("longest", "longest")
    scores = evaluate(split, asked, tmp_path / "runs", system=Longest())
    (file,) = write_eval_results(tmp_path / "runs", tmp_path / "out").files
    entries = parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert {one.task_id: one.value for one in entries} == {
        f"ruff_distractors_1_seed_{seed}": block["accuracy"]
        for seed, block in scores["by_seed"].items()
    }


def test_what_is_written_is_what_publish_takes(runs: Path, tmp_path: Path) -> None:
    (file,) = write_eval_results(runs, tmp_path).files
    given = read_results(file.parent.parent)
    assert {*given.files} == {".eval_results/sample.yaml"}
    assert {task for _, task in given.results} == {"sample_double", "sample_single"}


@pytest.mark.parametrize("dataset", [name for name in DATASETS if Benchmark.of(name)])
def test_every_benchmark_has_a_value(dataset: str) -> None:
    assert any(measure.key in SHARE_RIGHT for measure in task_of(dataset).measures)


def test_another_file_is_not_replaced(runs: Path, tmp_path: Path) -> None:
    (file,) = write_eval_results(runs, tmp_path).files
    write_eval_results(runs, tmp_path)
    file.write_text("- mine\n")
    with pytest.raises(InputError):
        write_eval_results(runs, tmp_path)
    assert file.read_text() == "- mine\n"
