"""``pronominal.evaluate`` and ``pronominal.score``, and the `Results` that both return."""

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console

from pronominal.adapters import System
from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError, unknown_name
from pronominal.eval.evaluation import evaluate_all, score_predictions, task_options
from pronominal.eval.runs.answers import read_answers
from pronominal.eval.runs.asked_systems import parse_systems, refuse_unknown, system_of_settings
from pronominal.eval.runs.record import run_name
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.units import read_units
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.outcomes import choices_of, right_choices
from pronominal.eval.statistics.paired_tests import AGAINST, against
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.table import Table
from pronominal.eval.tables.tidy import tidy_rows
from pronominal.eval.task import Task, load_task

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

Asked = str | Mapping[str, Any] | System
"""A system: as the command line has it, a table of settings with ``system``, or an object."""


@dataclass(frozen=True, slots=True)
class Results:
    """Scores of one system or several on one split.

    Attributes:
        task: how the answers were scored.
        split: the rows.
        scores: label -> scores, as ``score --json`` prints them.
        systems: label -> the system's name.
        runs: label -> the folder of its run; of those that were run.
    """

    task: Task
    split: Split
    scores: Mapping[str, Scores]
    systems: Mapping[str, str]
    runs: Mapping[str, Path] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What the command prints."""
        console = Console(file=io.StringIO(), width=120)
        for table in self._tables():
            console.print(table.to_rich())
        return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]

    def to_pandas(self) -> "pd.DataFrame":
        """Return tidy scores: one row for each figure (CONTRACT, section 7)."""
        pd = _pandas()
        about = {"dataset": self.split.dataset_name, "config": self.split.config}
        about |= {"split": self.split.name}
        digest = {"digest": self.split.digest}
        rows = [
            {"system": self.systems[label], "label": label, **about, **row}
            | {"unit": scores.get("intervals", {}).get("unit", self.task.units), **digest}
            for label, scores in self.scores.items()
            for row in tidy_rows(self.task.measures, scores)
        ]
        return pd.DataFrame(rows)

    def save(self, folder: Path | str) -> Path:
        """Write the tidy scores as ``scores.parquet`` and ``scores.csv``; return the folder."""
        table, where = self.to_pandas(), Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        for name, write in (("parquet", table.to_parquet), ("csv", table.to_csv)):
            with new_file(where / f"scores.{name}") as beside:
                write(beside, index=False)
        return where

    def rows(self) -> "pd.DataFrame":
        """Return a table with one row for each instance and system: what it answered."""
        pd = _pandas()
        table = self.split.table
        column = table["options" if "options" in table.column_names else "candidates"]
        right = right_choices(table["label"].to_numpy(), len(column[0]))
        found = []
        for label, run in self.runs.items():
            decisions = read_answers(run, self.split)
            rows = {"id": table["id"].to_pylist(), "label": label}
            rows |= {"right": choices_of(decisions) == right}
            rows |= {"choice": pd.array([one.choice for one in decisions], "Int64")}
            found.append(pd.DataFrame(rows | {"abstained": [one.abstained for one in decisions]}))
        return pd.concat(found, ignore_index=True)

    def compare(self, a: str, b: str, *, margin: float | None = None) -> dict[str, Any]:
        """Return the paired tests of two systems; differences are `a` minus `b`.

        Args:
            a: label of a system.
            b: label of another one.
            margin: how far apart equivalent systems may be, in (0, 1); of systems that were run.

        Returns:
            Measure -> the fields of `PairedTest`; p-values are corrected over all pairs of
            systems in these results.
        """
        for label in (a, b):
            if label not in self.scores:
                raise unknown_name("system", label, self.scores)
        tests = self.scores[a].get(AGAINST, {})
        found = {measure: others[b] for measure, others in tests.items() if b in others}
        if margin is None or not found:
            return found
        units = {label: read_units(self.runs[label]) or {} for label in (a, b)}
        asked = against({m: {label: units[label][m] for label in units} for m in found}, {}, margin)
        return {
            measure: test | {"equivalence": asked[a][measure][b]["equivalence"]}
            for measure, test in found.items()
        }

    def report(self, path: Path | str) -> Path:
        """Write the page about these runs; return its place."""
        from pronominal.eval.report import report

        return report([*self.runs.values()], path, task=self.task)

    def to_latex(self) -> str:
        """Return the tables of the summary for LaTeX, with ``booktabs``."""
        return "\n".join(table.to_latex() for table in self._tables())

    def to_markdown(self) -> str:
        """Return the tables of the summary as Markdown."""
        return "\n".join(table.to_markdown() for table in self._tables())

    def _tables(self) -> list[Table]:
        return self.task.comparison_tables(self.scores)


def evaluate(  # noqa: PLR0913 - CONTRACT, section 7
    dataset: "str | Path | Dataset",
    systems: Sequence[Asked],
    *,
    config: str | None = None,
    split: str = "test",
    out: Path | str = "runs",
    task: Task | str | None = None,
    reading: str = "offsets",
    limit: int | None = None,
) -> Results:
    """Run and score several systems on one split, going on with runs that were stopped.

    Args:
        dataset: a built dataset's folder, its id on the Hub, or a `datasets.Dataset`.
        systems: names and places as on the command line, dicts of settings with ``system``, or
            objects with a ``name`` and one of the methods of a system.
        config: of the dataset; its default one without.
        split: of the config.
        out: the folder of runs.
        task: a task of your own, or its place, ``module:attribute``.
        reading: the name of the decision rule for clusters and generations.
        limit: the first rows only, no more than so many, without companion splits.

    Raises:
        InputError: a dataset, a system or an answer is not what it should be.
    """
    rows = load_split(dataset, config, split)
    if limit is not None:
        rows = rows.first(limit)
    scoring = _task(task, rows)
    asked, objects = _asked(systems)
    scores = evaluate_all(
        rows, asked, Path(out), reading, lambda *_: nullcontext(lambda done: None),
        task=scoring, systems=objects,
    )  # fmt: skip
    runs = {one.label: Path(out) / run_name(rows, one.label) for one in asked}
    return Results(scoring, rows, scores, {one.label: one.name for one in asked}, runs)


def score(
    dataset: "str | Path | Dataset",
    predictions: Path | str | Sequence[Mapping[str, Any]],
    *,
    config: str | None = None,
    split: str = "test",
    task: Task | str | None = None,
    **options: Any,
) -> Results:
    """Score predictions with the dataset's own metrics.

    Args:
        dataset: a built dataset's folder, its id on the Hub, or a `datasets.Dataset`.
        predictions: a predictions file, the folder of a run, or a list of dicts with ``id``,
            ``choice`` and ``abstained``.
        config: of the dataset; its default one without.
        split: of the config.
        task: a task of your own, or its place, ``module:attribute``.
        options: of the task, such as ``upstream_groups``, and answers to its companion splits,
            such as ``switched``.

    Raises:
        InputError: the predictions are not valid, or the task has no such option.
    """
    rows = load_split(dataset, config, split)
    scoring = _task(task, rows)
    given, companions = task_options(scoring, rows, str(dataset), options)
    with TemporaryDirectory() as folder:
        place, label = _file(predictions, Path(folder))
        scores = score_predictions(rows, place, given, companions=companions, task=scoring)
    return Results(scoring, rows, {label: scores}, {label: label})


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise InputError("this needs pandas", cure="pip install pandas") from error
    return pandas


def _task(task: Task | str | None, rows: Split) -> Task:
    return task_of(rows.dataset_name, load_task(task) if isinstance(task, str) else task)


def _file(predictions: Path | str | Sequence[Mapping[str, Any]], folder: Path) -> tuple[Path, str]:
    """Return the file of predictions, and what tables call it."""
    if isinstance(predictions, str | Path):
        return Path(predictions), Path(predictions).stem
    lines = (json.dumps({"abstained": None, **line}) + "\n" for line in predictions)
    file = folder / "predictions.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    return file, "predictions"


def _asked(systems: Sequence[Asked]) -> tuple[list[SystemSettings], dict[str, System]]:
    """Return the systems as they were asked for, and those that are objects by their labels."""
    asked: list[SystemSettings] = []
    objects: dict[str, System] = {}
    for one in systems:
        if isinstance(one, str):
            asked += parse_systems([one])
        elif isinstance(one, Mapping):
            asked.append(system_of_settings(one))
        else:
            kind = type(one)
            asked.append(SystemSettings(one.name, f"{kind.__module__}:{kind.__qualname__}"))
            objects[one.name] = one
    refuse_unknown(asked)
    return asked, objects
