"""Scores as model-card metadata: what the Hub shows on a model's page, and nothing of the data."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.runs.record import RunRecord, read_record
from pronominal.eval.runs.scored import read_runs

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

NAMESPACE = "uds-lsv"
PUBLISHED = ("gap", "knowref", "ruff", "winogender", "winonb", "winopron")
"""Whose datasets on the Hub carry these names; others are nobody's and keep the bare name."""

METRICS: dict[str, tuple[str, str]] = {
    "overall.accuracy": ("accuracy", "Accuracy"),
    "overall.precision": ("precision", "Precision"),
    "overall.recall": ("recall", "Recall"),
    "overall.f1": ("f1", "F1"),
    "overall.none": ("share", "Rows without an answer"),
    "overall.both": ("share", "Rows with both answers"),
    "by_case.*.f1": ("f1", "F1, {}"),
    "by_pronoun_set.*.f1": ("f1", "F1, {}"),
    "pronoun_consistency.score": ("consistency", "Pronoun consistency"),
    "disambiguation_consistency.score": ("consistency", "Disambiguation consistency"),
    "task_specific_accuracy": ("accuracy", "Task-specific accuracy"),
    "none": ("share", "Rows without an answer"),
    "both": ("share", "Rows with both answers"),
    "consistency.score": ("consistency", "Consistency under switched names"),
    "masculine.f1": ("f1", "F1, masculine"),
    "feminine.f1": ("f1", "F1, feminine"),
    "bias": ("f1_ratio", "F1, feminine divided by masculine"),
    "by_source.*.singular.accuracy": ("accuracy", "Accuracy, {}, singular"),
    "by_source.*.plural.accuracy": ("accuracy", "Accuracy, {}, plural"),
    "accuracy": ("accuracy", "Accuracy"),
    "sd": ("standard_deviation", "Standard deviation of the accuracy over seeds"),
}
"""Where a number stands in the scores (CONTRACT, section 6) -> the type and name of its metric.

An asterisk stands for any key, which the name repeats; what is no number is left out.
"""


def write_hub_metadata(runs: Path | Sequence[Path], out: Path) -> list[Path]:
    """Write ``OUT/LABEL.yaml`` for every system: its results as the ``model-index`` of its card.

    The content goes into the header of the model's README.md, by hand or with
    ``huggingface_hub.metadata_update(repo, yaml.safe_load(...))``. Values are those of
    ``score.json``; names of metrics, datasets, configs and splits are all that stands beside them.

    Args:
        runs: folders of runs made by ``pronominal evaluate``; a folder may be a run itself.
        out: a folder, made when it does not exist.

    Returns:
        The files, one for each label.

    Raises:
        InputError: huggingface_hub is not installed, a folder has no scored run, one is damaged,
            or runs of one label have different checkpoints.
    """
    results: dict[str, list[EvalResult]] = defaultdict(list)
    checkpoints: dict[str, object] = {}
    folders = [runs] if isinstance(runs, Path) else runs
    scored = {run.folder.resolve(): run for folder in folders for run in read_runs(folder)}
    for folder, found in scored.items():
        run, label = read_record(folder), found.label
        if checkpoints.setdefault(label, run.checkpoint) != run.checkpoint:
            raise InputError(
                f"the runs of {label} have different checkpoints",
                cure="give each checkpoint its own label and folder of runs",
                file=found.folder,
            )
        results[label] += eval_results(run, found.scores)
    return [_write(label, of_it, out) for label, of_it in results.items()]


def eval_results(run: RunRecord, scores: Mapping[str, Any]) -> "list[EvalResult]":
    """Return one result for each of the `METRICS` that a run's scores hold.

    Args:
        run: the content of its ``run.json``.
        scores: the content of its ``score.json``.

    Raises:
        InputError: huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import EvalResult
    except ModuleNotFoundError as error:
        raise InputError(
            "the Hub's metadata needs huggingface_hub", cure='pip install "pronominal[hub]"'
        ) from error
    dataset, reading = run.dataset, run.settings.get("reading")
    prefix = f"{NAMESPACE}/" if dataset.name in PUBLISHED else ""
    return [
        EvalResult(
            task_type="coreference-resolution",
            task_name="Pronoun resolution",
            dataset_type=f"{prefix}{dataset.name}",
            dataset_name=dataset.name,
            dataset_config=dataset.config,
            dataset_split=dataset.split,
            dataset_args={"content_digest": dataset.digest, "rows": dataset.rows},
            metric_type=kind,
            metric_name=name,
            metric_value=value,
            metric_args=reading and {"reading": reading},
        )
        for kind, name, value in _metrics(scores)
    ]


def _metrics(scores: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    for pattern, (kind, name) in METRICS.items():
        for key, value in _found(scores, pattern.split(".")):
            if isinstance(value, int | float):
                yield kind, name.format(key), value


def _found(scores: Any, keys: list[str], starred: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (the key under the asterisk, the value) wherever the keys lead."""
    if not keys:
        yield starred, scores
    elif isinstance(scores, Mapping):
        for key in scores if keys[0] == "*" else [keys[0]]:
            if key in scores:
                yield from _found(scores[key], keys[1:], key if keys[0] == "*" else starred)


def _write(label: str, results: "list[EvalResult]", out: Path) -> Path:
    from huggingface_hub.repocard_data import eval_results_to_model_index

    file = out / f"{label}.yaml"
    metadata = {"model-index": eval_results_to_model_index(label, results)}
    with new_file(file) as beside:
        beside.write_text(yaml.safe_dump(metadata, sort_keys=False), encoding="utf-8")
    return file
