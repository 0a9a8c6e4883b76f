"""The systems whose figures a paper published, as reference marks beside runs of ours."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pronominal.eval.papers.data_figures import DATA_FIGURES
from pronominal.eval.papers.figures import PAPERS, PaperFigure, PaperTable, paper_tables
from pronominal.eval.report.charts.kinds import Point
from pronominal.eval.report.charts.small_multiples import Mark
from pronominal.eval.report.scored import Comparison
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.table import percent


@dataclass(frozen=True, slots=True)
class PublishedSystem:
    """A row of a paper's tables.

    Attributes:
        name: as the paper has it.
        figures: key of a measure -> what the paper says, as a share.
        places: the papers and tables that say it.
    """

    name: str
    figures: dict[str, float] = field(default_factory=dict)
    places: dict[str, None] = field(default_factory=dict)

    def mark(self, measure: str) -> Mark:
        """Return the mark of a figure that it has."""
        value = self.figures[measure]
        hint = f"{self.name}: {percent(value)}, as published; {'; '.join(self.places)}"
        return Mark(self.name, Point(value, hint=hint), percent(value), "published")


def published_marks(systems: Iterable[PublishedSystem], measure: str) -> list[Mark]:
    """Return the marks of a measure, best first."""
    there = (system for system in systems if measure in system.figures)
    ordered = sorted(there, key=lambda system: -system.figures[measure])
    return [system.mark(measure) for system in ordered]


def published_systems(one: Comparison) -> list[PublishedSystem]:
    """Return the systems of which papers published measures of these rows.

    Figures that papers gave for models in groups, and differences, are left out.
    """
    found: dict[str, PublishedSystem] = {}
    for table in _tables(one.dataset):
        for name, measure in _figures_of(table, one):
            figure = table.figures[name]
            for row in table.rows.values():
                if row.over is None and name in row.paper:
                    system = found.setdefault(row.name, PublishedSystem(row.name))
                    system.figures.setdefault(measure.key, row.paper[name] / figure.scale)
                    system.places[f"{table.paper}, {table.place}"] = None
    return [*found.values()]


def _tables(dataset: str) -> Iterator[PaperTable]:
    """Yield the papers' tables whose rows are systems, those of the dataset's own paper first."""
    papers = sorted(PAPERS, key=lambda paper: paper != dataset)
    for table in (table for paper in papers for table in paper_tables(paper)):
        if table.name not in DATA_FIGURES and not table.between:
            yield table


def _figures_of(table: PaperTable, one: Comparison) -> Iterator[tuple[str, Measure]]:
    """Yield the figures of a table that are measures of these rows."""
    measures = {".".join(m.path): m for m in one.task.measures if m.unit == "share"}
    for name, figure in table.figures.items():
        rows = (table.dataset_of(figure), table.config_of(figure), table.split)
        if rows == one.rows[:3] and _is_share(figure) and figure.path in measures:
            yield name, measures[figure.path]


def _is_share(figure: PaperFigure) -> bool:
    other = figure.trend or figure.gain or figure.minus or figure.question == "chains"
    return figure.unit in ("fraction", "percent") and not other
