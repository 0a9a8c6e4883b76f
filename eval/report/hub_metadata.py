"""Scores as model-card metadata: what the Hub shows on a model's page, and nothing of the data."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pronominal.atomic import new_file
from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.script import NAMESPACE, dataset_script
from pronominal.errors import InputError
from pronominal.eval.report.exports import IN_YAML
from pronominal.eval.runs.record import RunRecord, read_record
from pronominal.eval.runs.scored import read_runs
from pronominal.eval.runs.units import SCORE
from pronominal.eval.scores import TASK, task_of_run
from pronominal.eval.statistics.scores import Figure, Scores
from pronominal.eval.tables.comparison import parts_of
from pronominal.eval.task import Task
from pronominal.overwriting import refuse_overwriting

if TYPE_CHECKING:
    from huggingface_hub import EvalResult


def write_hub_metadata(
    runs: Path | Sequence[Path], out: Path, tasks: Sequence[Task] = ()
) -> list[Path]:
    """Write ``OUT/LABEL.yaml`` for every system: its results as the ``model-index`` of its card.

    The content goes into the header of the model's README.md, by hand or with
    ``huggingface_hub.metadata_update(repo, yaml.safe_load(...))``. Values are those of
    ``score.json``; names of metrics, datasets, configs and splits are all that stands beside them.

    Args:
        runs: folders of runs made by ``pronominal evaluate``; a folder may be a run itself.
        out: a folder, made when it does not exist.
        tasks: of a user's own, by which some of the runs were scored.

    Returns:
        The files, one for each label.

    Raises:
        InputError: huggingface_hub is not installed, a folder has no run, one is damaged
            or was scored by an unknown task, or runs of one label have different checkpoints.
    """
    results: dict[str, list[EvalResult]] = defaultdict(list)
    checkpoints: dict[str, object] = {}
    folders = [runs] if isinstance(runs, Path) else runs
    scored = {run.folder.resolve(): run for folder in folders for run in read_runs(folder)}
    for folder, found in scored.items():
        run, label = read_record(folder), found.label
        if checkpoints.setdefault(label, run.checkpoint) != run.checkpoint:
            cure = "give each checkpoint its own label and folder of runs"
            cause = f"the runs of {label} have different checkpoints"
            raise InputError(cause, cure=cure, file=found.folder)
        task = task_of_run(run.dataset.name, found.scores.get(TASK), tasks)
        task.refuse_other_scores(found.scores, found.folder / SCORE)
        results[label] += eval_results(run, found.scores, task)
    return [_write(label, of_it, out) for label, of_it in results.items()]


def eval_results(run: RunRecord, scores: Scores, task: Task) -> "list[EvalResult]":
    """Return one result for each of the task's measures that a run's scores hold."""
    try:
        from huggingface_hub import EvalResult
    except ModuleNotFoundError as error:
        raise InputError(
            "the Hub's metadata needs huggingface_hub", cure='pip install "pronominal[hub]"'
        ) from error
    dataset, reading = run.dataset, run.settings.get("reading")
    published = dataset.name in DATASETS and dataset_script(dataset.name).UPSTREAM
    prefix = f"{NAMESPACE}/" if published else ""
    return [
        EvalResult(
            task_type=task.hub_task,
            task_name=task.title or task.name,
            dataset_type=f"{prefix}{dataset.name}",
            dataset_name=dataset.name,
            dataset_config=dataset.config,
            dataset_split=dataset.split,
            dataset_args={"content_digest": dataset.digest, "rows": dataset.rows},
            metric_type=kind,
            metric_name=name,
            metric_value=figure.value,
            metric_args=_about(figure, reading) or None,
        )
        for kind, name, figure in _metrics(task, scores)
    ]


def _about(figure: Figure, reading: object) -> dict[str, Any]:
    """Say by which decision rule a figure came about, and how certain it is."""
    read = {"reading": reading} if reading else {}
    if figure.ends is None:
        return read | ({"interval_missing": figure.missing} if figure.missing else {})
    return read | {"interval": [*figure.ends]}


def _metrics(task: Task, scores: Scores) -> Iterator[tuple[str, str, Figure]]:
    """Yield the type, the name and the figure of each metric that scores hold."""
    for measure in task.measures:
        if measure.metric is None:
            continue
        if (figure := measure.of(scores)) is not None:
            yield measure.metric, measure.name, figure
        for division in measure.card_divisions:
            for (part,), path in parts_of(measure, division, [scores]):
                figure = scores.figure(path)
                if figure is not None and path != measure.path:
                    yield measure.metric, f"{measure.name}, {part}", figure


def _write(label: str, results: "list[EvalResult]", out: Path) -> Path:
    from huggingface_hub.repocard_data import eval_results_to_model_index

    file = out / f"{label}.yaml"
    refuse_overwriting(file, IN_YAML)
    metadata = {"model-index": eval_results_to_model_index(label, results)}
    with new_file(file) as temporary:
        content = f"{IN_YAML}\n{yaml.safe_dump(metadata, sort_keys=False)}"
        temporary.write_text(content, encoding="utf-8", newline="\n")
    return file
