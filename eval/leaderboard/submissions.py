"""The runs that were submitted: folders with a ``run.json``, at any depth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pronominal.dataset_scripts.reading.split import whole_and_part
from pronominal.errors import InputError
from pronominal.eval.leaderboard.entries import Entry, Place, Unranked
from pronominal.eval.report.unscored import unscored_runs
from pronominal.eval.runs.record import RUN, RunRecord, read_record
from pronominal.eval.runs.scored import read_runs
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.table import UNDEFINED
from pronominal.eval.task import Task


@dataclass(frozen=True, slots=True)
class Submitted:
    """A finished run with its scores.

    Attributes:
        run: what ``run.json`` says.
        scores: what ``score.json`` says.
        folder: where both are.
    """

    run: RunRecord
    scores: Scores
    folder: Path

    @property
    def place(self) -> Place:
        """Dataset, config and split; of the first rows of a split that split."""
        return _place(self.run)

    @property
    def limit(self) -> int | None:
        """How many rows were asked, where it were not all."""
        return whole_and_part(self.run.dataset.split)[1]

    @property
    def reading(self) -> str:
        """The decision rule."""
        return str(self.run.settings.get("reading", UNDEFINED))

    def entry(self) -> Entry:
        """Return it as an entry of a board."""
        return Entry(self.run.label, self.run.label, self.scores, self.run, self.folder)

    def unranked(self, why: str) -> Unranked:
        """Return it as a run without a place."""
        return _unranked(self.run, why)


def read_submissions(
    folders: Iterable[Path], tasks: Iterable[Task] = ()
) -> tuple[list[Submitted], list[Unranked]]:
    """Read all runs in some folders; of those that are not finished or not scored, why.

    A folder without runs is one to which nobody has submitted yet.

    Raises:
        InputError: there is no such folder, a run is damaged, or its predictions were changed.
    """
    there = [*_with_runs(folders)]
    scored = {run.folder.resolve(): run for folder in there for run in read_runs(folder)}
    submitted = [
        Submitted(read_record(run.folder), run.scores, run.folder) for run in scored.values()
    ]
    others = []
    for one in unscored_runs(there, [*tasks]):
        far = f"not finished: {one.done:,} of {one.rows:,} rows"
        others.append(_unranked(one.record, "not scored" if one.record.complete else far))
    return submitted, others


def _with_runs(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if not folder.is_dir():
            cure = "give a folder of submissions, which may be empty"
            raise InputError("there is no such folder", cure=cure, file=folder)
        if any(folder.rglob(RUN)):
            yield folder


def _place(run: RunRecord) -> Place:
    rows = run.dataset
    return rows.name, rows.config, whole_and_part(rows.split)[0]


def _unranked(run: RunRecord, why: str) -> Unranked:
    reading = str(run.settings.get("reading", UNDEFINED))
    return Unranked(run.label, _place(run), why, run.dataset.digest, reading)
