"""The runs that a report shows, grouped by the rows that they answer."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.evaluation import answered, with_comparisons
from pronominal.eval.planning.plan import Plan, kept_plans
from pronominal.eval.runs.record import RunRecord, read_record
from pronominal.eval.runs.scored import AGAIN, Run, read_runs
from pronominal.eval.runs.units import SCORE, UNITS, read_units
from pronominal.eval.scores import TASK, task_of_run
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.best import best_first
from pronominal.eval.task import Task


@dataclass(frozen=True, slots=True)
class Comparison:
    """The systems that were run on one split.

    Attributes:
        dataset: its name.
        config: of it.
        split: of the config.
        digest: of the rows; the same names may stand for those of another build.
        task: how they are scored.
        scores: label -> what ``score.json`` says.
        runs: label -> the content of ``run.json``.
        folders: label -> the run's folder.
        notes: what the page says of them.
    """

    dataset: str
    config: str
    split: str
    digest: str
    task: Task
    scores: dict[str, Scores] = field(default_factory=dict)
    runs: dict[str, RunRecord] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> tuple[str, str, str, str]:
        """Dataset, config, split and digest of the rows."""
        return self.dataset, self.config, self.split, self.digest

    @property
    def title(self) -> str:
        """Config and split."""
        return f"{self.dataset} / {self.config} / {self.split}"


def read_comparisons(folders: Iterable[Path], tasks: Sequence[Task] = ()) -> list[Comparison]:
    """Read every scored run in some folders, at any depth; a folder may be a run itself.

    `tasks` are a user's own, found by the name that a run's scores have. The systems of a split
    stand in the order of its headline, the best one first.

    Raises:
        InputError: a folder has no run, one is damaged or was scored by an unknown task, or two of
            the same rows have one label or different tasks.
    """
    comparisons: dict[tuple[str, ...], Comparison] = {}
    if not (places := [*folders]):
        raise InputError("there are no runs to report", cure="give the folder of some")
    for folder in places:
        for run in read_runs(folder):
            _add(comparisons, run, tasks)
    return [_best_first(comparisons[key]) for key in sorted(comparisons)]


def _best_first(one: Comparison) -> Comparison:
    scores = best_first(one.task.headline_in(one.scores.values()), one.scores)
    return replace(
        one,
        scores=scores,
        runs={label: one.runs[label] for label in scores},
        folders={label: one.folders[label] for label in scores},
    )


def _add(comparisons: dict[tuple[str, ...], Comparison], run: Run, own: Sequence[Task]) -> None:
    record, label = read_record(run.folder), run.label
    rows = record.dataset
    key = (rows.name, rows.config, rows.split, rows.digest)
    task = task_of_run(rows.name, run.scores.get(TASK), own)
    comparison = comparisons.setdefault(key, Comparison(*key, task))
    if comparison.task is not task:
        cause = f"this run was scored by {task.name}, and another one by {comparison.task.name}"
        raise InputError(cause, cure="evaluate them by the same task", file=run.folder)
    task.refuse_other_scores(run.scores, run.folder / SCORE)
    earlier = comparison.folders.setdefault(label, run.folder)
    if earlier.resolve() != run.folder.resolve():
        cause = f"this run and that in {earlier} are both called {label}"
        cure = "evaluate one of them under another label"
        raise InputError(cause, cure=cure, file=run.folder)
    comparison.scores[label], comparison.runs[label] = run.scores, record


def rows_of(comparisons: Sequence[Comparison], datasets: Iterable[str]) -> dict[str, Split]:
    """Return the rows that runs answered by their digest; `InputError` for a dataset with none."""
    rows: dict[str, Split] = {}
    for place in datasets:
        splits = [*_default_split(place)]
        names = {split.dataset_name for split in splits}
        splits += _splits(place, [c for c in comparisons if not names or c.dataset in names])
        if not splits:
            load_split(place)  # says what is wrong with it
        digests = {comparison.digest for comparison in comparisons}
        matching = {split.digest: split for split in splits if split.digest in digests}
        if not matching:
            raise _other_rows(place, splits[-1], comparisons)
        rows |= matching
    return rows


def _default_split(place: str) -> Iterator[Split]:
    with suppress(MissingSplitError):  # it has no split "test", as many that users construct
        yield load_split(place)


def _splits(place: str, comparisons: Iterable[Comparison]) -> Iterator[Split]:
    for comparison in comparisons:
        with suppress(MissingSplitError):  # it was built without this config or split
            yield load_split(place, comparison.config, comparison.split)


def _other_rows(place: str, split: Split, comparisons: Sequence[Comparison]) -> InputError:
    of_it = [one for one in comparisons if one.dataset == split.dataset_name] or comparisons
    runs = ", ".join(f"{one.title.replace(' / ', '/')} ({one.digest[:12]})" for one in of_it)
    has = f"{split.dataset_name}/{split.config}/{split.name} ({split.digest[:12]})"
    cause = f"it has {has}, and no run is of its rows; the runs are of {runs}"
    return InputError(cause, cure="give the folder that they were run on", file=place)


def add_tests(
    comparison: Comparison,
    split: Split | None,
    margin: float | None = None,
    plan: Plan | None = None,
) -> None:
    """Test every two systems against each other, and ask what is asked of all of them together.

    Args:
        comparison: its scores get what `with_comparisons` adds.
        split: its rows, for runs without stored units.
        margin: how far apart equivalent systems may be, in (0, 1).
        plan: the comparisons that were planned for these rows; see `kept_plan`.
    """
    if plan is not None:
        plan.refuse_other_runs(comparison.runs)
        if margin not in (None, plan.margin):
            told = "The planned comparisons are not by the margin of this report, but as planned."
            comparison.notes.append(told)
    scores, task = comparison.scores, comparison.task
    units: dict[str, dict[str, PairedUnits]] = {}
    for label, folder in comparison.folders.items():
        kept = read_units(folder)
        if kept is None and split is not None:
            kept = task.checked_units(answered(split, folder))
        for measure, shares in (kept or {}).items():
            units.setdefault(measure, {})[label] = shares
    for measure, systems in units.items():
        if len({len(shares) for shares in systems.values()}) > 1:
            cause = f"its units of {measure} are not those of the runs beside it"
            file = comparison.folders[next(iter(systems))] / UNITS
            raise InputError(cause, cure=AGAIN, file=file)
    units = {measure: systems for measure, systems in units.items() if len(systems) > 1}
    comparison.scores.update(with_comparisons(task, scores, units, plan, margin))


def kept_plan(comparison: Comparison) -> Plan | None:
    """Return the plan that lies with the runs; none where there are several, or a run is missing.

    Which of them is shown is not left to chance: the page says that there are some.
    """
    plans = kept_plans(comparison.folders.values(), comparison.rows)
    if not plans:
        return None
    if len(plans) > 1:
        digests = ", ".join(plan.digest[:16] for plan in plans)
        comparison.notes.append(f"The runs have several plans ({digests}): name one with --plan.")
        return None
    (plan,) = plans
    absent = [label for label in plan.systems if label not in comparison.runs]
    if absent:
        told = f"The plan {plan.digest[:16]} is not shown: no run here is called"
        comparison.notes.append(f"{told} {', '.join(absent)}.")
        return None
    return plan
