"""Scores of runs in the shared result schema *every eval ever*, version 0.3.0: aggregates only.

Its lines about single samples would hold prompts and ids, which may hold the answer, so none are
written. See https://github.com/evaleval/every_eval_ever.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.script import NAMESPACE
from pronominal.errors import InputError
from pronominal.eval.runs.record import RunRecord, read_record
from pronominal.eval.runs.scored import Run, read_runs
from pronominal.eval.runs.units import SCORE
from pronominal.eval.scores import TASK, task_of_run
from pronominal.eval.statistics.scores import Figure
from pronominal.eval.tables.measure import Measure
from pronominal.eval.task import Task
from pronominal.json_files import read_object, write_json
from pronominal.names import is_hub_id

SCHEMA_VERSION = "0.3.0"
UNKNOWN = "unknown"


def export_results(runs: Path, out: Path, tasks: Sequence[Task] = ()) -> list[Path]:
    """Write ``OUT/DATASET/LABEL/UUID.json`` for every scored run.

    The same run gives the same file.

    Args:
        runs: a folder of runs, or a run.
        out: a folder, made when it does not exist.
        tasks: of a user's own, by which some of the runs were scored.

    Raises:
        InputError: there is no scored run, one is damaged, or a file is there that holds something
            else.
    """
    scored = read_runs(runs)
    if not scored:
        cure = f"'pronominal report {runs}' says how to go on"
        raise InputError("none of its runs has scores", cure=cure, file=runs)
    written = []
    for run in scored:
        record = read_record(run.folder)
        content = _aggregate(run, record, tasks)
        evaluation = content["evaluation_id"]
        name = f"{uuid5(NAMESPACE_URL, evaluation)}.json"
        file = out / record.dataset.name / run.label / name
        cure = "remove it, or choose another folder"
        if file.exists() and read_object(file, cure=cure).get("evaluation_id") != evaluation:
            raise InputError("there is a file of something else", cure=cure, file=file)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, content)
        written.append(file)
    return written


def _aggregate(run: Run, record: RunRecord, own: Sequence[Task]) -> dict[str, Any]:
    task = task_of_run(record.dataset.name, run.scores.get(TASK), own)
    task.refuse_other_scores(run.scores, run.folder / SCORE)
    finished = record.times.finished or record.times.started
    model = _model(record)
    digest = "" if record.predictions is None else record.predictions.sha256
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{record.dataset}/{model['id']}/{digest[:16]}",
        "evaluation_timestamp": finished,
        "retrieved_timestamp": f"{datetime.fromisoformat(finished).timestamp():.0f}",
        "source_metadata": {
            "source_name": "pronominal",
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
        },
        "model_info": model,
        "eval_library": _library(record),
        "evaluation_results": [
            _result(record, task, measure, figure) for measure, figure in _shares(run, task)
        ],
    }


def _model(record: RunRecord) -> dict[str, Any]:
    """Name the model: by its id on the Hub where it has one, never by a path."""
    checkpoint = record.checkpoint_name or ""
    on_hub = is_hub_id(checkpoint) and not Path(checkpoint).exists()
    details = {"deployment_type": "self_deployed", "model_availability": UNKNOWN}
    if record.engine is not None and record.checkpoint is None:
        details["deployment_type"] = UNKNOWN
    details |= {"system": record.system.name, "kind": record.system.kind}
    details |= {} if record.checkpoint is None else {"checkpoint_digest": record.checkpoint}
    return {
        "name": record.label,
        "id": checkpoint if on_hub else record.label,
        "additional_details": details,
    }


def _library(record: RunRecord) -> dict[str, Any]:
    """Name the program that asked the model; decisions and scores are ours in any case."""
    told = record.inference or {}
    ours = record.versions.get("pronominal", UNKNOWN)
    if "program" not in told:
        return {"name": "pronominal", "version": ours}
    details = {"imported_by": f"pronominal {ours}"}
    version = str(told.get("version", UNKNOWN))
    return {"name": str(told["program"]), "version": version, "additional_details": details}


def _shares(run: Run, task: Task) -> Iterator[tuple[Measure, Figure]]:
    """Yield the measures that are shares of which more or less is better."""
    for measure in task.measures:
        figure = measure.of(run.scores)
        if measure.metric and measure.unit == "share" and measure.direction and figure is not None:
            yield measure, figure


def _result(record: RunRecord, task: Task, measure: Measure, figure: Figure) -> dict[str, Any]:
    rows = record.dataset
    source: dict[str, Any] = {"dataset_name": rows.name, "source_type": "other"}
    if rows.name in DATASETS:
        source |= {"source_type": "hf_dataset", "hf_repo": f"{NAMESPACE}/{rows.name}"}
        source |= {"hf_config": rows.config, "hf_split": rows.split, "samples_number": rows.rows}
    source["additional_details"] = {"content_digest": rows.digest}
    details: dict[str, Any] = {"score": figure.value, "uncertainty": {"num_samples": rows.rows}}
    if figure.ends is not None:
        low, high = figure.ends
        ends = {"lower": low, "upper": high, "confidence_level": 0.95}
        details["uncertainty"]["confidence_interval"] = ends | {"method": f"over {task.units}"}
    return {
        "evaluation_name": f"{rows}: {measure.name}",
        "source_data": source,
        "metric_config": {
            "metric_id": measure.key,
            "metric_name": measure.name,
            "metric_unit": "proportion",
            "lower_is_better": measure.direction == "less",
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": details,
    }
