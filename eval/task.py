"""A task: what is asked of a dataset's rows, and how answers to them are scored.

Overview, comparison tables, charts, model cards, tidy scores and the command line's options follow
from it. A task of your own is the same kind of object.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.adapters.catalogue.own_object import object_at
from pronominal.adapters.contract.prints import printing_on_stderr
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.errors import InputError, raised
from pronominal.eval.runs.predictions import Prediction, read_predictions
from pronominal.eval.statistics.outcomes import IntArray
from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED, PairedUnits
from pronominal.eval.statistics.scores import Scores, plain
from pronominal.eval.statistics.units import Units
from pronominal.eval.tables.ability import Ability
from pronominal.eval.tables.agreement import agreement_notes, agreement_tables
from pronominal.eval.tables.best import best_first, crossed_tables
from pronominal.eval.tables.charts import Chart, Curves
from pronominal.eval.tables.comparison import (
    DIFFER,
    drawn_notes,
    failure_notes,
    measure_table,
    prompt_tables,
    unfinished_notes,
    unread_notes,
)
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.paired_tests import paired_test_tables, planned_tables, rank_tables
from pronominal.eval.tables.summary import LINES, Summary, summarised
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import Table
from pronominal.names import nearest_name
from pronominal.settings import Option

ScoreChoices = Callable[[Split, IntArray], Mapping[str, Any]]
"""Takes rows and the choices of several prompts, ``[rows, prompts]``; returns scores over all."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The rows of a split, and what a system answered to them.

    Attributes:
        split: the rows.
        decisions: one for each row, in order; None for a row without a prediction, where the
            task `allows_missing` ones.
        predictions: the file of the answers, or the run's folder; None for answers from elsewhere.
        companions: the same system's answers to companion splits, by the companion's name.
        options: what the user has set, by the option's name.
    """

    split: Split
    decisions: Sequence[Decision | None]
    predictions: Path | None = None
    companions: Mapping[str, "Answered"] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> pa.Table:
        """The rows as a table."""
        return self.split.table

    @property
    def pair(self) -> tuple[pa.Table, Sequence[Any]]:
        """The rows as a table, and their decisions."""
        return self.split.table, self.decisions

    def companion(self, name: str) -> tuple[pa.Table, Sequence[Any]] | None:
        """Return the rows of a companion split and their decisions; None without answers to it."""
        return self.companions[name].pair if name in self.companions else None

    def given(self) -> Iterator[Prediction]:
        """Yield what the file of predictions says of each row, in the order of the file."""
        if self.predictions is not None:
            yield from (prediction for _, prediction in read_predictions(self.predictions))


@dataclass(frozen=True, slots=True)
class Companion:
    """Rows beside a split whose answers its scores use, such as KnowRef's switched rows.

    Attributes:
        name: of the command line's option, and in `Answered.companions`.
        of: the configs whose scores use them, as a pattern such as ``distractors_*``.
        config: where the rows are.
        split: of the config; None for the split of the same name.
        meaning: what the command line says of the option.
    """

    name: str
    of: str
    config: str
    split: str | None = None
    meaning: str = ""

    def fits(self, config: str) -> bool:
        """Whether the scores of a config use these rows."""
        return fnmatchcase(config, self.of)


@dataclass(frozen=True, slots=True)
class Task:
    """A dataset's question and its scores.

    Attributes:
        name: of the task, which a run's scores keep.
        score: takes answered rows; returns their scores, whose shares are in [0, 1].
        measures: the numbers of the scores that are shown and exported.
        headline: key of the measure that stands for the task; where scores lack it, the first one
            of the measures that they have does. A measure with the key ``answered`` stands beside.
        units: over what intervals sum, in words, such as occupations.
        units_of: takes rows; returns these units, for what is scored the same way for every task.
            Without it each row is one.
        paired_units: takes answered rows; returns, by the measure's key, how much of each
            independent unit is right: in [0, 1] or, where units have several rows, as part and
            whole, shape ``[units, 2]``. Units are the same, in order, for every system.
        companions: rows beside the split whose answers the scores use.
        options: what a user may set.
        summary: the columns of the table that is printed first, beside the headline and the share
            of answered rows; where it says none, the headline's parts and the measures.
        remarks: takes system -> scores; returns sentences on what stands out, beyond those that
            follow from the summary's columns.
        notes: takes system -> scores; returns what has to be known to read the figures.
        tables: takes system -> scores; returns tables beyond those that follow from measures.
        charts: takes system -> scores; returns charts beyond those that follow from measures.
        curves: how measures are drawn over the configs of the dataset.
        consistency: key of the measure that says whether rows are right together, which a report
            shows first beside the headline.
        parts: the division of the headline whose worst part a report shows first.
        ability: what a model that is good at it can do, for the profile of a model.
        across_systems: takes system -> scores; returns what is asked of all systems together.
        columns: of the rows, which scores need beside those that all rows have.
        refuse: raises `InputError` for rows that cannot be scored.
        answered_split: takes the dataset, the config and predictions that are no run of ours;
            returns the split that they answer. ``test`` where a task does not say.
        score_choices: takes rows and the choices of several prompts, shape ``[rows, prompts]``;
            returns the scores over all answers together.
        allows_missing: name of the option with which rows without a prediction are scored, too.
        title: what model cards call the task; its name without.
        hub_task: the type of the task on the Hub.

    Raises:
        InputError: the headline is no measure, two measures have one key, or two options or
            companions one name.
    """

    name: str
    score: Callable[[Answered], Mapping[str, Any]]
    measures: tuple[Measure, ...]
    headline: str
    units: str = "rows"
    units_of: Callable[[pa.Table], Units] | None = None
    paired_units: Callable[[Answered], Mapping[str, PairedUnits]] | None = None
    companions: tuple[Companion, ...] = ()
    options: tuple[Option, ...] = ()
    summary: tuple[SummaryColumn, ...] = ()
    remarks: Callable[[Mapping[str, Scores]], Iterable[str]] | None = None
    notes: Callable[[Mapping[str, Scores]], Iterable[str]] | None = None
    tables: Callable[[Mapping[str, Scores]], Iterable[Table]] | None = None
    charts: Callable[[Mapping[str, Scores]], Iterable[Chart]] | None = None
    curves: Curves | None = None
    consistency: str | None = None
    parts: str | None = None
    ability: Ability | None = None
    across_systems: Callable[[Mapping[str, Scores]], Mapping[str, Any]] | None = None
    columns: tuple[str, ...] = ()
    refuse: Callable[[Split], None] | None = None
    answered_split: Callable[[str, str | None, Path], str] | None = None
    score_choices: ScoreChoices | None = None
    allows_missing: str | None = None
    title: str | None = None
    hub_task: str = "coreference-resolution"

    def __post_init__(self) -> None:
        keys = [measure.key for measure in self.measures]
        names = [*(one.name for one in self.options), *(one.name for one in self.companions)]
        for kind, given in (("measure", keys), ("option or companion", names)):
            if twice := next((one for one in given if given.count(one) > 1), None):
                cause = f"the task {self.name} has two {kind}s called {twice!r}"
                raise InputError(cause, cure="give one another name")
        if self.headline not in keys:
            cure = f"choose one of {', '.join(keys)}" if keys else "give the task a measure"
            cause = (
                f"the headline of the task {self.name} is {self.headline!r}, which is no measure"
            )
            raise InputError(cause, cure=cure)

    @property
    def headline_measure(self) -> Measure:
        """The measure that stands for the task."""
        return next(measure for measure in self.measures if measure.key == self.headline)

    def headline_in(self, scores: Iterable[Scores]) -> Measure:
        """Return the measure that stands for the task in some scores."""
        shares = (measure for measure in self.measures if measure.unit != "count")
        first, given = (self.headline_measure, *shares), [*scores]
        there = (measure for measure in first if any(map(measure.of, given)))
        return next(there, self.headline_measure)

    @property
    def answered_measure(self) -> Measure | None:
        """The measure of how many rows were answered, which no headline goes without."""
        return self._measure("answered")

    @property
    def consistency_measure(self) -> Measure | None:
        """The measure of whether rows are right together."""
        return None if self.consistency is None else self._measure(self.consistency)

    def _measure(self, key: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.key == key), None)

    def refuse_rows(self, split: Split) -> None:
        """Raise `InputError` for rows that cannot be scored."""
        if lacking := [name for name in self.columns if name not in split.schema.names]:
            cause = f"the task {self.name} needs the columns {', '.join(lacking)}"
            raise InputError(cause, cure="add them, or choose another task", file=split.file)
        if self.refuse is not None:
            self.refuse(split)

    def scores_of(self, answered: Answered) -> Scores:
        """Score answered rows.

        Raises:
            InputError: the rows cannot be scored, or what `score` returned are no scores: a field
                is no number, word or block, or there is none of the measures.
        """
        self.refuse_rows(answered.split)
        content = self.score(answered)
        if not isinstance(content, Mapping):
            raise self._wrong(f"is a {type(content).__name__}", "return a mapping")
        scores = Scores(plain(content))
        if (field := scores.mismatch()) is not None:
            cure = "give a number, None where it is undefined, a word, or a block of these"
            raise self._wrong(f"has the field {field}, which fits no scores", cure)
        if not self.is_in(scores):
            paths = ", ".join(".".join(measure.path) for measure in self.measures)
            raise self._wrong("has none of the task's measures", f"fill one of {paths}")
        return scores

    def checked_units(self, answered: Answered) -> dict[str, PairedUnits]:
        """Return what `paired_units` says of answered rows; `InputError` for what are no units."""
        units = {} if self.paired_units is None else self.paired_units(answered)
        return {key: self._checked(key, shares) for key, shares in units.items()}

    def _checked(self, key: str, shares: Any) -> PairedUnits:
        with suppress(ValueError):  # lists of several lengths
            made = np.asarray(shares)
            numbers = made.dtype.kind in "biuf" and bool((made >= 0).all())
            if numbers and made.ndim == 1 and bool((made <= 1).all()):
                return made.astype(bool) if made.dtype.kind in "iu" else made
            parts = numbers and made.ndim == 2 and made.shape[1] == 2
            if parts and bool((made[:, 0] <= made[:, 1]).all()):
                return made
        cause = f"the paired units of the task {self.name} for {key} are no shares"
        raise InputError(cause, cure="give one number in [0, 1] for each unit, or part and whole")

    def _wrong(self, cause: str, cure: str) -> InputError:
        return InputError(f"the score of the task {self.name} {cause}", cure=cure)

    def is_in(self, scores: Scores) -> bool:
        """Whether scores have one of the measures."""
        return any(scores.has(measure.path) for measure in self.measures)

    def refuse_other_scores(self, scores: Scores, file: Path) -> None:
        """Raise `InputError` for scores that have none of the measures, or fit no table of them."""
        cause, cure = (
            f"it holds no scores of the task {self.name}",
            "run 'pronominal evaluate' again",
        )
        if not self.is_in(scores):
            raise InputError(cause, cure=cure, file=file)
        try:
            others = {name for tests in scores.get(AGAINST, {}).values() for name in tests}
            self.comparison_tables({"": scores, **dict.fromkeys(others, scores)})
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            # what a measure of the task stands for is known to its tables alone
            raise InputError(f"{cause} ({raised(error)})", cure=cure, file=file) from error

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """Raise `InputError` for a name that is neither an option nor a companion of the task."""
        known = {*(one.name for one in self.options), *(one.name for one in self.companions)}
        for name in names:
            if name not in known:
                cause = f"the scores of {self.name} have no option '{name}'"
                raise InputError(cause, cure=nearest_name(name, known) if known else "leave it out")

    def summarise(self, scores: Mapping[str, Scores], about: str, rest: str) -> Summary:
        """Return what is printed first of scores; see `summarised` for the texts."""
        headline, answered = self.headline_in(scores.values()), self.answered_measure
        if len(scores) > LINES - 3:  # no room for all
            scores = best_first(headline, scores)
        shown = self.summary or tuple(self._usual_summary(headline))
        if answered is not None:
            shown = (SummaryColumn(answered), *(c for c in shown if c.measure != answered))
        return summarised(
            about,
            headline,
            tuple(c for c in shown if c.division or c.measure != headline),
            scores,
            measures=self.measures,
            units=self.units,
            remarks=() if self.remarks is None else self.remarks(scores),
            notes=(
                *(() if self.notes is None else self.notes(scores)),
                *unfinished_notes(scores, self._measure("unfinished")),
                *unread_notes(scores, answered),
                *agreement_notes(scores),
                *drawn_notes(scores),
                *failure_notes(scores),
            ),
            rest=rest,
        )

    def _usual_summary(self, headline: Measure) -> Iterator[SummaryColumn]:
        """Yield the summary's columns of a task that says none."""
        for division in headline.chart_divisions:
            if "/" not in division:
                group = f"by {division.replace('_', ' ')}"
                yield SummaryColumn(headline, division=division, group=group)
        yield from (SummaryColumn(one) for one in self.measures if one.in_table)

    def crossed_tables(self, scores: Mapping[str, Scores]) -> list[Table]:
        """Return the headline by two kinds of part at once, where its measure has such parts."""
        return [*crossed_tables(self.headline_in(scores.values()), scores)]

    def comparison_tables(
        self, scores: Mapping[str, Scores], *, tests: bool = True, crossed: bool = False
    ) -> list[Table]:
        """Compare systems, given as system -> scores; with `tests` also two by two.

        With `crossed` also `crossed_tables`, which a page has below its charts.
        What was planned stands first, and all else is called exploratory then.
        """
        first = self.planned_tables(scores)
        shown = [measure for measure in self.measures if measure.in_table]
        made = [*measure_table("Performance", [*shown, DIFFER], self.units, scores)]
        made += self.crossed_tables(scores) if crossed else []
        made += [] if self.tables is None else self.tables(scores)
        made += prompt_tables(scores)
        made += agreement_tables(scores)
        made += paired_test_tables(scores) if tests else []
        made += rank_tables(scores)
        prefix = "Exploratory: " if first else ""
        notes = (*drawn_notes(scores), *failure_notes(scores))
        made = [
            replace(table, title=f"{prefix}{table.title}", notes=(*table.notes, *notes))
            for table in made
        ]
        return [*first, *made]

    def planned_tables(self, scores: Mapping[str, Scores]) -> list[Table]:
        """Show the comparisons of a plan, of scores that have some."""
        planned = {label: one[PLANNED] for label, one in scores.items() if PLANNED in one}
        notes = (*drawn_notes(scores), *failure_notes(scores))
        return [replace(table, notes=(*table.notes, *notes)) for table in planned_tables(planned)]


def load_task(place: str) -> Task:
    """Return a user's own task; what its functions print goes to stderr.

    Args:
        place: ``module:attribute``; modules in the current directory are found, too.

    Raises:
        InputError: there is no such place, or what is there is no `Task`.
    """
    task = object_at(place)
    if not isinstance(task, Task):
        raise InputError(f"{place} is no task", cure="name an object made by pronominal.Task(...)")
    own: dict[str, Any] = {one.name: getattr(task, one.name) for one in fields(task)}
    own |= {name: printing_on_stderr(one) for name, one in own.items() if callable(one)}
    return replace(task, **own)
