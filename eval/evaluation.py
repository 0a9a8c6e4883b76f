"""Several systems on one split: run, score, compare."""

import gc
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.adapters import System
from pronominal.adapters.catalogue.own_object import declared_settings, is_code_alone, source_digest
from pronominal.adapters.catalogue.systems import SYSTEMS
from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split, whole_and_part
from pronominal.decisions import NONE
from pronominal.errors import InputError, together
from pronominal.eval.planning.plan import Plan, PlannedTask
from pronominal.eval.runs import runner
from pronominal.eval.runs.answers import read_answers, read_given_answers
from pronominal.eval.runs.coreference_systems import COPIES
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.finished import finished_run
from pronominal.eval.runs.record import (
    DatasetRecord,
    Stopped,
    is_run,
    read_record,
    run_name,
    run_of,
    run_path,
)
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.runner import ProgressCallback, SystemSettings
from pronominal.eval.runs.same_weights import decided_otherwise
from pronominal.eval.runs.units import SCORE, write_units
from pronominal.eval.runs.until import Precision, run_until
from pronominal.eval.scores import TASK, task_of
from pronominal.eval.scores.agreement import agreement_scores
from pronominal.eval.scores.prompts import prompt_scores
from pronominal.eval.statistics.paired_tests import (
    ACROSS,
    AGAINST,
    PLANNED,
    PairedUnits,
    against,
)
from pronominal.eval.statistics.ranks import RANKS, ranks
from pronominal.eval.statistics.scores import Scores, plain
from pronominal.eval.tables.comparison import CAUSES, DRAWN, FAILED, SAME_WEIGHTS
from pronominal.eval.task import Answered, Companion, Task
from pronominal.json_files import write_json


class FinishedRunWarning(UserWarning):
    """An object was not asked again, as there is a finished run of its name."""


OpenProgress = Callable[[str, int | None], AbstractContextManager[ProgressCallback]]
"""Opens a progress bar for a system and a number of rows, or for the tests between systems.

Nobody knows the number of rows that are drawn until something is known well enough.
"""


