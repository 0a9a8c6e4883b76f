"""``pronominal replicate``: runs what a paper's tables need, and says whether they hold."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

from pronominal.adapters import system_class
from pronominal.adapters.catalogue.published import fetch, published
from pronominal.adapters.checkpoints.downloads import Progress
from pronominal.dataset_scripts.building.build import build
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.evaluation import OpenProgress, evaluate_systems, no_progress
from pronominal.eval.papers.figures import PaperTable
from pronominal.eval.papers.packs import pack
from pronominal.eval.papers.packs.asked import fetched_for, settings_of
from pronominal.eval.papers.packs.needs import BRINGS_CODE, NOT_CACHED, TRUST_IT, Place
from pronominal.eval.papers.packs.options import RunOptions
from pronominal.eval.papers.packs.resolved import ResolvedRow
from pronominal.eval.papers.reproduce import reproduce
from pronominal.eval.papers.reproduction import Line, Reproduction
from pronominal.eval.papers.verdicts import Verdict, verdict
from pronominal.eval.runs.scored import Run
from pronominal.eval.tables.table import Table

OpenDownload = Callable[[str], AbstractContextManager[Progress]]
"""Opens a progress bar for the files of some weights."""


@dataclass(frozen=True, slots=True)
class Replicating(RunOptions):
    """How rows are run, and what was read for it.

    Attributes:
        splits: those that were read so far.
    """

    splits: dict[Place, Split] = field(default_factory=dict, repr=False)

    def split(self, dataset: str, config: str, name: str) -> Split:
        """Return the rows to run, which are read once for all systems."""
        place = (dataset, config, name)
        if place not in self.splits:
            whole = load_split(self.data / dataset, config, name)
            self.splits[place] = whole.limited(self.limit)
        return self.splits[place]

    def left_out(self, row: ResolvedRow, only: Sequence[str]) -> str | None:
        """Return why a row is not run; None where it is.

        One that is named is tried whatever this machine has, but for what does not exist.
        """
        if row.status == "not available" or (row.status != "ready" and row.row not in only):
            return f"{row.status}: {row.reason}"
        if row.brings_code and not self.trust_remote_code:
            return f"{BRINGS_CODE}; {TRUST_IT}"
        if row.lacks_pipeline:
            return row.reason
        return NOT_CACHED if row.is_out_of_reach else None

    def missing_datasets(self, rows: Sequence[ResolvedRow]) -> list[str]:
        """Return the datasets that have to be built for some rows."""
        names = dict.fromkeys(name for row in rows for name, _, _ in row.places)
        return [name for name in names if not (self.data / name).exists()]


@dataclass(frozen=True, slots=True)
class Replication:
    """A table of a paper beside runs of its own systems.

    Attributes:
        reproduction: the table.
        rows: its rows about systems.
        left_out: key of a row -> why it was not run.
        failed: key of a row -> how its run failed.
        first: how many rows of each split were run, where it were not all.
    """

    reproduction: Reproduction
    rows: tuple[ResolvedRow, ...]
    left_out: Mapping[str, str]
    failed: Mapping[str, str] = field(default_factory=dict)
    first: int | None = None

    def verdict_of(self, line: Line) -> Verdict | None:
        """Say whether the paper's figure holds; None where there is none, or none of ours."""
        table = self.reproduction.table
        row = table.rows.get(line.row)
        impossible = row.impossible.get(line.figure) if row is not None else None
        return verdict(line, table.figures[line.figure], first=self.first, impossible=impossible)

    def to_json(self) -> dict[str, Any]:
        """Return it as ``--json`` prints it."""
        lines = [(line, self.verdict_of(line)) for line in self.reproduction.lines]
        return {
            **self.reproduction.to_json(),
            "first": self.first,
            "rows": [
                row.to_json()
                | {"left_out": self.left_out.get(row.row), "failed": self.failed.get(row.row)}
                for row in self.rows
            ],
            "lines": [
                asdict(line)
                | {"verdict": found and found.word, "not_comparable": found and found.why}
                for line, found in lines
            ],
        }

    def to_table(self) -> Table:
        """Return it as a table, with a verdict for each figure."""
        return self.reproduction.to_table(
            {"Verdict": lambda line: str(self.verdict_of(line) or "")},
            (
                *self._first_rows(),
                *(f"{row} was not run: {why}." for row, why in self.left_out.items()),
                *(f"The run of {row} failed: {why}" for row, why in self.failed.items()),
            ),
        )

    def _first_rows(self) -> Iterator[str]:
        if self.first is not None:
            rows = "row" if self.first == 1 else f"{self.first:,} rows"
            places = "of each split alone, in lines over models as well"
            yield f"Ours is over the first {rows} {places}."


