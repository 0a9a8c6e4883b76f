"""Charts as data: which numbers of the scores they show; the report draws them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pronominal.eval.statistics.scores import Keys
from pronominal.eval.tables.table import Table

Panels = Mapping[str, Mapping[str, Keys]]
"""Heading of a panel -> series in it -> where its number is in the scores."""


@dataclass(frozen=True, slots=True)
class Dots:
    """A dot with its interval for each system, in one panel or several.

    Attributes:
        name: of its file.
        title: of the table with its numbers.
        panels: what is shown.
        chance: what guessing gets, by panel.
    """

    name: str
    title: str
    panels: Panels
    chance: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar for each system, made of the parts of a whole.

    Attributes:
        name: of its file.
        title: of the table with its numbers.
        panels: heading -> where the block with the parts is in the scores.
        parts: keys of the block; those that no system has are left out.
        divided: part -> the parts that it is divided into; it is left out where these are known.
    """

    name: str
    title: str
    panels: Mapping[str, Keys]
    parts: Sequence[str]
    divided: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a map's column.

    Attributes:
        name: of the column.
        group: neighbours with the same group share a second head.
        hint: what hovering says.
        system: that the column is about; the page hides it with the system.
    """

    name: str
    group: str = ""
    hint: str = ""
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Sign:
    """One cell of a map.

    Attributes:
        sign: what is written in it, such as "+" or "−".
        kind: how it is coloured.
        hint: what hovering says.
    """

    sign: str
    kind: Literal["positive", "negative", "other", "none", "missing"]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """Grids of signs, such as one for each system.

    Attributes:
        name: of its file.
        grids: title -> heads of the columns, and the signs of each row by its name.
        legend: kind of sign -> what it says.
        table: the same as a table.
        about_systems: whether the titles are systems, with which the page hides the grids; rows
            are otherwise.
        side: of a cell, in pixels.
    """

    name: str
    grids: Mapping[str, tuple[Sequence[Head], Mapping[str, Sequence[Sign]]]]
    legend: Mapping[str, str]
    table: Table
    about_systems: bool = False
    side: float = 17.0


Chart = Dots | Bars | Map


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over the configs of a dataset, such as RUFF's number of distractors.

    Attributes:
        name: of its file.
        title: of the table with its numbers.
        place: config -> its place on the x-axis; None for a config that has none.
        division: the kind of part that each have a panel, beside one for all rows.
    """

    name: str
    title: str
    place: Callable[[str], str | None]
    division: str | None = None