@contextmanager
def no_progress(name: str, total: int | None) -> Iterator[ProgressCallback]:
    """Show nothing."""
    yield lambda done: None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A run that was scored.

    Attributes:
        run: its folder.
        answered: the rows with the run's decisions.
        scores: of the answers.
        units: what paired tests between systems compare.
    """

    run: Path
    answered: Answered
    scores: Scores
    units: Mapping[str, PairedUnits]


def evaluate_systems(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: Sequence[SystemSettings],
    out: Path,
    reading: str = "offsets",
    open_progress: OpenProgress = no_progress,
    *,
    task: Task | None = None,
    systems: Mapping[str, System] = MappingProxyType({}),
    strict: bool = False,
    plan: Plan | None = None,
    margin: float | None = None,
) -> dict[str, Evaluated]:
    """Run and score systems, or go on with their runs, and test every two against each other.

    A run that is complete is not run again under the same label. Each system runs over the task's
    companion splits as well.

    Args:
        split: the rows.
        asked: the systems.
        out: the folder of runs.
        reading: the name of the decision rule.
        open_progress: shows how far it is.
        task: the dataset's own task without it.
        systems: label -> an object that is a system already, and is not loaded by name.
        strict: stop at the first row that a system cannot answer.
        plan: what was planned, which is refused for other rows; its systems are among those asked.
        margin: how far apart equivalent systems may be, in (0, 1).

    Returns:
        Label -> what became of it. The scores have ``readings_differ`` for clustering systems, the
        number of rows in which the two decision rules disagree, ``failed``, the number of rows that
        the system failed at, which count as rows without an answer, and `SAME_WEIGHTS` where
        another run has the same weights. Where there is a second system, and the task says which
        units are independent, they have `AGAINST` and `RANKS`, too, with a plan `PLANNED`, and
        where the task says what to ask of all systems together, `ACROSS`. No `SCORE` holds any of
        them but the first two; reports make them anew for the runs that they show, from what
        `write_units` kept.
    """
    task = task_of(split.dataset_name, task)
    task.refuse_rows(split)
    done = {}
    companions = companion_splits(task, split)
    if plan is not None:
        plan.refuse_other(split, reading)
        plan.refuse_other_margin(margin)
        for label in plan.sources:
            plan.refuse_other_source(label, source_digest(plan.systems[label]["system"]))
        plan.refuse_other_task(PlannedTask.of(task, companions))
    asked = [one.declaring(systems.get(one.label)) for one in asked]  # reads checkpoints once
    rows = split.num_rows + sum(companion.num_rows for companion in companions.values())
    finished = _finished([split, *companions.values()], asked, systems, out, reading)
    waiting = [one for one in asked if one.label not in finished]
    ready = {**systems, **_first_of_sound(split, waiting, systems, reading, plan)}
    for settings in asked:
        with open_progress(settings.label, rows) as progress:
            if settings.label in finished:
                run = _as_it_is(finished[settings.label], plan)
            else:
                # not kept afterwards: the weights of all systems may not fit into memory
                loaded = ready.pop(settings.label, None)
                system = settings.load() if loaded is None else loaded
                if settings.label in systems:
                    _warn_of_finished(system, run_path(out, run_name(split, settings.label)))
                told = settings.declaring(system)
                run = partial(runner.run, system=system, asked=told, reading=reading, strict=strict)
            done[settings.label] = _run_and_score(task, split, companions, run, out, progress)
    if plan is not None:
        for label in plan.systems:
            plan.keep(done[label].run)
    return done if len(done) < 2 else _compared(task, done, plan, margin, open_progress)


def rows_known_well(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: Sequence[SystemSettings],
    out: Path,
    until: float,
    reading: str = "offsets",
    open_progress: OpenProgress = no_progress,
    *,
    task: Task | None = None,
    systems: Mapping[str, System] = MappingProxyType({}),
    strict: bool = False,
) -> Split:
    """Run systems over rows as they are drawn, the same for all, and return these rows.

    Systems are asked until the accuracy of each over all rows is known to `until` points; the
    others are then asked for as many rows, which makes theirs no less well known. The other
    arguments are those of `evaluate_systems`.

    Raises:
        InputError: the task's headline is no share of rows; and as `run_until`.
    """
    refuse_no_share(task_of(split.dataset_name, task))
    asked = [one.declaring(systems.get(one.label)) for one in asked]  # reads checkpoints once
    precision, rows, before = Precision.of(until, split, reading), 0, -1
    waiting = [one for one in asked if precision.reached(out, one.label) is None]
    ready = _first_of_sound(split, waiting, systems, reading, None)
    for one in asked:
        if one.label in systems and one not in waiting:
            _warn_of_finished(systems[one.label], precision.run_path(out, one.label))
    while rows != before:
        before = rows
        for one in asked:
            answered_rows = precision.reached(out, one.label, rows)
            if answered_rows is None:
                loaded = ready.pop(one.label, None) or systems.get(one.label)
                system = one.load() if loaded is None else loaded
                told: dict[str, Any] = {"least": rows, "reading": reading, "strict": strict}
                with open_progress(one.label, None) as progress:
                    run = run_until(precision, system, one, out, progress=progress, **told)
                answered_rows = run.record.dataset.rows
            rows = max(rows, answered_rows)
    return precision.draws.first(rows)


def refuse_no_share(task: Task) -> None:
    """Raise `InputError` unless a task's headline is the share of rows that are right."""
    if task.headline != "accuracy":
        cause = f"the headline of {task.name} is its {task.headline}, which is no share of rows"
        raise InputError(cause, cure="run all rows, or the first ones with --limit")


