"""Small multiples: one number of every system, baselines and published figures apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from markupsafe import Markup

from pronominal.eval.report.charts.drawings import Drawing, Panel
from pronominal.eval.report.charts.kinds import ROW, SHAPES, TOP, Point, facts
from pronominal.eval.report.charts.svg import (
    LETTER,
    cut,
    drawing,
    element,
    line,
    row,
    scale,
    text,
)
from pronominal.eval.tables.table import Table, slug

WIDTH = 318.0
"""Of each multiple; four of them stand side by side on a desktop."""

NUMBER = 48.0
"""Width of the column of numbers."""

NARROW = 6.0
"""Mean width of a letter beside the numbers."""

CAPTION = 17.0
"""Height of the line that says what comes below it."""

Kind = Literal["system", "baseline", "published"]

SHAPE_OF_KIND: dict[str, str] = {
    "system": SHAPES[0],
    "baseline": SHAPES[0],
    "published": SHAPES[3],
}
"""A circle for what was run, a diamond for what was not."""

CAPTIONS: dict[Kind, str] = {
    "system": "",
    "baseline": "baselines",
    "published": "published, not rerun",
}

LEGEND: dict[Kind, str] = {
    "system": "systems",
    "baseline": "baselines",
    "published": "published, not rerun",
}
"""What a figure's legend calls them; the page has `CAPTIONS` alone."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A system's number in a multiple.

    Attributes:
        name: of the system.
        point: the number.
        written: the number as it stands beside the mark.
        kind: what the system is.
        beside: what stands beside the number: a place, or the part that it is of.
        best: whether it is better than all others beyond chance.
    """

    name: str
    point: Point
    written: str
    kind: Kind = "system"
    beside: str = ""
    best: bool = False


def multiple(title: str, marks: Sequence[Mark], chance: float | None = None) -> Drawing:
    """Draw a row for each mark over a scale in percent, in groups by their kind."""
    shown = [mark for mark in marks if mark.point.value is not None]
    legend: list[tuple[str, str]] = [
        (kind, LEGEND[kind]) for kind in dict.fromkeys(mark.kind for mark in shown)
    ]
    if chance is not None:
        legend.append(("chance", "guessing"))
    rows = tuple((mark.name, f"{mark.written} {mark.beside}".rstrip()) for mark in shown)
    table = Table(f"Systems by {title}", ("System", title), rows)
    panel = Panel(_drawn(title, shown, chance), title)
    return Drawing(slug(table.title), (panel,), tuple(legend), table)


def _drawn(title: str, shown: Sequence[Mark], chance: float | None) -> Markup:
    longest = max((len(mark.beside) for mark in shown), default=0)
    beside = NARROW * longest + 12 if longest else 0.0
    left = min(max((len(mark.name) for mark in shown), default=0) * LETTER + 8, 112.0)
    right = WIDTH - NUMBER - beside
    rows, height = [], TOP
    for kind, of_kind in groupby(shown, key=lambda mark: mark.kind):
        if CAPTIONS[kind]:
            caption = text(0, CAPTION - 5, CAPTIONS[kind], "column")
            rule = line(0, 2, WIDTH, 2, "grid")
            rows.append(row(None, height, CAPTION, [rule, caption]))
            height += CAPTION
        for mark in of_kind:
            rows.append(row(_hidden_with(mark), height, ROW, _row(mark, left, right, beside)))
            height += ROW
    said = "; ".join(f"{mark.name} {mark.written} {mark.beside}".rstrip() for mark in shown)
    drawn = [text(0, 10, title, "title"), *scale(left, right, height, chance), *rows]
    return drawing(f"{title}: {said}", height + 4, drawn, WIDTH)


def _hidden_with(mark: Mark) -> str | None:
    return None if mark.kind == "published" else mark.name


def _row(mark: Mark, left: float, right: float, beside: float) -> Iterator[Markup]:
    point = mark.point
    assert point.value is not None
    middle, weight = ROW / 2, " best" if mark.best else ""
    name = cut(mark.name, int((left - 4) / LETTER))
    yield text(0, middle + 4, name, f"name {mark.kind}{weight}")
    if point.ends:
        low, high = (left + end * (right - left) for end in point.ends)
        yield line(low, middle, high, middle, f"interval {mark.kind}")
    yield element(
        *("path", element("title", point.hint)),
        d=SHAPE_OF_KIND[mark.kind],
        transform=f"translate({left + point.value * (right - left):.1f} {middle:.1f})",
        class_=f"mark {mark.kind}",
        **facts(point),
    )
    sign = "★ " if mark.best else ""
    yield text(WIDTH - beside, middle + 4, f"{sign}{mark.written}", f"number {mark.kind}{weight}")
    if mark.beside:
        yield text(WIDTH, middle + 4, mark.beside, "beside")
