"""The sixth kind of chart: a table of coloured, signed cells with slanted column names."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup

from pronominal.eval.report.charts.svg import LETTER, WIDTH, cut, drawing, element, row, text
from pronominal.eval.tables.charts import Head, Sign

NARROW = 6.2
"""Mean width of a letter of the row names, somewhat smaller than a chart's other text."""

LONGEST = 20
"""Letters of a column name at most."""

GAP = 6.0
"""Between groups of columns."""


def grid(
    title: str,
    columns: Sequence[Head],
    rows: Mapping[str, Sequence[Sign]],
    side: float,
    *,
    of_systems: bool = True,
) -> Markup:
    """Draw a cell of a side for each row and column; cells that say nothing are drawn at once.

    Rows are of systems, unless it is said that they are not: the page hides them with these.
    """
    left = min(max((len(name) for name in rows), default=0) * NARROW + 8, 128.0)
    xs = _places(columns, left, side)
    names = [cut(column.name, LONGEST) for column in columns]
    slant = 0.7 * NARROW * max(map(len, names), default=0)
    head = 24 + slant + (14 if any(column.group for column in columns) else 0)
    drawn = [text(0, 10, title, "title"), *_groups(columns, xs, side)]
    heads = [
        _column(x, [_head(name, column, side)], "col", column.system)
        for name, column, x in zip(names, columns, xs, strict=True)
    ]
    drawn.append(element("g", *heads, class_="heads", transform=f"translate(0 {head - 3:.1f})"))
    for place, (name, cells) in enumerate(rows.items()):
        inside = [text(left - 5, side * 0.72, cut(name, int(left / LETTER)), "scale")]
        inside += _cells(columns, xs, cells, side)
        drawn.append(row(name if of_systems else None, head + place * side, side, inside))
    last = (xs[-1] if xs else left) + side
    ends = (x + 0.65 * side + 0.68 * NARROW * len(n) for x, n in zip(xs, names, strict=True))
    width = max(WIDTH, last, *ends)
    facts = {"data_left": left, "data_side": side} if columns and columns[0].system else {}
    return drawing(title, head + side * len(rows) + 4, drawn, width, **facts)


def _places(columns: Sequence[Head], left: float, side: float) -> list[float]:
    xs = [left]
    for one, other in pairwise(columns):
        xs.append(xs[-1] + side + (GAP if one.group != other.group else 0))
    return xs[: len(columns)]


def _groups(columns: Sequence[Head], xs: Sequence[float], side: float) -> Iterator[Markup]:
    for group in dict.fromkeys(column.group for column in columns if column.group):
        places = [x for column, x in zip(columns, xs, strict=True) if column.group == group]
        yield text((places[0] + places[-1] + side) / 2, 27, group, "tick")


def _head(name: str, column: Head, side: float) -> Markup:
    hint = (element("title", column.hint),) if column.hint else ()
    at = f"translate({0.65 * side:.1f} 0) rotate(-48)"
    return element("text", name, *hint, class_="column", transform=at)


def _column(x: float, inside: Sequence[Markup], class_: str, system: str | None = None) -> Markup:
    return element("g", *inside, class_=class_, transform=f"translate({x:g})", data_system=system)


def _cells(
    columns: Sequence[Head], xs: Sequence[float], cells: Sequence[Sign], side: float
) -> Iterator[Markup]:
    box = f"h{side - 2:g}v{side - 2:g}h-{side - 2:g}z"
    silent = []
    for column, x, cell in zip(columns, xs, cells, strict=True):
        # the page finds the column of a system's cell by counting
        if not (cell.hint or cell.sign or column.system):
            silent.append(f"M{x + 1:g} 1{box}")
            continue
        drawn = [element("title", cell.hint), element("path", d=f"M1 1{box}")]
        drawn += [text(side / 2, side * 0.75, cell.sign)] if cell.sign else []
        yield _column(x, drawn, f"col {cell.kind}")
    if silent:
        yield element("path", d="".join(silent), class_="none")