def _compared(
    task: Task,
    done: Mapping[str, Evaluated],
    plan: Plan | None,
    margin: float | None,
    open_progress: OpenProgress,
) -> dict[str, Evaluated]:
    measures = dict.fromkeys(name for one in done.values() for name in one.units)
    for label, one in done.items():
        if lacking := next((name for name in measures if name not in one.units), None):
            cause = f"the task {task.name} gives {label} no units for {lacking}, but other systems"
            raise InputError(cause, cure="give every system units for the same measures")
    units = {name: {label: one.units[name] for label, one in done.items()} for name in measures}
    for name, by_label in units.items():
        if len({len(shares) for shares in by_label.values()}) > 1:
            cause = f"the task {task.name} gives systems different numbers of units for {name}"
            raise InputError(cause, cure="give every system the same units, in order")
    scores = {label: one.scores for label, one in done.items()}
    with open_progress("paired tests", len(units)) as progress:
        compared = with_comparisons(task, scores, units, plan, margin, progress)
    otherwise = decided_otherwise({
        label: (read_record(one.run), one.answered.decisions) for label, one in done.items()
    })  # fmt: skip
    alike = {label: {SAME_WEIGHTS: found} if found else {} for label, found in otherwise.items()}
    return {
        label: replace(one, scores=compared[label] | alike[label]) for label, one in done.items()
    }


def _finished(
    splits: Sequence[Split],
    asked: Sequence[SystemSettings],
    given: Mapping[str, System],
    out: Path,
    reading: str,
) -> dict[str, list[RunFolder]]:
    """Return, by label, the runs of systems that have answered every split: none is loaded."""
    found = {}
    for one in asked:
        if one.label in given or not is_run(run_path(out, run_name(splits[0], one.label))):
            continue
        runs = [finished_run(split, one, out, reading) for split in splits]
        if all(runs):
            found[one.label] = [run for run in runs if run is not None]
    return found


def _warn_of_finished(system: System, run: Path) -> None:
    """Warn that an object's answers are those of its earlier run: it may hold other things now."""
    if not is_run(run) or not read_record(run).complete:
        return
    known = read_record(run).settings.get("source") is not None
    if known and (declared_settings(system) is not None or is_code_alone(system)):
        return  # its file or its settings would have been refused, had they changed since
    untold = (
        "the values that it was made with are not compared, so give it another name if they have "
        "changed, or an attribute 'settings' that tells them"
        if known
        else "its code is not compared, so give it another name if that has changed"
    )
    cause = f"{read_record(run).label} is not asked again: its answers are those of {run}"
    warnings.warn(f"{cause}; {untold}", FinishedRunWarning, stacklevel=4)


def _as_it_is(runs: Sequence[RunFolder], plan: Plan | None) -> Callable[..., RunFolder]:
    """Return what stands for running a system: its finished run of a split."""
    if plan is not None:
        plan.refuse_other_checkpoint(runs[0].record.label, runs[0].record.checkpoint)
    by_digest = {run.record.dataset.digest: run for run in runs}
    return lambda split, **_: by_digest[split.digest]


def _first_of_sound(
    split: Split,
    asked: Sequence[SystemSettings],
    given: Mapping[str, System],
    reading: str,
    plan: Plan | None,
) -> dict[str, System]:
    """Load every system that will run before the first one does; return the first by its label.

    What is wrong or absent is found at once, of all systems, and not when those before it are done.
    The others are loaded again when it is their turn: all together may not fit into memory.
    """
    loaded: dict[str, System] = {}
    faults: list[InputError] = []
    asked_by_label = {one.label: one for one in asked}
    for one in reversed(asked):
        held = [*loaded]
        loaded.clear()
        if any(_may_hold_weights(asked_by_label[label]) for label in held):
            gc.collect()
        try:
            if one.label not in given:
                runner.refuse_undeclared(one, split)
            loaded[one.label] = given[one.label] if one.label in given else one.load()
            runner.refuse_unfit(loaded[one.label], split, reading)
            if plan is not None:
                checkpoint = getattr(loaded[one.label], "checkpoint", None)
                plan.refuse_other_checkpoint(one.label, checkpoint and checkpoint.digest)
        except InputError as error:
            faults.insert(0, error)
    if faults:
        raise together(f"{len(faults)} of {len(asked)} systems cannot run here", faults)
    return loaded


