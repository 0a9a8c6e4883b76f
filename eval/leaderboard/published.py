"""The papers' published figures as entries: the first rows of every leaderboard, never rerun."""

from dataclasses import dataclass, field
from typing import Any

from pronominal.eval.leaderboard.entries import Entry, Place
from pronominal.eval.papers.figures import PAPERS, SystemFigure, paper_tables
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

    def add(self, found: SystemFigure, measure: Measure) -> None:
        block = self.content
        for key in measure.path[:-1]:
            block = block.setdefault(key, {})
        block[measure.path[-1]] = found.score
        self.written.setdefault(measure.path, _written(measure, found))
        self.tables[found.table.place] = None
        why = {found.row.why: None} if found.row.why else {}
        self.notes |= dict.fromkeys(found.table.notes) | why

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

    These are the figures that a task has as measures, as `PaperTable.system_figures` sorts them.
    """
    found: dict[Place, dict[str, _Figures]] = {}
    for table in (table for paper in PAPERS for table in paper_tables(paper)):
        for one in table.system_figures():
            place = table.place_of(one.figure)
            measure = one.measure_among(task_of(place[0]).measures)
            if measure is not None:
                of_it = found.setdefault(place, {})
                of_it.setdefault(one.key, _Figures(one.row.name, table.paper)).add(one, measure)
    return {place: [one.entry(key) for key, one in of_it.items()] for place, of_it in found.items()}


def _written(measure: Measure, found: SystemFigure) -> str:
    """Write a figure as tables do: shares in percent, with the decimals that the paper has."""
    number, figure = found.number, found.figure
    if figure.unit != "fraction" or measure.unit != "share":
        return f"{number:.{figure.decimals}f}"
    return f"{100 * number:.{max(figure.decimals - 2, 0)}f}"
