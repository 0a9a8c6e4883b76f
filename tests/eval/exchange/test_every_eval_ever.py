"""Scores in the schema that several evaluation programs share."""

import json
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.eval.exchange.every_eval_ever import export_results
from pronominal.eval.exchange.logs.importing import import_log
from pronominal.eval.runs.runner import SystemSettings
from tests.conftest import ROOT
from tests.eval.evaluated import evaluate

DETAILS = {"deployment_type", "model_availability"}
DEPLOYED = {"self_deployed", "externally_managed", "unknown"}


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    split = load_split(str(sample), "double")
    evaluate(split, SystemSettings("first-mention", "first-mention"), out)
    log = ROOT / "tests" / "cases" / "logs" / "inspect_limit.eval"
    import_log(split, "inspect", log, out, system="mock")
    return out


def records(runs: Path, out: Path) -> dict[str, dict[str, Any]]:
    written = [json.loads(file.read_text()) for file in export_results(runs, out)]
    return {one["model_info"]["name"]: one for one in written}


def test_a_record_has_what_the_schema_requires(runs: Path, tmp_path: Path) -> None:
    made = records(runs, tmp_path)
    assert {*made} == {"first-mention", "mock"}
    for one in made.values():
        assert one["schema_version"] == "0.3.0"
        assert one["retrieved_timestamp"].isdigit()
        details = one["model_info"]["additional_details"]
        assert details.keys() >= DETAILS
        assert details["deployment_type"] in DEPLOYED
        assert all(isinstance(value, str) for value in details.values())
        assert one["evaluation_results"]
        for result in one["evaluation_results"]:
            assert {"evaluation_name", "source_data", "metric_config"} <= result.keys()
            assert isinstance(result["score_details"]["score"], float)
            assert 0 <= result["score_details"]["score"] <= 1
            assert isinstance(result["metric_config"]["lower_is_better"], bool)


def test_figures_are_those_of_the_scores_with_their_intervals(runs: Path, tmp_path: Path) -> None:
    record = records(runs, tmp_path)["first-mention"]
    scores = json.loads((runs / "sample.double.test.first-mention" / "score.json").read_text())
    results = {one["metric_config"]["metric_id"]: one for one in record["evaluation_results"]}
    told = results["accuracy"]["score_details"]
    assert told["score"] == scores["overall"]["accuracy"]
    interval = told["uncertainty"]["confidence_interval"]
    assert [interval["lower"], interval["upper"]] == scores["overall"]["interval"]["accuracy"]
    assert results["accuracy"]["source_data"]["hf_repo"] == "uds-lsv/sample"


def test_an_imported_run_names_the_program_that_asked(runs: Path, tmp_path: Path) -> None:
    library = records(runs, tmp_path)["mock"]["eval_library"]
    assert (library["name"], library["version"]) == ("inspect_ai", "0.3.285")


def test_neither_ids_nor_texts_are_in_a_record(runs: Path, sample: Path, tmp_path: Path) -> None:
    export_results(runs, tmp_path)
    written = "".join(file.read_text() for file in tmp_path.rglob("*.json"))
    for instance in load_split(str(sample), "double"):
        assert instance.id not in written
        assert instance.text not in written


def test_the_same_runs_give_the_same_files(runs: Path, tmp_path: Path) -> None:
    first = {file: file.read_bytes() for file in export_results(runs, tmp_path)}
    assert {file: file.read_bytes() for file in export_results(runs, tmp_path)} == first
    command = ["export", "every-eval-ever", str(tmp_path), "--predictions", str(runs)]
    app(command, standalone_mode=False)
    assert set(tmp_path.rglob("*.json")) == {*first}


def test_a_file_of_something_else_is_not_replaced(runs: Path, tmp_path: Path) -> None:
    (file, *_) = export_results(runs, tmp_path)
    file.write_text('{"mine": 1}')
    with pytest.raises(InputError, match="there is a file of something else"):
        export_results(runs, tmp_path)


def test_it_needs_runs_and_takes_no_rows(sample: Path, tmp_path: Path) -> None:
    command = ["export", "every-eval-ever", str(tmp_path / "out")]
    with pytest.raises(InputError, match="add --predictions RUNS"):
        app(command, standalone_mode=False)
    with pytest.raises(InputError, match="takes no --dataset"):
        app([*command, "--dataset", str(sample)], standalone_mode=False)
    with pytest.raises(InputError, match="there is no run"):
        export_results(tmp_path, tmp_path / "out")
