"""Several systems on one split: run, score, compare."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.adapters import System
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE
from pronominal.eval.plan import Plan
from pronominal.eval.runs import runner
from pronominal.eval.runs.answers import read_answers, read_given_answers
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.record import is_run, read_record
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.runner import ProgressCallback, SystemSettings
from pronominal.eval.runs.units import SCORE, write_units
from pronominal.eval.scores import task_of
from pronominal.eval.scores.prompts import prompt_scores
from pronominal.eval.statistics.paired_tests import (
    ACROSS,
    AGAINST,
    PLANNED,
    PairedUnits,
    against,
)
from pronominal.eval.statistics.ranks import RANKS, ranks
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.comparison import FAILED
from pronominal.eval.task import Answered, Task
from pronominal.json_files import write_json

Bars = Callable[[str, int], AbstractContextManager[ProgressCallback]]
"""Opens a progress bar for a system and a number of rows, or for the tests between systems."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The scores of a run, and the units that paired tests between systems compare."""

    scores: Scores
    units: Mapping[str, PairedUnits]


def evaluate_all(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: Sequence[SystemSettings],
    out: Path,
    reading: str,
    bars: Bars,
    *,
    task: Task | None = None,
    systems: Mapping[str, System] = MappingProxyType({}),
    strict: bool = False,
    plan: Plan | None = None,
    margin: float | None = None,
) -> dict[str, Scores]:
    """Run several systems as `evaluate` does, and test every pair of them against each other.

    Args:
        split: the rows.
        asked: the systems.
        out: the folder of runs.
        reading: the name of the decision rule.
        bars: shows how far it is.
        task: the dataset's own task without it.
        systems: label -> an object that is a system already, and is not loaded by name.
        strict: stop at the first row that a system cannot answer.
        plan: what was planned, which is refused for other rows; its systems are among those asked.
        margin: how far apart equivalent systems may be, in (0, 1).

    Returns:
        Label -> scores. Where there is a second system, and the task says which units are
        independent, they have `AGAINST` and `RANKS`, too, with a plan `PLANNED`, and where the task
        says what to ask of all systems together, `ACROSS`. No `SCORE` holds any of them; reports
        make them anew for the runs that they show, from what `write_units` kept.
    """
    task = task_of(split.dataset_name, task)
    if task.refuse is not None:
        task.refuse(split)
    if plan is not None:
        plan.refuse_other(split, reading)
    done = {}
    others = companion_splits(task, split)
    rows = split.num_rows + sum(other.num_rows for other in others.values())
    for one in asked:
        with bars(one.label, rows) as progress:
            system = systems[one.label] if one.label in systems else one.load()
            run = partial(runner.run, system=system, asked=one, reading=reading, strict=strict)
            done[one.label] = _evaluate(task, split, others, run, out, progress)
    scores = {label: one.scores for label, one in done.items()}
    if len(done) < 2:
        return scores
    measures = dict.fromkeys(name for one in done.values() for name in one.units)
    units = {name: {label: one.units[name] for label, one in done.items()} for name in measures}
    with bars("paired tests", len(units)) as progress:
        return with_comparisons(task, scores, units, plan, margin, progress)


