"""``pronominal.evaluate`` and ``pronominal.score``, and the `Results` that both return."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from operator import ne
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE
from pronominal.errors import InputError
from pronominal.eval.evaluation import (
    FinishedRunWarning,
    OpenProgress,
    answered,
    answers_to_score,
    companion_rows,
    companion_runs,
    evaluate_systems,
    no_progress,
    rows_known_well,
    score_and_keep,
    score_answers,
)
from pronominal.eval.planning.plan import Plan, read_plan
from pronominal.eval.runs.asked_systems import Asked, asked_systems, with_settings
from pronominal.eval.runs.experiments import Experiment, read_experiment
from pronominal.eval.runs.given_predictions import Predictions, as_file, source_of
from pronominal.eval.runs.record import read_record
from pronominal.eval.runs.units import read_units
from pronominal.eval.scores import as_task, task_of
from pronominal.eval.statistics.outcomes import choices_of, right_choices
from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED, against, refuse_no_margin
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.comparison import CAUSES, FAILED, SAME_WEIGHTS, failed_rows
from pronominal.eval.tables.findings import COMPARED
from pronominal.eval.tables.summary import EXPLORATORY, Summary
from pronominal.eval.tables.table import LATEX_NEEDS, Table
from pronominal.eval.tables.tidy import tidy_scores, tidy_table, write_tidy
from pronominal.eval.task import Answered, Companion, Task
from pronominal.names import unknown_name

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset


@dataclass(frozen=True, slots=True)
class Results:
    """Scores of one system or several on one split.

    Attributes:
        task: how the answers were scored.
        split: the rows.
        scores: label -> scores, as ``score --json`` prints them.
        systems: label -> the system's name.
        answers: label -> what it answered.
        runs: label -> the folder of its run; of those that have one.
        reading: the decision rule; None where the decisions are those of a file.
    """

    task: Task
    split: Split
    scores: Mapping[str, Scores]
    systems: Mapping[str, str]
    answers: Mapping[str, Answered] = field(repr=False)
    runs: Mapping[str, Path] = field(default_factory=dict)
    reading: str | None = None

    def __repr__(self) -> str:
        return self.summary

    @property
    def summary(self) -> str:
        """What the command prints."""
        return str(self._summary())

    def blocks(self, *, full: bool = False) -> Iterator[str | Table]:
        """Yield what the command prints in a terminal; with `full` also all tables.

        The tables of a plan stand before all that is exploratory.
        """
        summary = self._summary(full=full)
        first = self.task.planned_tables(self.scores)
        if not full:
            yield str(summary)
        elif not first:
            yield f"{summary}\n"
            yield from self.tables()
        else:
            yield f"{summary.opening}\n"
            yield from first
            yield f"{summary.body}\n"
            yield from self.tables()[len(first) :]

    def _summary(self, *, full: bool = False) -> Summary:
        """Return what is printed first; with `full`, all tables stand below."""
        split = self.split
        decided = f"decided by {self.reading}" if self.reading else "decisions as they were given"
        decided = "" if split.asks_for_form else f"{decided}, "
        systems = f"{len(self.scores)} system{'s' if len(self.scores) > 1 else ''}"
        about = (
            f"{split.dataset_name}/{split.config}/{split.name}: {split.num_rows:,} rows, "
            f"digest {split.digest[:12]}, {decided}{systems}"
        )
        folders = dict.fromkeys(str(run.parent) for run in self.runs.values())
        tables = "Paired tests, all tables" if len(self.scores) > 1 else "All tables"
        where = "below" if full else "--full (Results.tables())"
        report = f", 'pronominal report {' '.join(folders)}'" if folders else ""
        summary = self.task.summarise(self.scores, about, f"{tables}: {where}{report}.")
        prefix = EXPLORATORY if summary.planned else ""
        equal = (f"{prefix}{one}" for one in self._equal_and_different())
        compared = (*self._without_answers(), *summary.comparisons, *equal)
        return replace(summary, comparisons=compared, tables_follow=full)

    def _equal_and_different(self) -> Iterator[str]:
        """Say in how many rows two systems differ that score the same, or in none: first pairs."""
        headline = self.task.headline_in(self.scores.values())
        figures = {label: headline.of(one) for label, one in self.scores.items()}
        values = {label: figure.value for label, figure in figures.items() if figure is not None}
        pairs = ((a, b) for a, b in combinations(values, 2) if values[a] == values[b])
        for a, b in islice(pairs, COMPARED):
            if b not in self.scores[a].get(SAME_WEIGHTS, {}):
                rows = sum(map(ne, self.answers[a].decisions, self.answers[b].decisions))
                many = "one row" if rows == 1 else f"{rows:,} rows"
                differ = (
                    f"score the same, but differ in {many}" if rows else "answer all rows alike"
                )
                yield f"{a} and {b} {differ}."

    def _without_answers(self) -> Iterator[str]:
        """Say which systems failed at every row, and the first cause."""
        for label, scores in self.scores.items():
            if scores.get(FAILED) == self.split.num_rows:
                cause = scores[CAUSES][""]
                yield f"{label} failed at all {self.split.num_rows:,} rows; the first: {cause}"

    def _repr_html_(self) -> str:
        return self._summary().to_html()

    def to_pandas(self) -> pd.DataFrame:
        """Return tidy scores: one row for each figure."""
        _pandas()
        return self._tidy().to_pandas()

    def _tidy(self) -> pa.Table:
        of, task = self.split, self.task
        about = {"dataset": of.dataset_name, "config": of.config, "split": of.name}
        rows = tidy_scores(
            task.measures, task.units, self.scores, self.systems, **about, digest=of.digest
        )
        return tidy_table(rows)

    def save(self, folder: Path | str) -> Path:
        """Write the tidy scores as ``scores.parquet`` and ``scores.csv``; return the folder."""
        return write_tidy(self._tidy(), Path(folder))

    def rows(self) -> pd.DataFrame:
        """Return a table with one row for each instance and system: what it answered.

        ``label`` is the system's; ``right``, whether it gave the right answer; ``choice``, the
        index of a candidate or option. Texts, pronoun sets and right answers (``label``, too) are
        in ``results.split.to_pandas()``: rename that one, and merge by ``id``.
        """
        pd = _pandas()
        labels, choices = numbers(self.split.table["label"]), self.split.choices
        right = right_choices(labels, len(choices[0]))
        frames = []
        for label, answers in self.answers.items():
            given = [NONE if one is None else one for one in answers.decisions]
            rows = {"id": self.split.table["id"].to_pylist(), "label": label}
            rows |= {"right": choices_of(given) == right}
            rows |= {"choice": pd.array([one.choice for one in given], "Int64")}
            abstained = [one and one.abstained for one in answers.decisions]
            frames.append(pd.DataFrame(rows | {"abstained": abstained}))
        return pd.concat(frames, ignore_index=True)

    def compare(self, a: str, b: str, *, margin: float | None = None) -> dict[str, Any]:
        """Return the paired tests of two systems; differences are `a` minus `b`.

        Args:
            a: label of a system.
            b: label of another one.
            margin: how far apart equivalent systems may be, in (0, 1); of systems that were run.

        Returns:
            Measure -> the fields of `pronominal.eval.statistics.paired_tests.PairedTest`:
            ``difference`` and its ``interval``, in [-1, 1]; ``n`` units, which rows are that stand
            or fall together (an occupation, say); in how many of them `a` got more rows right
            (``only_this``) and in how many `b` did (``only_other``); the ``test``, its ``p`` and
            ``p_holm``, corrected over all pairs of systems in these results, in a plan over the
            planned pairs, and for others over the pairs that it does not name.
        """
        for label in (a, b):
            if label not in self.scores:
                raise unknown_name("system", label, self.scores)
        if a == b:
            raise InputError(f"{a} is compared with itself", cure="name two systems")
        refuse_no_margin(margin)
        one = self.scores[a]
        tests = (one.get(AGAINST, {}), one.get(PLANNED, {}).get(AGAINST, {}))
        found = {
            measure: {**others[b]} for of in tests for measure, others in of.items() if b in others
        }
        if margin is None or not found:
            return found
        units = {label: read_units(self.runs[label]) or {} for label in (a, b)}
        asked = against({m: {label: units[label][m] for label in units} for m in found}, {}, margin)
        return {
            measure: test | {"equivalence": asked[a][measure][b]["equivalence"]}
            for measure, test in found.items()
        }

    def report(self, path: Path | str) -> Path:
        """Write the page about these runs, as their folders have them; return its place.

        Raises:
            InputError: the predictions lie in no run's folder.
        """
        from pronominal.eval.report import report

        return report([*self.runs.values()], path, task=self.task)

    def to_latex(self, *, full: bool = False) -> str:
        """Return the first table for LaTeX, and the headline by case and set.

        The first line says which packages they need; no table is wider than a column of text.

        The best figure of a column is bold where it is better than all others beyond chance. With
        `full`, all tables follow. The tables of a plan stand first.
        """
        first = self.task.planned_tables(self.scores)
        more = self.task.crossed_tables(self.scores)
        if full:
            more = self.tables()[len(first) :]
        split = f"{self.split.dataset_name} {self.split.config} {self.split.name}"
        before, after = (
            [table.to_latex(f"{split} {table.title}") for table in tables]
            for tables in (first, more)
        )
        return "\n".join((LATEX_NEEDS, *before, self._summary().to_latex(), *after))

    def to_markdown(self, *, full: bool = False) -> str:
        """Return what the command prints as Markdown; all tables follow with `full`."""
        first = self.task.planned_tables(self.scores) if full else []
        more = self.tables()[len(first) :] if full else ()
        summary = self._summary().to_markdown(first)
        return "\n".join((summary, *(table.to_markdown() for table in more)))

    def tables(self) -> list[Table]:
        """Return all tables, as ``--full`` prints them."""
        return self.task.comparison_tables(self.scores, crossed=True)

    def failed(self) -> dict[str, int]:
        """Return how many rows each system failed at, those of companion splits included."""
        return {label: sum(failed_rows(one).values()) for label, one in self.scores.items()}


def evaluate(  # noqa: PLR0913 - each one is an option of the command
    dataset: str | Path | Dataset | Split,
    systems: Sequence[Asked] | Asked,
    *,
    config: str | None = None,
    split: str = "test",
    out: Path | str = "runs",
    task: Task | str | None = None,
    reading: str | None = "offsets",
    limit: int | None = None,
    until: float | None = None,
    strict: bool = False,
    margin: float | None = None,
    plan: Path | str | None = None,
    progress: OpenProgress = no_progress,
) -> Results:
    """Run and score several systems on one split, going on with runs that were stopped.

    Args:
        dataset: a built dataset's folder, its id on the Hub, a `datasets.Dataset`, or what
            `load_split` returned.
        systems: names and places as on the command line, dicts of settings with ``system``, or
            objects with a ``name`` and one of the methods of a system.
        config: of the dataset; its default one without.
        split: of the config.
        out: the folder of runs.
        task: a task of your own, or its place, ``module:attribute``.
        reading: the name of the decision rule for clusters and generations; with a plan None is
            the plan's.
        limit: the first rows only, no more than so many, without companion splits.
        until: ask rows as they are drawn at random, until the accuracy of every system over all
            of them is known to so many points: half the width of its interval.
        strict: stop at the first row that a system cannot answer.
        margin: ask of every two systems whether they are closer than so much, in (0, 1).
        plan: a file that ``pronominal plan`` wrote. Its systems, rows and decision rule are taken,
            beside `systems`, of which there may be none; its comparisons are reported first, and
            all others are exploratory.
        progress: takes the name and the size of what is done; returns a context whose value is
            told how much of it is done.

    Raises:
        InputError: a dataset, a system or an answer is not what it should be.
    """
    refuse_no_margin(margin)
    planned: Plan | None = None if plan is None else read_plan(Path(plan))
    asked, objects = asked_systems(systems) if systems or planned is None else ([], {})
    if planned is not None:
        asked = planned.beside(asked)
        config = config or planned.dataset.config
        split = planned.dataset.split if split == "test" else split
        reading = reading or planned.reading
    asked = [one.declaring(objects.get(one.label)) for one in asked]  # reads checkpoints once
    own = as_task(task)
    rows = _rows(dataset, config, split).limited(limit)
    told: dict[str, Any] = {"task": own, "systems": objects, "strict": strict}
    with warnings.catch_warnings():
        if until is not None:
            if planned is not None:
                cause = "a plan says which rows are asked"
                raise InputError(cause, cure="leave out the plan, or --until")
            which = (asked, Path(out), until, reading or "offsets", progress)
            rows = rows_known_well(rows, *which, **told)
            warnings.simplefilter("ignore", FinishedRunWarning)  # they were finished just now
        done = evaluate_systems(
            *(rows, asked, Path(out), reading or "offsets", progress),
            **told,
            plan=planned,
            margin=margin,
        )
    return Results(
        task=task_of(rows.dataset_name, own),
        split=rows,
        scores={label: one.scores for label, one in done.items()},
        systems={one.label: one.name for one in asked},
        answers={label: one.answered for label, one in done.items()},
        runs={label: one.run for label, one in done.items()},
        reading=reading or "offsets",
    )


def evaluate_experiment(
    experiment: Path | str | Experiment, progress: OpenProgress = no_progress
) -> Results:
    """Run what the TOML file of an experiment says, and save what it says is saved.

    Args:
        experiment: the file, or what `read_experiment` read.
        progress: as in `evaluate`.

    Raises:
        InputError: the file, or what it asks for, is not what it should be.
    """
    read = experiment if isinstance(experiment, Experiment) else read_experiment(Path(experiment))
    options = {"reading": None, **read.options}
    place, where = options.pop("dataset", None), options.pop("save", None)
    if place is None:
        raise InputError("no dataset is given", cure="add --dataset FOLDER")
    asked = with_settings(read.systems, read.settings)
    if not asked and "plan" not in options:
        raise InputError("no system is given", cure="add --system NAME or --systems FILE")
    made = evaluate(place, asked, **options, progress=progress)
    if where is not None:
        made.save(where)
    return made


def score(  # noqa: PLR0913 - each one is an option of the command
    dataset: str | Path | Dataset | Split,
    predictions: Predictions,
    *,
    config: str | None = None,
    split: str = "test",
    task: Task | str | None = None,
    reading: str | None = None,
    keep: bool = False,
    **options: Any,
) -> Results:
    """Score predictions with the dataset's own metrics.

    Args:
        dataset: a built dataset's folder, its id on the Hub, a `datasets.Dataset`, or what
            `load_split` returned.
        predictions: a predictions file, the folder of a run, or a list of dicts with ``id``,
            ``choice`` and ``abstained``.
        config: of the dataset; its default one without.
        split: of the config.
        task: a task of your own, or its place, ``module:attribute``.
        reading: the decision rule by which clusters become decisions; None for the decisions that
            the predictions have.
        keep: keep the scores in the run's folder, where reports find them; only of a run, as it
            was made.
        options: of the task, such as ``upstream_groups``, and answers to its companion splits, such
            as ``switched``: predictions, or ``(rows, predictions)`` where the rows are not in the
            same dataset's folder. None is as good as not given: of a run's folder, answers are
            then those of the same system's runs beside it, if there are any.

    Raises:
        InputError: the predictions are not valid, the task has no such option, or the scores
            cannot be kept.
    """
    rows, own = _rows(dataset, config, split), as_task(task)
    scoring = task_of(rows.dataset_name, own)
    given = {name: value for name, value in options.items() if value is not None}
    scoring.refuse_unknown(given)
    label, system, run = source_of(predictions)
    given = given if run is None else companion_runs(scoring, rows, run) | given
    values = {one.name: one.value(given[one.name]) for one in scoring.options if one.name in given}
    with ExitStack() as files:
        companions = {
            one.name: _companion_answers(one, rows, given[one.name], reading, files)
            for one in scoring.companions
            if one.name in given
        }
        file = files.enter_context(as_file(predictions, "predictions"))
        if keep:
            if run is None or reading is not None or values:
                cause = "only the scores of a run, as it was made, can be kept"
                raise InputError(cause, cure="give its folder, and no reading or option", file=file)
            done = score_and_keep(rows, run, companions, scoring)
            answers, scores = done.answered, done.scores
        else:
            answers = answers_to_score(scoring, rows, file, values, reading, companions)
            scores = score_answers(scoring, answers)
    runs = {} if run is None else {label: run}
    if reading is None and run is not None:
        reading = read_record(run).settings.get("reading")
    parts = ({label: scores}, {label: system}, {label: answers}, runs)
    return Results(scoring, rows, *parts, reading=reading)


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise InputError("this needs pandas", cure="pip install pandas") from error
    return pandas


def _rows(dataset: str | Path | Dataset | Split, config: str | None, split: str) -> Split:
    return dataset if isinstance(dataset, Split) else load_split(dataset, config, split)


def _companion_answers(
    companion: Companion, split: Split, given: Any, reading: str | None, files: ExitStack
) -> Answered:
    """Return the answers to a companion split: predictions, or ``(rows, predictions)``."""
    rows, predictions = given if isinstance(given, tuple) and len(given) == 2 else (None, given)
    file = files.enter_context(as_file(predictions, companion.name))
    if rows is None:
        rows = companion_rows(companion, split)
    return answered(_rows(rows, companion.config, companion.split or split.name), file, reading)
