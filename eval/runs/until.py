"""Runs over rows that are drawn at random, until the share that is right is known well enough."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pronominal.adapters import System
from pronominal.arrow_numbers import numbers
from pronominal.atomic import held_folder
from pronominal.dataset_scripts.reading.sampling import Draws
from pronominal.dataset_scripts.reading.split import SAMPLED, Split, whole_and_part
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.runs import runner
from pronominal.eval.runs.answers import read_answers
from pronominal.eval.runs.decision_rules import SEQUENTIAL_RULES
from pronominal.eval.runs.record import (
    DatasetRecord,
    Stopped,
    is_run,
    read_record,
    run_name,
    run_path,
    versions,
)
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.statistics.confidence_sequences import LEVEL, mean_sequence
from pronominal.eval.statistics.outcomes import choices_of, right_choices

FIRST_LOOK, NEXT_LOOK = 50, 1.2
"""After how many draws the interval is looked at first, and how many times as many next.

The precision does not change them: a run that goes on ends as one that was asked for more at once.
"""

NARROW, ALL_ROWS = "the interval is as narrow as asked", "every row was asked"
"""Why a run stopped."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How well the share of a split's rows that a system gets right has to be known.

    Attributes:
        points: half the width of its interval.
        draws: the rows, as they are drawn.
    """

    points: float
    draws: Draws

    @classmethod
    def of(cls, points: float, split: Split, reading: str) -> "Precision":
        """Return the precision; `InputError` for what is none, or rows that cannot be drawn."""
        if not isinstance(points, int | float) or not 0 < points < 50:
            cause = f"{points!r} is no half width of an interval"
            raise InputError(cause, cure="give points between 0 and 50, such as 0.5")
        if whole_and_part(split.name)[1] is not None:
            cause = f"{split.name} is a part of a split"
            raise InputError(cause, cure="draw from the whole split: leave out the limit")
        if reading in SEQUENTIAL_RULES:
            cause = f"{reading} reads each row after the one before it, and rows are drawn"
            raise InputError(cause, cure="read offsets, or run all rows")
        if (numbers(split.columns(["label"])["label"]) < 0).all():
            cause = f"no answer to {split.config} is right or wrong"
            raise InputError(cause, cure="run all its rows", file=split.file)
        return cls(points, Draws(split))

    def rows_at_next_look(self, rows: int) -> int:
        """Return how many rows are answered when the interval is looked at next."""
        draws = round(rows / self.draws.size * NEXT_LOOK) if rows else FIRST_LOOK
        return min(draws * self.draws.size, self.draws.split.num_rows)

    def run_path(self, out: Path, label: str) -> Path:
        """Return the folder of a system's run, which keeps its name however far it has come."""
        drawn = replace(self.draws.split, name=f"{self.draws.split.name}{SAMPLED}0")
        return run_path(out, run_name(drawn, label))

    def is_reached(self, stopped: Stopped, least: int) -> bool:
        """Whether answers to so many rows say enough."""
        narrow = stopped.high - stopped.low <= self.points / 50
        return stopped.rows >= least and (narrow or stopped.why == ALL_ROWS)

    def reached(self, out: Path, label: str, least: int = 0) -> int | None:
        """Return how many rows a run has answered, where it needs no more; else None."""
        path = self.run_path(out, label)
        stopped = read_record(path).stopped if is_run(path) else None
        return stopped.rows if stopped and self.is_reached(stopped, least) else None

    def known(self, answered: Split, decisions: Sequence[Decision]) -> Stopped:
        """Return what answers to the rows that were drawn first say of all rows."""
        labels = numbers(answered.table["label"])
        right = choices_of(decisions) == right_choices(labels, len(answered.choices[0]))
        shares = right.reshape(-1, self.draws.size).mean(axis=1)
        total = self.draws.split.num_rows
        low, high = mean_sequence(shares, total // self.draws.size)
        return Stopped(
            until=self.points,
            why=NARROW if len(labels) < total else ALL_ROWS,
            rows=len(labels),
            of=total,
            draws=len(shares),
            accuracy=float(shares.mean()),
            low=low,
            high=high,
            level=LEVEL,
        )


def run_until(
    precision: Precision,
    system: System,
    asked: SystemSettings,
    out: Path,
    *,
    least: int = 0,
    **options: Any,
) -> RunFolder:
    """Predict rows as they are drawn, and stop when the share of right ones is known well enough.

    The interval is `mean_sequence`'s, over all rows of the split and of no others. An earlier run
    goes on where it stopped; one that knows the share well enough stays as it is.

    Args:
        precision: how well, and of which rows.
        system: a loaded system.
        asked: how it was asked for, which names the run's folder.
        out: as in `pronominal.eval.runs.runner.run`.
        least: a number of rows to answer in any case: those that another system has answered.
        options: of `pronominal.eval.runs.runner.run`.

    Raises:
        InputError: as `pronominal.eval.runs.runner.run`, or the run would go on with other
            versions of its packages.
    """
    first = precision.rows_at_next_look(0)
    rows = _begun(precision, precision.run_path(out, asked.label)) or max(first, least)
    while True:
        drawn = precision.draws.first(rows)
        folder = runner.run(drawn, system, asked, out, **options)
        stopped = folder.record.stopped
        if stopped is None:
            stopped = precision.known(drawn, read_answers(folder.path, drawn))
        if precision.is_reached(stopped, least):
            break
        rows = max(precision.rows_at_next_look(rows), least)
        _go_on(folder, DatasetRecord.of(precision.draws.first(rows)))
    if folder.record.stopped is None:
        with held_folder(folder.path):
            folder.describe(stopped=stopped)
    return folder


def _begun(precision: Precision, path: Path) -> int | None:
    """Return how many rows an earlier run of drawn rows was to answer when it was looked at."""
    if not is_run(path):
        return None
    whole, rows = whole_and_part(read_record(path).dataset.split)
    return rows if whole == precision.draws.split.name else None


def _go_on(folder: RunFolder, to: DatasetRecord) -> None:
    """Let a run have more rows."""
    if folder.record.versions != versions():
        cause = "the run was made with other versions of its packages"
        cure = "ask for what it knows already, or remove the folder to begin again"
        raise InputError(cause, cure=cure, file=folder.path)
    with held_folder(folder.path):
        folder.describe(dataset=to, complete=False, predictions=None, stopped=None)
