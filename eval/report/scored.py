"""The runs that a report shows, grouped by the rows that they answer."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.evaluation import answered, with_comparisons
from pronominal.eval.runs.record import RunRecord, read_record
from pronominal.eval.runs.scored import AGAIN, read_scores, score_files
from pronominal.eval.runs.units import UNITS, read_units
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Scores
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
    """

    dataset: str
    config: str
    split: str
    digest: str
    task: Task
    scores: dict[str, Scores] = field(default_factory=dict)
    runs: dict[str, RunRecord] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Config and split."""
        return f"{self.dataset} / {self.config} / {self.split}"


def read_comparisons(folders: Iterable[Path], task: Task | None = None) -> list[Comparison]:
    """Read every scored run in some folders, at any depth; a folder may be a run itself.

    `task` is that of datasets that have none of ours. `InputError` where two runs of the same rows
    have one label.
    """
    found: dict[tuple[str, ...], Comparison] = {}
    for folder in folders:
        for file in score_files(folder):
            _add(found, file, task)
    return [found[key] for key in sorted(found)]


def _add(found: dict[tuple[str, ...], Comparison], file: Path, own: Task | None) -> None:
    run, scores = read_record(file.parent), read_scores(file)
    rows, label = run.dataset, run.label
    key = (rows.name, rows.config, rows.split, rows.digest)
    if key not in found:
        found[key] = Comparison(*key, task_of(rows.name, own))
    comparison = found[key]
    comparison.task.refuse_other_scores(scores, file)
    earlier = comparison.folders.setdefault(label, file.parent)
    if earlier.resolve() != file.parent.resolve():
        cause = f"this run and that in {earlier} are both called {label}"
        cure = "evaluate one of them under another label"
        raise InputError(cause, cure=cure, file=file.parent)
    comparison.scores[label], comparison.runs[label] = scores, run


def rows_of(comparisons: Sequence[Comparison], datasets: Iterable[str]) -> dict[str, Split]:
    """Return the rows that runs answered by their digest; `InputError` for a dataset with none."""
    found: dict[str, Split] = {}
    for place in datasets:
        there = [*_default_split(place)]
        known = {split.dataset_name for split in there}
        there += _splits(place, [c for c in comparisons if not known or c.dataset in known])
        if not there:
            load_split(place)  # says what is wrong with it
        answered = {one.digest for one in comparisons}
        matching = {split.digest: split for split in there if split.digest in answered}
        if not matching:
            raise _other_rows(place, there[-1], comparisons)
        found |= matching
    return found


def _default_split(place: str) -> Iterator[Split]:
    with suppress(MissingSplitError):  # it has no split "test", as many that users construct
        yield load_split(place)


def _splits(place: str, comparisons: Iterable[Comparison]) -> Iterator[Split]:
    for one in comparisons:
        with suppress(MissingSplitError):  # it was built without this config or split
            yield load_split(place, one.config, one.split)


def _other_rows(place: str, split: Split, comparisons: Sequence[Comparison]) -> InputError:
    of_it = [one for one in comparisons if one.dataset == split.dataset_name] or comparisons
    runs = ", ".join(f"{one.title.replace(' / ', '/')} ({one.digest[:12]})" for one in of_it)
    has = f"{split.dataset_name}/{split.config}/{split.name} ({split.digest[:12]})"
    cause = f"it has {has}, and no run is of its rows; the runs are of {runs}"
    return InputError(cause, cure="give the folder that they were run on", file=place)


def add_tests(comparison: Comparison, split: Split | None, margin: float | None = None) -> None:
    """Test every two systems against each other, and ask what is asked of all of them together.

    Args:
        comparison: its scores get what `with_comparisons` adds.
        split: its rows, for runs without stored units.
        margin: how far apart equivalent systems may be, in (0, 1).
    """
    scores, task = comparison.scores, comparison.task
    right: dict[str, dict[str, PairedUnits]] = {}
    for label, folder in comparison.folders.items():
        units = read_units(folder)
        if units is None and split is not None and task.paired_units is not None:
            units = dict(task.paired_units(answered(split, folder)))
        for measure, shares in (units or {}).items():
            right.setdefault(measure, {})[label] = shares
    for measure, systems in right.items():
        if len({len(shares) for shares in systems.values()}) > 1:
            cause = f"its units of {measure} are not those of the runs beside it"
            file = comparison.folders[next(iter(systems))] / UNITS
            raise InputError(cause, cure=AGAIN, file=file)
    right = {measure: systems for measure, systems in right.items() if len(systems) > 1}
    comparison.scores.update(with_comparisons(task, scores, right, margin=margin))