def _may_hold_weights(asked: SystemSettings) -> bool:
    """Whether a system has to be collected before the next one: garbage takes a while to find."""
    entry = SYSTEMS.get(asked.name)
    return entry is None or entry.weights is not None or asked.checkpoint is not None


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
        margin: as in `evaluate_systems`; that of the plan without it.
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
        for label, found in _tests_and_ranks(task, tests).items():
            made[label][PLANNED] = {"digest": plan.digest, **found}
        further = [pair for pair in combinations(scores, 2) if not plan.has(*pair)]
        others = dict.fromkeys(plan.measures, further)
    for label, found in _tests_and_ranks(task, against(units, others, margin, progress)).items():
        made[label] |= found
    if task.across_systems is not None and len(scores) > 1:
        common = {ACROSS: plain(task.across_systems(scores))}
        made = {label: found | common for label, found in made.items()}
    return {label: one | made[label] for label, one in scores.items()}


def _tests_and_ranks(
    task: Task, tests: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return each system's paired tests, and its ranks by measures of which more is better."""
    other = {measure.key for measure in task.measures if measure.direction != "more"}
    places = ranks({
        label: {measure: found for measure, found in of_it.items() if measure not in other}
        for label, of_it in tests.items()
    })  # fmt: skip
    return {
        label: {AGAINST: of_it} | ({RANKS: places[label]} if places[label] else {})
        for label, of_it in tests.items()
    }


def comparable_units(task: Task, split: Split) -> dict[str, int]:
    """Return by which measures systems can be compared on some rows, and the units of each."""
    given = Answered(split, [NONE] * split.num_rows, companions={
        name: Answered(other, [NONE] * other.num_rows)
        for name, other in companion_splits(task, split).items()
    })  # fmt: skip
    return {measure: len(units) for measure, units in task.checked_units(given).items()}


def _run_and_score(
    task: Task,
    split: Split,
    companions: Mapping[str, Split],
    run: Callable[..., RunFolder],
    out: Path,
    progress: ProgressCallback,
) -> Evaluated:
    folder = run(split, out=out, progress=progress)
    # a folder of one run has no room for a second one
    runs, done = out.parent if folder.path == out else out, split.num_rows
    answers: dict[str, Answered] = {}
    for name, companion in companions.items():
        other = run(companion, out=runs, progress=lambda n: progress(done + n))
        answers[name] = answered(companion, other.path)
    return score_and_keep(split, folder.path, answers, task)


def companion_splits(task: Task, split: Split) -> dict[str, Split]:
    """Return the companion splits that were built beside a split, by the companions' names."""
    companions, whole = {}, whole_and_part(split.name)[1] is None
    for companion in task.companions:
        # of drawn rows, others do not have the like
        there = split.folder is not None and (whole or companion.split is not None)
        if there and companion.fits(split.config):
            with suppress(MissingSplitError):
                companions[companion.name] = companion_rows(companion, split)
    return companions


def companion_runs(task: Task, split: Split, run: Path) -> dict[str, tuple[Split, Path]]:
    """Return companion splits, and the runs beside a run with its system's answers, by name."""
    splits = companion_splits(task, split)
    found = {name: (rows, run_beside(run, rows)) for name, rows in splits.items()}
    return {name: (rows, other) for name, (rows, other) in found.items() if other is not None}


def run_beside(run: Path, rows: Split) -> Path | None:
    """Return the finished run beside a run that answers other rows by the same system."""
    record = read_record(run)
    other = run.resolve().parent / run_name(rows, record.label)
    if not is_run(other):
        return None
    found = read_record(other)
    same = found.complete and found.dataset == DatasetRecord.of(rows) and found.same_system(record)
    return other if same else None


def companion_rows(companion: Companion, split: Split) -> Split:
    """Read a companion split; `InputError` where it was not built, or `split` is of no folder."""
    if split.folder is None:
        cause = f"the rows of {companion.name} are not with those of {split.config}/{split.name}"
        cure = f"give {companion.name}=(rows, predictions), or a dataset's folder"
        raise InputError(cause, cure=cure)
    return load_split(split.folder, companion.config, companion.split or split.name)


def answered(
    split: Split, predictions: Path, reading: str | None = None, *, allow_missing: bool = False
) -> Answered:
    """Return a split with the answers of a predictions file, or of a run's folder."""
    read = read_given_answers if allow_missing else read_answers
    return Answered(split, read(predictions, split, reading), predictions)


def score_run(
    split: Split,
    run: Path,
    companions: Mapping[str, Answered] = MappingProxyType({}),
    task: Task | None = None,
) -> Evaluated:
    """Score a run's folder.

    `companions` are the answers to companion splits, whose rows that failed are counted, too.
    Without a `task` it is the dataset's own.
    """
    task = task_of(split.dataset_name, task)
    given = replace(answered(split, run), companions=companions)
    scores, units = score_answers(task, given), task.checked_units(given)
    for name, one in companions.items():
        scores = _with_failures(scores, name, one.predictions)
    counted = read_record(run).counts
    if "readings_differ" in counted:
        scores |= {"readings_differ": counted["readings_differ"]}
    if copies := {copy: counted[copy] for copy in COPIES if copy in counted}:
        scores |= {"copies": {"n": sum(copies.values()), **copies}}
    return Evaluated(run, given, scores, units)


def score_and_keep(
    split: Split,
    run: Path,
    companions: Mapping[str, Answered] = MappingProxyType({}),
    task: Task | None = None,
) -> Evaluated:
    """Score a run's folder as `score_run`, and keep that there as `SCORE` and by `write_units`."""
    task = task_of(split.dataset_name, task)
    scored = score_run(split, run, companions, task)
    write_units(run, scored.units)
    write_json(run / SCORE, {TASK: task.name, **scored.scores.content})
    return scored


def _with_failures(scores: Scores, companion: str, predictions: Path | None) -> Scores:
    """Add how many rows of a run failed, and why the first one did; nothing of one without any."""
    failures = {} if predictions is None else read_failures(predictions)
    if not failures:
        return scores
    first = next(iter(failures.values())).cause
    causes = {**scores.get(CAUSES, {}), companion: first}
    key = f"{FAILED}_{companion}" if companion else FAILED
    return scores | {key: len(failures), CAUSES: causes}


def answers_to_score(
    task: Task,
    split: Split,
    predictions: Path,
    options: Mapping[str, Any] = MappingProxyType({}),
    reading: str | None = None,
    companions: Mapping[str, Answered] = MappingProxyType({}),
) -> Answered:
    """Return the answers of a predictions file, or of a run's folder, with all that scores need.

    Args:
        task: how they will be scored.
        split: the rows that the predictions answer.
        predictions: a file in the form of ``predictions.jsonl``.
        options: of the task, as `Option.value` returns them.
        reading: the decision rule by which the file's clusters become decisions; None for the
            decisions that the file has.
        companions: the same system's answers to companion splits.

    Raises:
        InputError: the predictions are not valid, or the task has no such option or companion.
    """
    task.refuse_unknown([*options, *companions])
    allow_missing = task.allows_missing is not None and bool(options.get(task.allows_missing))
    read = answered(split, predictions, reading, allow_missing=allow_missing)
    return replace(read, companions=companions, options=options)


def score_answers(task: Task, given: Answered) -> Scores:
    """Score answers by a task and, of models that were prompted, by prompt.

    Of models that were asked two questions, also how far the answers agree.
    """
    scores = task.scores_of(given)
    assert given.predictions is not None
    scores |= prompt_scores(given.split, given.predictions, task.score_choices, task.units_of)
    scores |= agreement_scores(given.split, given.predictions, task.units_of)
    run = run_of(given.predictions)
    if run is not None and (stopped := read_record(run).stopped) is not None:
        scores |= {DRAWN: _drawn(stopped)}
    return _with_failures(scores, "", given.predictions)


def _drawn(stopped: Stopped) -> dict[str, Any]:
    """Return what a run over drawn rows says of all of them, as scores."""
    block = asdict(stopped)
    ends = [block.pop("low"), block.pop("high")]
    return {"n": block.pop("rows"), **block, "interval": {"accuracy": ends}}


def answered_split(task: Task, where: str, config: str | None, predictions: Path) -> str:
    """Return the split that predictions answer: a run's own, or the one that the task knows of."""
    run = run_of(predictions)
    if run is not None:
        return read_record(run).dataset.split
    return (
        "test" if task.answered_split is None else task.answered_split(where, config, predictions)
    )
