"""The papers' published figures as entries: the first rows of every leaderboard, never rerun."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pronominal.eval.leaderboard.entries import Entry, Place
from pronominal.eval.papers.figures import PAPERS, PaperFigure, PaperRow, PaperTable, paper_tables
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.measure import Measure


@dataclass(slots=True)
class _Figures:
    """What the tables of a paper say of one system on some rows."""

    name: str
    paper: str
    content: dict[str, Any] = field(default_factory=dict)
    written: dict[Keys, str] = field(default_factory=dict)
    tables: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def add(self, table: PaperTable, row: PaperRow, figure: PaperFigure, number: float) -> None:
        measure = _measure(table, figure)
        assert measure is not None
        block = self.content
        for key in measure.path[:-1]:
            block = block.setdefault(key, {})
        block[measure.path[-1]] = number / figure.scale
        self.written.setdefault(measure.path, _written(measure, number, figure))
        self.tables[table.place] = None
        self.notes |= dict.fromkeys(table.notes) | ({row.why: None} if row.why else {})

    def entry(self, label: str) -> Entry:
        return Entry(
            label,
            self.name,
            Scores(self.content),
            paper=self.paper,
            tables=(*self.tables,),
            notes=(*self.notes,),
            written=self.written,
        )


def published() -> dict[Place, list[Entry]]:
    """Return the systems of the papers' tables by the rows that they answered.

    These are the figures that a task has as measures: of one system, on whole splits. Sums over
    several models, gains and correlations are none, and neither is a figure that cannot be what
    the paper calls it. Of a paper with a later version only that is taken.
    """
    found: dict[Place, dict[str, _Figures]] = {}
    for paper in PAPERS:
        for table in paper_tables(paper):
            if table.later_version is not None:
                continue
            for key, row, figure, number in _systems(table):
                place = (table.dataset_of(figure), table.config_of(figure), table.split)
                of_it = found.setdefault(place, {})
                of_it.setdefault(key, _Figures(row.name, table.paper)).add(
                    table, row, figure, number
                )
    return {place: [one.entry(key) for key, one in of_it.items()] for place, of_it in found.items()}


def _systems(table: PaperTable) -> Iterator[tuple[str, PaperRow, PaperFigure, float]]:
    """Yield the figures of a table that are a measure of one system."""
    for key, row in table.rows.items():
        for name, number in row.paper.items():
            figure = table.figures[name]
            derived = row.over or figure.gain or figure.trend or figure.minus
            asked_otherwise = figure.question != "prompts" or name in row.impossible
            if not derived and not asked_otherwise and _measure(table, figure) is not None:
                yield key, row, figure, number


def _measure(table: PaperTable, figure: PaperFigure) -> Measure | None:
    measures = task_of(table.dataset_of(figure)).measures
    return next((one for one in measures if ".".join(one.path) == figure.path), None)


def _written(measure: Measure, number: float, figure: PaperFigure) -> str:
    """Write a figure as tables do: shares in percent, with the decimals that the paper has."""
    if figure.unit != "fraction" or measure.unit != "share":
        return f"{number:.{figure.decimals}f}"
    return f"{100 * number:.{max(figure.decimals - 2, 0)}f}"