def replicate(
    tables: Sequence[PaperTable],
    rows: Sequence[ResolvedRow],
    how: Replicating,
    only: Sequence[str] = (),
    open_progress: OpenProgress = no_progress,
    open_download: OpenDownload = lambda name: nullcontext(lambda done, total: None),
) -> list[Replication]:
    """Run the rows of tables that can be run here, and put them beside the papers' figures.

    What is there of earlier runs is gone on with. A row that fails is left out, and says why.

    Args:
        tables: of one paper or several.
        rows: those that are wanted, of these tables.
        how: with which files.
        only: keys of the rows that the user has named.
        open_progress: shows how far a run is.
        open_download: shows how far a download is.
    """
    left_out = {(row.table, row.row): how.left_out(row, only) for row in rows}
    wanted = [row for row in rows if left_out[row.table, row.row] is None]
    for name in how.missing_datasets(wanted):
        build(name, how.data, sources=how.sources)
    runs: dict[tuple[str, str], list[Run]] = {}
    failed: dict[tuple[str, str], str] = {}
    for (paper, key), places in _places_by_row(wanted).items():
        try:
            _fetch(paper, key, how, open_download)
            runs[paper, key] = _evaluated(paper, key, places, how, open_progress)
        except InputError as error:
            failed[paper, key] = str(error)
    why = {place: reason for place, reason in left_out.items() if reason is not None}
    return [_replication(table, rows, runs, why, failed, how.limit) for table in tables]


def _replication(
    table: PaperTable,
    rows: Sequence[ResolvedRow],
    runs: Mapping[tuple[str, str], Sequence[Run]],
    left_out: Mapping[tuple[str, str], str],
    failed: Mapping[tuple[str, str], str],
    first: int | None,
) -> Replication:
    """Put a table beside the runs of its rows; `runs` and `failed` are by paper and key."""
    own = [row for row in rows if row.table == table.name]
    needed = {(row.paper, key): None for row in own for key in row.systems}
    (found,) = reproduce([table], [run for key in needed for run in runs.get(key, ())])
    why = {row: reason for (name, row), reason in left_out.items() if name == table.name}
    broken = {
        row.row: failed[row.paper, key]
        for row in own
        for key in row.systems
        if (row.paper, key) in failed
    }
    return Replication(_of_rows(found, own), tuple(own), why, broken, first)


def _of_rows(found: Reproduction, rows: Sequence[ResolvedRow]) -> Reproduction:
    """Keep the lines of the wanted rows, and those that sum up over models."""
    keys = {row.row for row in rows}
    table = found.table
    lines = tuple(
        line
        for line in found.lines
        if line.row in keys or (line.row in table.rows and table.rows[line.row].over)
    )
    return Reproduction(table, lines, found.pairs)


def _places_by_row(rows: Sequence[ResolvedRow]) -> dict[tuple[str, str], list[Place]]:
    """Return which splits each row of a paper has to answer, for all tables together."""
    places: dict[tuple[str, str], dict[Place, None]] = {}
    for row in rows:
        for key in row.systems:
            places.setdefault((row.paper, key), {}).update(dict.fromkeys(row.places))
    return {key: [*found] for key, found in places.items()}


def _fetch(paper: str, key: str, how: Replicating, open_download: OpenDownload) -> None:
    if key in how.weights:
        return
    made = pack(paper)[key]
    if made.system is not None:
        system_class(made.system)  # what has to be installed is said before anything is downloaded
    for name in fetched_for(made):
        with open_download(name) as progress:
            fetch(published()[name], progress, how.mirror)


def _evaluated(
    paper: str, key: str, places: Sequence[Place], how: Replicating, open_progress: OpenProgress
) -> list[Run]:
    """Run and score a row's system over its splits; the weights are loaded once."""
    asked = settings_of(paper, key, how.weights)
    system, runs = asked.load(), []
    for dataset, config, name in places:
        split = how.split(dataset, config, name)
        done = evaluate_systems(
            *(split, [asked], how.runs_of(key), pack(paper)[key].reading, open_progress),
            systems={key: system},
        )
        found = done[key]
        runs.append(Run(key, (dataset, config, name), found.scores, found.run))
    del system
    gc.collect()
    return runs
