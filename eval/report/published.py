"""The systems whose figures a paper published, as reference marks beside runs of ours."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pronominal.eval.papers.figures import PAPERS, paper_tables
from pronominal.eval.report.charts.kinds import Point
from pronominal.eval.report.charts.small_multiples import Mark
from pronominal.eval.report.scored import Comparison
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
    """Return the systems of which papers published measures of these rows."""
    found: dict[str, PublishedSystem] = {}
    shares = [measure for measure in one.task.measures if measure.unit == "share"]
    for table in (table for paper in PAPERS for table in paper_tables(paper)):
        for published in table.system_figures():
            measure = published.measure_among(shares)
            if measure is not None and table.place_of(published.figure) == one.rows[:3]:
                name = published.row.name
                system = found.setdefault(name, PublishedSystem(name))
                system.figures.setdefault(measure.key, published.score)
                system.places[f"{table.paper}, {table.place}"] = None
    return [*found.values()]
