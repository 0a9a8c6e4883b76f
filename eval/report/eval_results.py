"""Scores as ``.eval_results``: what a model's repository holds, and a benchmark's page ranks.

One value for each task of a dataset's ``eval.yaml``, the share of rows that are right; see
https://huggingface.co/docs/hub/eval-results. How it came about has no field there, so it stands in
the notes. Ids of rows and texts do not occur.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import yaml

from pronominal.atomic import new_file
from pronominal.dataset_scripts.building.benchmark import Benchmark, task_id
from pronominal.dataset_scripts.building.script import NAMESPACE
from pronominal.errors import InputError, extra_needed
from pronominal.eval.report.exports import IN_YAML
from pronominal.eval.runs.record import RunRecord, read_record
from pronominal.eval.runs.scored import Run, read_runs
from pronominal.eval.runs.units import SCORE
from pronominal.eval.scores import TASK, task_of_run
from pronominal.eval.statistics.scores import Figure, Scores
from pronominal.eval.tables.measure import Measure
from pronominal.eval.task import Task
from pronominal.overwriting import refuse_overwriting

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

RESULTS = ".eval_results"
"""The folder of a model's repository that holds them."""

SHARE_RIGHT = ("accuracy", "correct")
"""Keys of the measure that is a task's value: the share of all its rows that are right."""

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class WrittenResults:
    """What was written.

    Attributes:
        files: one for each system and dataset.
        left_out: runs that no task of a benchmark stands for, and why.
    """

    files: list[Path]
    left_out: list[str]


def write_eval_results(
    runs: Path | Sequence[Path], out: Path, tasks: Sequence[Task] = ()
) -> WrittenResults:
    """Write ``OUT/LABEL/.eval_results/DATASET.yaml`` for every system.

    ``OUT/LABEL`` is what `pronominal publish --results` takes. Runs over some of a task's rows,
    over rows that no ``eval.yaml`` of ours names, or whose scores have no share of all rows that
    are right, are left out.

    Args:
        runs: folders of runs made by ``pronominal evaluate``; a folder may be a run itself.
        out: a folder, made when it does not exist.
        tasks: of a user's own, by which some of the runs were scored.

    Raises:
        InputError: huggingface_hub is not installed, a folder has no run or one is damaged, two
            runs give one system two values for a task, or nothing could be written.
    """
    folders = [runs] if isinstance(runs, Path) else runs
    scored = {run.folder.resolve(): run for folder in folders for run in read_runs(folder)}
    results: dict[tuple[str, str], dict[str, EvalResultEntry]] = defaultdict(dict)
    left_out = []
    for run in scored.values():
        record = read_record(run.folder)
        entries = [*_entries(run, record, tasks)]
        for entry in entries:
            if results[run.label, record.dataset.name].setdefault(entry.task_id, entry) != entry:
                cause = f"two runs of {run.label} are about {entry.task_id}"
                raise InputError(cause, cure="give them other labels", file=run.folder)
        if not entries:
            left_out.append(f"{run.folder}: {record.dataset} {_why_left_out(record)}")
    if not results:
        cause = "none of the runs is about all rows of a benchmark's task"
        raise InputError(cause, cure="evaluate a whole split, such as winopron/double/test")
    written = [
        _write([*of_tasks.values()], out / label / RESULTS / f"{dataset}.yaml")
        for (label, dataset), of_tasks in results.items()
    ]
    return WrittenResults(written, left_out)


def _entries(run: Run, record: RunRecord, own: Sequence[Task]) -> "Iterator[EvalResultEntry]":
    """Yield a run's results: one, or one for each of the splits that were joined."""
    with extra_needed("hub", "this"):
        from huggingface_hub import EvalResultEntry

    dataset = record.dataset
    if not _is_task(record):
        return
    splits = dataset.split.split("+")
    task = task_of_run(dataset.name, run.scores.get(TASK), own)
    task.refuse_other_scores(run.scores, run.folder / SCORE)
    measure = next((one for one in task.measures if one.key in SHARE_RIGHT), None)
    for split in splits if measure is not None else ():
        assert measure is not None
        figure = measure.of(run.scores) if len(splits) == 1 else _part(measure, run.scores, split)
        if figure is None:
            continue
        yield EvalResultEntry(
            dataset_id=f"{NAMESPACE}/{dataset.name}",
            task_id=task_id(dataset.name, dataset.config, split),
            value=figure.value,
            dataset_revision=_revision(record),
            date=record.times.finished,
            notes=_notes(record, figure),
        )


def _is_task(record: RunRecord) -> bool:
    """Whether the rows of a run are those of a task, or of several."""
    config, splits = record.dataset.config, record.dataset.split.split("+")
    benchmark = Benchmark.of(record.dataset.name)
    return benchmark is not None and all(benchmark.asks(config, one) for one in splits)


def _why_left_out(record: RunRecord) -> str:
    if _is_task(record):
        return "has no share of all rows that are right among its scores"
    return "is no task of a benchmark"


def _part(measure: Measure, scores: Scores, split: str) -> Figure | None:
    """Return the figure of one of the splits that were joined: ``seed_13`` is in ``by_seed``."""
    kind, _, part = split.partition("_")
    return scores.figure((f"by_{kind}", part, *measure.path))


def _revision(record: RunRecord) -> str | None:
    """Return the commit of the dataset, where its rows were in the Hub's cache."""
    name = PurePath(record.dataset_place or "").name
    return name if COMMIT.fullmatch(name) else None


def _notes(record: RunRecord, figure: Figure) -> str:
    """Say how a value came about, how certain it is, and which run it is of."""
    how = ", ".join(filter(None, (record.system.kind, record.system.question, record.engine)))
    reading = record.settings.get("reading")
    ends = figure.ends
    interval = "no interval" if ends is None else f"95% interval {ends[0]:.4f} to {ends[1]:.4f}"
    digest = "" if record.predictions is None else record.predictions.sha256
    told = (
        f"{how}; read by {reading}" if reading else how,
        interval,
        f"content digest {record.dataset.digest}",
        f"predictions sha256 {digest}",
        f"pronominal {record.versions.get('pronominal', version('pronominal'))}",
    )
    return "; ".join(told)


def _write(entries: "list[EvalResultEntry]", file: Path) -> Path:
    from huggingface_hub import eval_result_entries_to_yaml

    refuse_overwriting(file, IN_YAML)
    content = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, width=10**6)
    with new_file(file) as beside:
        beside.write_text(f"{IN_YAML}\n{content}", encoding="utf-8", newline="\n")
    return file
