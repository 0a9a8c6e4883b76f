"""An entry of a leaderboard: what one system got on some rows, as a run of ours or in a paper."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.eval.runs.record import RunRecord
from pronominal.eval.statistics.scores import Block, Keys, Scores
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.table import UNDEFINED

Place = tuple[str, str, str]
"""Names of dataset, config and split."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one system got on the rows of a board.

    Attributes:
        label: of the run, or key of the paper's row; entries of one label share a page.
        name: what pages call it.
        scores: of a paper's row only the measures that the paper gives.
        run: what ``run.json`` says; None where a paper published the figures.
        folder: of the run.
        paper: authors and year, where a paper published the figures.
        tables: where they stand in the paper, such as ``Table 2``.
        notes: what is to be known of them.
        written: measures' paths -> the paper's figures, with as many decimals as it has.
    """

    label: str
    name: str
    scores: Scores
    run: RunRecord | None = None
    folder: Path | None = None
    paper: str | None = None
    tables: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    written: Mapping[Keys, str] = field(default_factory=dict)

    def cell(self, measure: Measure) -> str:
        """Write a measure with its interval; a paper's figure as the paper has it."""
        if self.run is None:
            return self.written.get(measure.path, UNDEFINED)
        return measure.cell(self.scores)

    def value(self, measure: Measure) -> float | None:
        """Return a measure's number."""
        figure = measure.of(self.scores)
        return None if figure is None else figure.value


@dataclass(frozen=True, slots=True)
class Ranked:
    """A run of a board with its place.

    Attributes:
        entry: the run.
        rank: ``rank`` and its ``interval``, as `pronominal.eval.statistics.ranks` has them; None
            for the only run of a board.
    """

    entry: Entry
    rank: Block | None

    @property
    def places(self) -> tuple[int, int]:
        """The best and the worst place that clear differences leave it."""
        if self.rank is None:
            return 1, 1
        best, worst = self.rank["interval"]["rank"]
        return best, worst

    @property
    def shown(self) -> str:
        """The place, with its interval where it could be another one."""
        if self.rank is None:
            return UNDEFINED
        best, worst = self.places
        rank: int = self.rank["rank"]
        return str(rank) if best == worst else f"{rank} [{best}, {worst}]"


@dataclass(frozen=True, slots=True)
class Unranked:
    """A run that no place can be given, and why.

    Attributes:
        label: of the run.
        place: dataset, config and split that it answers.
        why: it has no place, in words.
        digest: of the rows that it answers.
        reading: its decision rule.
    """

    label: str
    place: Place
    why: str
    digest: str
    reading: str
