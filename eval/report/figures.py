"""Charts with their numbers as a table, made from the blocks of the scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pronominal.eval.report import charts
from pronominal.eval.report.charts import Point
from pronominal.eval.tables.table import UNDEFINED, Score, Table, interval_notes, percent

Scores = Mapping[str, Score]
"""System -> its scores."""

Keys = tuple[str, ...]
"""Keys that lead to a number in the scores."""

DASHED = "Dashed: the expectation of guessing."


@dataclass(frozen=True, slots=True)
class Figure:
    """Charts of one kind, with their numbers as a table.

    Attributes:
        name: of its file.
        panels: the charts, each with the systems that it is about; none when it is about all.
        legend: class and name of each series or part.
        table: the same numbers, and in its notes how they came about.
        holds: titles of tables that say no more than this one.
    """

    name: str
    panels: tuple[tuple[tuple[str, ...], Markup], ...]
    legend: tuple[tuple[str, str], ...]
    table: Table
    holds: tuple[str, ...] = ()


def point(score: Score, path: Keys, who: str) -> Point:
    """Take a number from the scores, its interval or deviation, and what is to be said of it."""
    block: Any = score
    for key in path[:-1]:
        block = block.get(key) or {}
    value = block.get(path[-1])
    if value is None:
        return Point(None)
    ends = (block.get("interval") or {}).get(path[-1])
    if ends is None and path[-1] == "accuracy" and block.get("sd") is not None:
        ends = (value - block["sd"], value + block["sd"])
    n = next((block[key] for key in ("groups", "pairs", "n") if key in block), None)
    if n is not None and "ambiguous" in block:
        n -= block["ambiguous"]
    counted = "" if n is None else f"; n = {n:,}"
    notes = notes_of(score) if ends else ()
    told = f"{who}: {percent(value)}{_ends(ends)}{counted}. {' '.join(notes)}"
    return Point(value, None if ends is None else (ends[0], ends[1]), told.rstrip(), path, n)


def dot_figure(
    name: str,
    title: str,
    scores: Scores,
    panels: Mapping[str, Mapping[str, Keys]],
    chance: Mapping[str, float | None] | float | None = None,
) -> Iterator[Figure]:
    """Draw one chart of dots for each panel that has a number.

    Args:
        name: of the figure.
        title: of its table.
        scores: system -> scores.
        panels: heading -> series -> where its number stands.
        chance: of every panel, or by heading.
    """
    rows = {
        heading: {
            system: [point(score, path, f"{system}, {heading}") for path in series.values()]
            for system, score in scores.items()
        }
        for heading, series in panels.items()
    }
    rows = {
        h: r for h, r in rows.items() if any(p.value is not None for ps in r.values() for p in ps)
    }
    if not rows:
        return
    names = list(dict.fromkeys(series for heading in rows for series in panels[heading]))
    several = any(len(panels[heading]) > 1 for heading in rows)
    columns = [f"{h}, {s}" if len(panels[h]) > 1 else h for h in rows for s in panels[h]]
    cells = ((s, *(written(p) for points in rows.values() for p in points[s])) for s in scores)
    drawn = tuple(
        ((), charts.dots(h, r, chance=chance.get(h) if isinstance(chance, Mapping) else chance))
        for h, r in rows.items()
    )
    guessing = [*chance.values()] if isinstance(chance, Mapping) else [chance]
    dashed = (DASHED,) if any(guessing) else ()
    notes = (*sizes(rows), *dashed, *_notes_of_all(scores, rows))
    table = Table(title, ("System", *columns), tuple(cells), notes)
    yield Figure(name, drawn, legend(names, "s") if several else (), table)


def bar_figure(
    name: str, title: str, scores: Scores, panels: Mapping[str, Keys], parts: Sequence[str]
) -> Iterator[Figure]:
    """Draw one chart of stacked bars for each panel; the parts stand in the panel's block."""
    there = [
        part
        for part in parts
        if any(
            point(s, (*path, part), "").value is not None
            for s in scores.values()
            for path in panels.values()
        )
    ]
    if not there:
        return
    rows = {
        heading: {
            system: [point(score, (*path, part), f"{system}, {part}") for part in there]
            for system, score in scores.items()
        }
        for heading, path in panels.items()
    }
    columns = [f"{h}, {part}" if len(rows) > 1 else part for h in rows for part in there]
    cells = ((s, *(written(p) for points in rows.values() for p in points[s])) for s in scores)
    drawn = tuple(((), charts.bars(heading, row)) for heading, row in rows.items())
    notes = (*sizes(rows), *_notes_of_all(scores, rows))
    table = Table(title, ("System", *columns), tuple(cells), notes)
    yield Figure(name, drawn, legend(there, "p"), table)


def legend(names: Sequence[str], letter: str) -> tuple[tuple[str, str], ...]:
    """Name series (``s``) or parts (``p``) by their classes."""
    return tuple((f"{letter}{number % 8}", name) for number, name in enumerate(names))


def written(point: Point) -> str:
    """Write a point as a cell of a table."""
    return UNDEFINED if point.value is None else f"{percent(point.value)}{_ends(point.ends)}"


def _ends(ends: Sequence[float] | None) -> str:
    return "" if ends is None else f" [{percent(ends[0])}, {percent(ends[1])}]"


def sizes(panels: Mapping[str, charts.Rows]) -> Iterator[str]:
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


def _notes_of_all(scores: Scores, panels: Mapping[str, charts.Rows]) -> tuple[str, ...]:
    """Say what the ends of the intervals of several systems are, where there are any."""
    if not any(p.ends for rows in panels.values() for points in rows.values() for p in points):
        return ()
    return tuple(dict.fromkeys(note for score in scores.values() for note in notes_of(score)))


def notes_of(score: Score) -> tuple[str, ...]:
    """Say what the ends of intervals are."""
    drawn = score.get("bootstrap")
    if drawn and drawn["resamples"]:
        unit = {"pair_id": "template pairs", "id": "sentences", "schema": "schemas"}.get(
            drawn["unit"], drawn["unit"]
        )
        return tuple(interval_notes([score], unit))
    if score.get("sd") is not None:
        seeds = len(score.get("by_seed", {}))
        return (f"[ ]: one sample standard deviation around the mean of {seeds} samples.",)
    return ()
