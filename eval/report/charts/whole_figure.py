"""A figure for a paper: its panels with title and legend in one drawing, as wide as a column."""

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.kinds import shape_of
from pronominal.eval.report.charts.small_multiples import SHAPE_OF_KIND
from pronominal.eval.report.charts.svg import LETTER, WIDTH, element, line, text

COLUMN, PAGE = 7.7, 16.0
"""Width in centimetres of a column and of both, as ACL's style has them."""

GAP = 22.0

LINE = 16.0
"""Height of a line of the legend."""

SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def whole_figure(figure: Drawing) -> Markup:
    """Put the panels of a figure into one drawing: one column wide, or two where it has several."""
    sizes = [_size(panel.drawn) for panel in figure.panels]
    widest = max((width for width, _ in sizes), default=WIDTH)
    side_by_side = 2 if len(sizes) > 1 and widest <= WIDTH else 1
    width = widest * side_by_side + GAP * (side_by_side - 1)
    drawn = [text(0, 12, figure.table.title, "title"), *_legend(figure.legend, width)]
    top = 24.0 + LINE * _lines(figure.legend, width)
    for first in range(0, len(sizes), side_by_side):
        row = slice(first, first + side_by_side)
        for place, panel in enumerate(figure.panels[row]):
            drawn.append(_at(panel.drawn, place * (widest + GAP), top))
        top += max(height for _, height in sizes[row]) + GAP / 2
    whole = COLUMN if width <= WIDTH else PAGE
    return element(
        *("svg", *drawn),
        class_="chart",
        viewBox=f"0 0 {width:g} {top:g}",
        width=f"{whole:g}cm",
        height=f"{whole * top / width:.2f}cm",
        role="img",
        aria_label=figure.table.title,
    )


def _size(drawn: str) -> tuple[float, float]:
    found = SIZE.search(drawn)
    assert found is not None
    return float(found[1]), float(found[2])


def _at(drawn: Markup, x: float, y: float) -> Markup:
    return Markup(str(drawn).replace("<svg", f'<svg x="{x:g}" y="{y:g}"', 1))


def _places(
    legend: Sequence[tuple[str, str]], width: float
) -> Iterator[tuple[float, int, str, str]]:
    """Yield where each entry of a legend stands: x and the number of its line."""
    x, number = 0.0, 0
    for class_, name in legend:
        wide = len(name) * LETTER + 28
        if x and x + wide > width:
            x, number = 0.0, number + 1
        yield x, number, class_, name
        x += wide


def _lines(legend: Sequence[tuple[str, str]], width: float) -> int:
    return max((number + 1 for _, number, _, _ in _places(legend, width)), default=0)


def _legend(legend: Sequence[tuple[str, str]], width: float) -> Iterator[Markup]:
    for place, (x, number, class_, name) in enumerate(_places(legend, width)):
        y = 28 + number * LINE
        if class_ == "chance":
            yield line(x, y - 4, x + 12, y - 4, class_)
        elif class_ in SHAPE_OF_KIND or class_.startswith("s"):
            at, shape = f"translate({x + 6:g} {y - 4:g})", SHAPE_OF_KIND.get(class_)
            yield element("path", d=shape or shape_of(place), transform=at, class_=f"mark {class_}")
        else:
            box = {"x": x, "y": y - 10, "width": 12, "height": 12, "rx": 2}
            yield element("rect", **box, class_=f"part {class_}")
        yield text(x + 17, y, name)