def with_comparisons(
    task: Task,
    scores: Mapping[str, Scores],
    units: Mapping[str, Mapping[str, PairedUnits]],
    plan: Plan | None = None,
    margin: float | None = None,
    progress: ProgressCallback = lambda done: None,
) -> dict[str, Scores]:
    """Add to scores what compares the systems.

    Args:
        task: says what is asked of all systems together.
        scores: label -> scores.
        units: measure -> label -> units.
        plan: the comparisons that were planned; all others are exploratory then.
        margin: as in `evaluate_all`; that of the plan without it.
        progress: told how many measures are done.

    Returns:
        Label -> scores with `AGAINST` and `RANKS`, `PLANNED` and `ACROSS` where there are any.
    """
    made: dict[str, dict[str, Any]] = {label: {} for label in scores}
    others: dict[str, list[tuple[str, str]]] = {}
    if plan is not None:
        plan.refuse_other_units(units)
        margin = plan.margin if margin is None else margin
        planned = {measure: plan.of_systems(units[measure]) for measure in plan.measures}
        tests = against(planned, dict.fromkeys(planned, plan.pairs), plan.margin)
        for label, found in _compared(tests).items():
            made[label][PLANNED] = {"digest": plan.digest, **found}
        further = [pair for pair in combinations(scores, 2) if not plan.has(*pair)]
        others = dict.fromkeys(plan.measures, further)
    for label, found in _compared(against(units, others, margin, progress)).items():
        made[label] |= found
    if task.across_systems is not None and len(scores) > 1:
        common = {ACROSS: task.across_systems(scores)}
        made = {label: found | common for label, found in made.items()}
    return {label: one | made[label] for label, one in scores.items()}


