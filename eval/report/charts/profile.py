"""A model's profile: a table of numbers, the darker the further above guessing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pronominal.eval.report.charts.drawings import Drawing, Panel
from pronominal.eval.report.charts.svg import WIDTH, cut, drawing, element, text
from pronominal.eval.tables.table import Table

LEFT, HEAD, CAPTION, TALL = 126.0, 28.0, 17.0, 24.0
"""Width of the names; height of the head, of an ability's name, and of a row."""

NARROW = 5.9
"""Mean width of a letter of the names."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a profile.

    Attributes:
        written: as it is shown; empty where there is none.
        value: a share; None where there is none.
        chance: what guessing gets, where that is known.
        hint: what hovering says.
    """

    written: str
    value: float | None
    chance: float | None = None
    hint: str = ""

    @property
    def strength(self) -> float:
        """How far above guessing it is, of all that there is above; from 0 to 1."""
        chance = self.chance or 0.0
        return max(0.0, ((self.value or 0.0) - chance) / (1 - chance))


Profile = Mapping[str, Mapping[str, Sequence[Cell]]]
"""Ability -> rows that show it -> a cell for each pronoun set."""


def profile_drawing(table: Table, sets: Sequence[str], profiles: Mapping[str, Profile]) -> Drawing:
    """Draw the profile of each model: rows of cells, one for each pronoun set."""
    panels = (
        Panel(_profile(label, sets, rows), label, (label,)) for label, rows in profiles.items()
    )
    return Drawing("profiles", tuple(panels), (), table)


def _profile(label: str, sets: Sequence[str], rows: Profile) -> Markup:
    side = (WIDTH - LEFT) / max(len(sets), 1)
    drawn = [text(0, 10, label, "title")]
    drawn += [
        text(LEFT + (place + 0.5) * side, HEAD - 7, name, "tick") for place, name in enumerate(sets)
    ]
    y, said = HEAD, []
    for ability, of_it in rows.items():
        drawn.append(text(0, y + 12, ability, "caption"))
        y += CAPTION
        for name, cells in of_it.items():
            drawn.append(text(0, y + 16, cut(name, int(LEFT / NARROW)), "column"))
            drawn += _cells(cells, side, y)
            y += TALL
            said.append(f"{ability}, {name} {', '.join(c.written for c in cells if c.written)}")
    return drawing(f"Profile of {label}: {'; '.join(said)}", y + 4, drawn)


def _cells(cells: Sequence[Cell], side: float, y: float) -> Iterator[Markup]:
    for place, cell in enumerate(cells):
        if cell.value is not None:
            box = {"x": LEFT + place * side + 1, "y": y, "width": side - 2, "height": TALL - 2}
            hint = element("title", cell.hint)
            opacity = f"{0.06 + 0.5 * cell.strength:.2f}"
            yield element("rect", hint, **box, rx=3, class_="heat", fill_opacity=opacity)
            yield text(LEFT + (place + 0.5) * side, y + 15, cell.written, "heat-number")
