"""Dots, bars, boxes and curves, each a function from numbers to SVG; fractions are in [0, 1]."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from markupsafe import Markup

from pronominal.eval.report.charts.svg import (
    LETTER,
    WIDTH,
    cut,
    drawing,
    element,
    line,
    row,
    scale,
    text,
)
from pronominal.eval.tables.table import percent

ROW, TOP, VALUES = 22.0, 34.0, 48.0
"""Height of a row, of the head with title and scale, and width of the column of numbers."""

RIGHT = WIDTH - 12.0
"""Where a scale without numbers beside it ends."""

SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.8 4.6 3.4h-9.2z",
    "M0-5 5 0 0 5-5 0z",
)
"""Circle, square, triangle and diamond: series are told apart without colour, too."""


@dataclass(frozen=True, slots=True)
class Point:
    """One number in a chart.

    Attributes:
        value: a fraction; None is not drawn.
        ends: of its interval.
        hint: what hovering says about it.
        path: the keys that lead to it in the system's scores.
        n: what it is a fraction of.
        missing: why it has no interval.
    """

    value: float | None
    ends: tuple[float, float] | None = None
    hint: str = ""
    path: tuple[str, ...] | None = None
    n: int | None = None
    missing: str | None = None


Rows = Mapping[str, Sequence[Point]]
"""System -> its points: one for each series, part or place on the x-axis."""


def dots(title: str, rows: Rows, *, chance: float | None = None) -> Markup:
    """Draw a row of dots with intervals for each system, and the number where there is one dot."""
    series = max((len(points) for points in rows.values()), default=0)
    tall, right = max(ROW, 10.0 + 9 * series), WIDTH - (12.0 if series > 1 else VALUES)

    def marks(left: float, number: int, points: Sequence[Point]) -> Iterator[Markup]:
        step = tall / (len(points) + 1)
        if len(points) > 1 and number:
            yield line(0, 0, right, 0, "grid")
        for place, point in enumerate(points):
            if point.value is not None:
                yield _dot(point, left, right, step * (place + 1), place)
        if len(points) == 1:
            yield text(WIDTH, 15, percent(points[0].value), "number")

    return _in_rows(title, rows, marks, right, tall, chance)


def bars(title: str, rows: Rows) -> Markup:
    """Draw the parts of a whole as one bar for each system."""

    def marks(left: float, number: int, parts: Sequence[Point]) -> Iterator[Markup]:
        x = left
        for series, part in enumerate(parts):
            width = (part.value or 0.0) * (RIGHT - left)
            if width:
                yield element(
                    *("rect", element("title", part.hint)),
                    **{"x": x, "y": 4.0, "width": width, "height": ROW - 8},
                    class_=f"part p{series}",
                    **facts(part),
                )
            if width > 4.5 * LETTER:
                yield text(x + width / 2, 15, percent(part.value), f"inside p{series}")
            x += width

    return _in_rows(title, rows, marks)


def boxes(title: str, rows: Rows) -> Markup:
    """Draw the range, the quartiles and the median of each system's points, and the points."""

    def marks(left: float, number: int, points: Sequence[Point]) -> Iterator[Markup]:
        there = [point for point in points if point.value is not None]
        yield element("g", *(_dot(p, left, RIGHT, ROW / 2, 0) for p in there), class_="faint")
        if there:
            quartiles = np.quantile([point.value for point in there], (0, 0.25, 0.5, 0.75, 1))
            low, lower, median, upper, high = (left + quartiles * (RIGHT - left)).tolist()
            box = {"x": lower, "y": 5.0, "width": max(upper - lower, 1.0), "height": ROW - 10}
            yield line(low, ROW / 2, high, ROW / 2, "interval")
            yield element("rect", **box, rx=2, class_="box")
            yield line(median, 4, median, ROW - 4, "median")

    return _in_rows(title, rows, marks)


def _in_rows(
    title: str,
    rows: Rows,
    marks: Callable[[float, int, Sequence[Point]], Iterable[Markup]],
    right: float = RIGHT,
    tall: float = ROW,
    chance: float | None = None,
) -> Markup:
    """Draw a row for each system over a scale in percent.

    `marks` takes where the scale begins, the row's number and its points.
    """
    left = min(max((len(name) for name in rows), default=0) * LETTER + 10, 134.0)
    height = TOP + tall * len(rows) + 4
    drawn = [text(0, 10, title, "title"), *scale(left, right, height - 4, chance)]
    for number, (system, points) in enumerate(rows.items()):
        name = text(0, tall / 2 + 4, cut(system, int((left - 4) / LETTER)), "name")
        inside = [name, *marks(left, number, points)]
        drawn.append(row(system, TOP + number * tall, tall, inside))
    return drawing(_says(title, rows), height, drawn)


def curves(title: str, places: Sequence[str], rows: Rows, *, chance: float) -> Markup:
    """Draw a line over the places of the x-axis for each system, with bands of its intervals."""
    left, right, top, bottom = 30.0, RIGHT, 26.0, 210.0
    xs = np.linspace(left + 8, right - 8, len(places)).tolist()

    def y(value: float) -> float:
        return bottom - value * (bottom - top)

    drawn = [text(0, 10, title, "title")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        drawn.append(line(left, y(tick), right, y(tick), "grid"))
        drawn.append(text(left - 6, y(tick) + 4, f"{100 * tick:g}", "scale"))
    drawn.append(line(left, y(chance), right, y(chance), "chance"))
    drawn += [text(x, bottom + 16, place, "tick") for x, place in zip(xs, places, strict=True)]
    for series, (system, points) in enumerate(rows.items()):
        there = [(x, p, p.value) for x, p in zip(xs, points, strict=True) if p.value is not None]
        marks = [
            line(x1, y(v1), x2, y(v2), f"curve s{series % 8}")
            for (x1, _, v1), (x2, _, v2) in pairwise(there)
        ]
        for x, point, value in there:
            if point.ends:
                low, high = map(y, point.ends)
                marks.append(line(x, low, x, high, f"whisker s{series % 8}"))
            marks.append(_mark(point, x, y(value), series))
        drawn.append(element("g", *marks, data_system=system))
    return drawing(_says(title, rows), bottom + 24, drawn)


def _dot(point: Point, left: float, right: float, y: float, series: int) -> Markup:
    assert point.value is not None
    x = [left + end * (right - left) for end in point.ends or ()]
    interval = line(x[0], y, x[1], y, f"interval s{series}") if x else ""
    mark = _mark(point, left + point.value * (right - left), y, series)
    return element("g", interval, mark) if interval else mark


def _mark(point: Point, x: float, y: float, series: int) -> Markup:
    """Draw a point in the shape and colour of its series: both, for those who see few colours."""
    return element(
        *("path", element("title", point.hint)),
        d=shape_of(series),
        transform=f"translate({x:.1f} {y:.1f})",
        class_=f"mark s{series % 8}",
        **facts(point),
    )


def shape_of(series: int) -> str:
    """Return the outline of a series' marks; 32 series differ in it or in one of eight colours."""
    return SHAPES[(series + series // 8) % len(SHAPES)]


def facts(point: Point) -> dict[str, object]:
    """Return where a point is in the scores, by which the page can be checked."""
    if point.path is None:
        return {}
    return {"data_path": json.dumps(point.path), "data_value": repr(point.value)}


def _says(title: str, rows: Rows) -> str:
    """Describe a chart to those who do not see it; the numbers stand in the table below it."""
    said = (
        f"{system} {', '.join(percent(point.value) for point in points)}"
        for system, points in rows.items()
    )
    return f"{title}: {'; '.join(said)}"