def _compared(tests: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each system's paired tests, and its ranks where there are any."""
    places = ranks(tests)
    return {
        label: {AGAINST: of_it} | ({RANKS: places[label]} if places[label] else {})
        for label, of_it in tests.items()
    }


def comparable_units(task: Task, split: Split) -> dict[str, int]:
    """Return by which measures systems can be compared on some rows, and the units of each."""
    if task.paired_units is None:
        return {}
    given = Answered(split, [NONE] * split.num_rows, companions={
        name: Answered(other, [NONE] * other.num_rows)
        for name, other in companion_splits(task, split).items()
    })  # fmt: skip
    return {measure: len(units) for measure, units in task.paired_units(given).items()}


def evaluate(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: SystemSettings,
    out: Path,
    reading: str = "offsets",
    progress: ProgressCallback = lambda done: None,
    system: System | None = None,
    *,
    task: Task | None = None,
    strict: bool = False,
) -> Scores:
    """Run one system, or go on with its run, and return its scores.

    A system of your own is given as `system`; it is not loaded by name then, and `asked` only
    says how it is called. A run that is complete is not run again under the same label. The system
    runs over the task's companion splits as well.

    The scores are those of CONTRACT, section 6, with ``readings_differ`` for clustering systems:
    the number of rows in which the two decision rules disagree. They are also kept as `SCORE`.
    Where the system failed at rows, they have ``failed``, the number of them, and these rows count
    as rows without an answer; with `strict` the first one is an `InputError`.
    """
    scores = evaluate_all(
        *(split, [asked], out, reading, lambda *_: nullcontext(progress)),
        task=task,
        systems={} if system is None else {asked.label: system},
        strict=strict,
    )
    return scores[asked.label]


def _evaluate(
    task: Task,
    split: Split,
    others: Mapping[str, Split],
    run: Callable[..., RunFolder],
    out: Path,
    progress: ProgressCallback,
) -> Evaluated:
    folder = run(split, out=out, progress=progress)
    # a folder of one run has no room for a second one
    runs, done = out.parent if folder.path == out else out, split.num_rows
    companions: dict[str, Answered] = {}
    failed: dict[str, int] = {}
    for name, other in others.items():
        beside = run(other, out=runs, progress=lambda n: progress(done + n))
        companions[name] = answered(other, beside.path)
        failed |= {f"{FAILED}_{name}": len(beside.failures)} if beside.failures else {}
    return score_and_keep(split, folder.path, companions, failed, task)


def companion_splits(task: Task, split: Split) -> dict[str, Split]:
    """Return the companion splits that were built beside a split, by the companions' names."""
    folder, found = split.folder, {}
    for one in task.companions:
        name = one.split or split.name
        if (
            folder is not None
            and fnmatchcase(split.config, one.of)
            and any((folder / one.config).glob(f"{name}*.parquet"))
        ):
            found[one.name] = read_split(str(folder), one.config, name)
    return found


def answered(
    split: Split, predictions: Path, reading: str | None = None, *, allow_missing: bool = False
) -> Answered:
    """Return a split with the answers of a predictions file, or of a run's folder."""
    read = read_given_answers if allow_missing else read_answers
    return Answered(split, read(predictions, split, reading), predictions)


def score_and_keep(
    split: Split,
    run: Path,
    companions: Mapping[str, Answered] = MappingProxyType({}),
    failed: Mapping[str, int] = MappingProxyType({}),
    task: Task | None = None,
) -> Evaluated:
    """Score a run's folder and keep the result there, as `SCORE` and with `write_units`.

    `companions` are the answers to companion splits, and `failed` says how many of their rows
    failed. Without a `task` it is the dataset's own.
    """
    task = task_of(split.dataset_name, task)
    given = replace(answered(split, run), companions=companions)
    scores = _scores(task, given) | dict(failed)
    counted = read_record(run).counts
    if "readings_differ" in counted:
        scores |= {"readings_differ": counted["readings_differ"]}
    write_json(run / SCORE, scores.content)
    units = task.paired_units(given) if task.paired_units else {}
    write_units(run, units)
    return Evaluated(scores, units)


def score_predictions(
    split: Split,
    predictions: Path,
    options: Mapping[str, Any] = MappingProxyType({}),
    reading: str | None = None,
    *,
    companions: Mapping[str, Answered] = MappingProxyType({}),
    task: Task | None = None,
) -> Scores:
    """Score a predictions file, or a run's folder, with the metrics of its dataset.

    Args:
        split: the rows that the predictions answer.
        predictions: a file in the form of ``predictions.jsonl``.
        options: of the task; those that are None are left out.
        reading: the decision rule by which the file's clusters become decisions; None for the
            decisions that the file has.
        companions: the same system's answers to companion splits.
        task: the dataset's own task without it.

    Raises:
        InputError: the predictions are not valid, or the task has no such option or companion.
    """
    task = task_of(split.dataset_name, task)
    given = {name: value for name, value in options.items() if value is not None}
    task.refuse_unknown(given, companions)
    allow_missing = bool(given.get("allow_missing"))
    found = answered(split, predictions, reading, allow_missing=allow_missing)
    return _scores(task, replace(found, companions=companions, options=given))


def _scores(task: Task, given: Answered) -> Scores:
    scores = task.scores_of(given)
    assert given.predictions is not None
    scores |= prompt_scores(given.split, given.predictions, task.score_choices, task.units_of)
    failures = read_failures(given.predictions)
    return scores | {FAILED: len(failures)} if failures else scores


def rows_to_score(
    task: Task, where: str, config: str | None, split: str | None, predictions: Path
) -> Split:
    """Read the rows that predictions answer: a run's own, or those that the task knows of."""
    folder = predictions if predictions.is_dir() else predictions.parent
    if split is None and is_run(folder):
        split = read_record(folder).dataset.split
    if split is None and task.answered_split is not None:
        split = task.answered_split(where, config, predictions)
    return load_split(where, config, split or "test")


def task_options(
    task: Task, split: Split, where: str, given: Mapping[str, Any], reading: str | None = None
) -> tuple[dict[str, Any], dict[str, Answered]]:
    """Tell a task's options from the answers to its companion splits, which are read.

    Args:
        task: the task.
        split: the rows that are scored.
        where: the dataset's folder, or its id on the Hub.
        given: values by the names of options and companions; those of companions are files of
            predictions, or folders of runs.
        reading: the decision rule by which clusters become decisions.
    """
    task.refuse_unknown(given, ())
    options = {
        one.name: one.read(given[one.name]) if one.read else given[one.name]
        for one in task.options
        if given.get(one.name) is not None
    }
    companions = {
        one.name: answered(
            read_split(where, one.config, one.split or split.name), Path(given[one.name]), reading
        )
        for one in task.companions
        if given.get(one.name) is not None
    }
    return options, companions
