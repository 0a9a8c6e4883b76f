"""Charts drawn, each with its numbers as a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from pronominal.eval.report.charts import kinds
from pronominal.eval.report.charts.grids import grid
from pronominal.eval.report.charts.kinds import Point
from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.charts import Bars, Chart, Dots, Map
from pronominal.eval.tables.table import UNDEFINED, Table, interval_notes, percent

UNFOLDED = 4
"""Maps of a system each that a page shows at once."""

DASHED = "Dashed: the expectation of guessing."


class Panel(NamedTuple):
    """One chart of several.

    Attributes:
        drawn: the chart.
        name: what it shows.
        systems: that it is about; none where it is about all.
    """

    drawn: Markup
    name: str
    systems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """Charts of one kind, drawn, with their numbers as a table.

    Attributes:
        name: of its file.
        panels: the charts.
        legend: class and name of each series or part.
        table: the same numbers, and in its notes how they came about.
        folded: whether the page shows it when asked, as a long one of each system.
    """

    name: str
    panels: tuple[Panel, ...]
    legend: tuple[tuple[str, str], ...]
    table: Table
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Drawer:
    """Draws the charts of several systems.

    Attributes:
        scores: system -> its scores.
        units: over what intervals sum, in words.
    """

    scores: Mapping[str, Scores]
    units: str

    def drawings(self, chart: Chart) -> Iterator[Drawing]:
        """Draw a chart; nothing where no system has a number for it."""
        if isinstance(chart, Map):
            panels = tuple(
                Panel(
                    grid(title, *heads_and_rows, chart.side, of_systems=not chart.about_systems),
                    title,
                    (title,) if chart.about_systems else (),
                )
                for title, heads_and_rows in chart.grids.items()
            )
            long = chart.about_systems and len(panels) > UNFOLDED
            yield Drawing(chart.name, panels, tuple(chart.legend.items()), chart.table, long)
        elif isinstance(chart, Dots):
            yield from self._dots(chart)
        else:
            yield from self._bars(chart)

    def point(self, system: str, path: Keys, about: str) -> Point:
        """Take a number from a system's scores, with its interval and what hovering says of it."""
        score = self.scores[system]
        figure = score.figure(path)
        if figure is None:
            return Point(None)
        counted = "" if figure.n is None else f"; n = {figure.n:,}"
        notes = " ".join(self.notes_of(score)) if figure.ends else ""
        hint = f"{system}, {about}: {percent(figure.value)}{_ends(figure.ends)}{counted}. {notes}"
        return Point(figure.value, figure.ends, hint.rstrip(), path, figure.n, figure.missing)

    def notes_of(self, score: Scores) -> tuple[str, ...]:
        """Say over what intervals sum."""
        return tuple(interval_notes([score], self.units))

    def _dots(self, chart: Dots) -> Iterator[Drawing]:
        rows = {
            heading: {
                system: [self.point(system, path, heading) for path in series.values()]
                for system in self.scores
            }
            for heading, series in chart.panels.items()
        }
        rows = {heading: points for heading, points in rows.items() if _any(points)}
        if not rows:
            return
        series = list(dict.fromkeys(name for heading in rows for name in chart.panels[heading]))
        several = any(len(chart.panels[heading]) > 1 for heading in rows)
        columns = [
            f"{heading}, {name}" if len(chart.panels[heading]) > 1 else heading
            for heading in rows
            for name in chart.panels[heading]
        ]
        drawn = tuple(
            Panel(kinds.dots(heading, points, chance=chart.chance.get(heading)), heading)
            for heading, points in rows.items()
        )
        dashed = (DASHED,) if any(chart.chance.get(heading) for heading in rows) else ()
        table = self._table(chart.title, columns, rows, dashed)
        yield Drawing(chart.name, drawn, legend(series, "s") if several else (), table)

    def _bars(self, chart: Bars) -> Iterator[Drawing]:
        def points(path: Keys, parts: Sequence[str]) -> dict[str, list[Point]]:
            return {s: [self._part(s, path, part, chart) for part in parts] for s in self.scores}

        panels = chart.panels
        there = [p for p in chart.parts if any(_any(points(path, [p])) for path in panels.values())]
        if not there:
            return
        rows = {heading: points(path, there) for heading, path in panels.items()}
        columns = [f"{h}, {part}" if len(rows) > 1 else part for h in rows for part in there]
        drawn = tuple(Panel(kinds.bars(name, points), name) for name, points in rows.items())
        table = self._table(chart.title, columns, rows)
        yield Drawing(chart.name, drawn, legend(there, "p"), table)

    def _part(self, system: str, path: Keys, part: str, chart: Bars) -> Point:
        within = chart.divided.get(part, ())
        if any(self.scores[system].figure((*path, other)) for other in within):
            return Point(None)
        return self.point(system, (*path, part), part)

    def _table(
        self,
        title: str,
        columns: Sequence[str],
        panels: Mapping[str, kinds.Rows],
        notes: tuple[str, ...] = (),
    ) -> Table:
        cells = tuple(
            (system, *(written(p) for points in panels.values() for p in points[system]))
            for system in self.scores
        )
        points = [p for rows in panels.values() for of_it in rows.values() for p in of_it]
        ends = any(point.ends for point in points)
        about = [note for one in self.scores.values() for note in self.notes_of(one) if ends]
        told = (*sizes(panels), *notes, *dict.fromkeys((*about, *_reasons(columns, panels))))
        return Table(title, ("System", *columns), cells, told)


def _any(points: kinds.Rows) -> bool:
    return any(point.value is not None for of_system in points.values() for point in of_system)


def _reasons(columns: Sequence[str], panels: Mapping[str, kinds.Rows]) -> Iterator[str]:
    """Say why points have no interval, by the columns that they stand in."""
    told: dict[str, dict[str, None]] = {}
    for system in next(iter(panels.values())):
        points = [point for rows in panels.values() for point in rows[system]]
        for column, point in zip(columns, points, strict=True):
            if point.missing:
                told.setdefault(point.missing, {})[column] = None
    for reason, names in told.items():
        yield f"No interval for {', '.join(names)}: {reason}."


def legend(names: Sequence[str], letter: str) -> tuple[tuple[str, str], ...]:
    """Name series (``s``) or parts (``p``) by their classes."""
    return tuple((f"{letter}{number % 8}", name) for number, name in enumerate(names))


def written(point: Point) -> str:
    """Write a point as a cell of a table."""
    return UNDEFINED if point.value is None else f"{percent(point.value)}{_ends(point.ends)}"


def _ends(ends: Sequence[float] | None) -> str:
    return "" if ends is None else f" [{percent(ends[0])}, {percent(ends[1])}]"


def sizes(panels: Mapping[str, kinds.Rows]) -> Iterator[str]:
    """Say of how many rows, pairs or groups each panel's fractions are."""
    found: dict[str, list[str]] = {}
    for heading, rows in panels.items():
        numbers = sorted({p.n for points in rows.values() for p in points if p.n is not None})
        if numbers:
            ends = dict.fromkeys(f"{n:,}" for n in (numbers[0], numbers[-1]))
            found.setdefault(" to ".join(ends), []).append(heading)
    if len(found) == 1:
        yield f"n = {next(iter(found))}{' in each' if len(panels) > 1 else ''}."
    elif found:
        parts = (f"{', '.join(headings)} {number}" for number, headings in found.items())
        yield f"n: {'; '.join(parts)}."
