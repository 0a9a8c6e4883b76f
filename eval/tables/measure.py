"""A measure: a number that scores have for every system, and how it is shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, get_args

from pronominal.errors import InputError
from pronominal.eval.statistics.scores import Figure, Keys, Scores, is_choice
from pronominal.eval.tables.table import (
    BELOW_CHANCE,
    OF_FEW,
    SPREAD,
    UNDEFINED,
    VACUOUS,
    percent,
)

Unit = Literal["share", "ratio", "count"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a task's scores, from which tables, charts and exports follow.

    Attributes:
        key: its name in tidy scores; where paired tests compare it, the name of its units.
        heading: what tables and charts call it.
        path: where it is in the scores, such as ``("overall", "accuracy")``.
        unit: a share in [0, 1] is shown in percent, a ratio with two decimals.
        chance: what guessing gets, or where the scores say so; None where nothing is guessed.
        guessed_where: name of a block of the scores; where it is None, nothing is to be guessed.
        direction: whether more of it is better, or less; None where neither is.
        metric: the type of the metric on the Hub; None keeps it out of model cards.
        divisions: kind of part, such as ``case`` or ``case/pronoun_set`` -> the pattern that leads
            to the number of each part, in which one key is the part's. The key of two kinds of
            part has a ``/`` between both.
        card_divisions: those of the divisions that model cards have, too.
        in_table: whether the comparison table has a column for it.
        only_if_any: whether it is left out where no system has any of it.
        in_charts: whether it has a panel in the chart of all measures.
        chart_divisions: those of the divisions that have a chart of their own.
        note: what tables say about it.
        title: what it is called where no note explains the heading; the heading without it.
        answered: how many rows were answered, of a measure that leaves out the others: sentences
            have both.

    Raises:
        InputError: a path is no tuple of keys, a pattern has no key of the part or several, a
            division that is to be shown is none of the divisions, or there is no such unit.
    """

    key: str
    heading: str
    path: Keys
    unit: Unit = "share"
    chance: float | Keys | None = None
    guessed_where: str | None = None
    direction: Literal["more", "less"] | None = "more"
    metric: str | None = None
    divisions: Mapping[str, Keys] = field(default_factory=dict)
    card_divisions: Sequence[str] = ()
    in_table: bool = True
    only_if_any: bool = False
    in_charts: bool = False
    chart_divisions: Sequence[str] = ()
    note: str = ""
    title: str | None = None
    answered: "Measure | None" = None

    def __post_init__(self) -> None:
        for path in (self.path, *self.divisions.values()):
            if not (path and isinstance(path, tuple) and all(isinstance(key, str) for key in path)):
                cure = 'write it such as ("overall", "accuracy")'
                raise self._wrong(f"the path {path!r}, which is no tuple of keys", cure)
        for division, pattern in self.divisions.items():
            if sum(map(is_choice, pattern)) != 1:
                cure = 'let one key be "*", or such as "first|second"'
                raise self._wrong(f"for {division} a pattern without one key of the part", cure)
        for division in (*self.card_divisions, *self.chart_divisions):
            if division not in self.divisions:
                raise self._wrong(f"no division {division!r}", "add it to its divisions")
        if self.unit not in get_args(Unit):
            raise self._wrong(
                f"the unit {self.unit!r}", f"choose one of {', '.join(get_args(Unit))}"
            )

    def _wrong(self, cause: str, cure: str) -> InputError:
        return InputError(f"the measure {self.key} has {cause}", cure=cure)

    @property
    def name(self) -> str:
        """What it is called where no note explains the heading."""
        return self.title or self.heading

    def on_part(self, heading: str, path: Keys) -> "Measure":
        """Return the measure on a part of the rows, where its number stands at `path`."""
        # what scores say of chance, they say of all rows
        chance = None if isinstance(self.chance, tuple) else self.chance
        return replace(self, heading=heading, path=path, chance=chance)

    def of(self, scores: Scores) -> Figure | None:
        """Return the measure's number; None where the scores have none."""
        return scores.figure(self.path)

    def counts_in(self, scores: Scores) -> bool:
        """Whether scores have the number, be it undefined; a count of 0 says nothing."""
        figure, counted = self.of(scores), self.unit == "count" or self.only_if_any
        return scores.has(self.path) and (not counted or bool(figure and figure.value))

    def chance_in(self, scores: Scores) -> float | None:
        """Return what guessing gets on the rows of some scores."""
        if self.guessed_where is not None and scores.get(self.guessed_where, 0) is None:
            return None
        if not isinstance(self.chance, tuple):
            return self.chance
        figure = scores.figure(self.chance)
        return None if figure is None else figure.value

    def ends_in(self, scores: Scores) -> tuple[float, float]:
        """Return the ends of the number's interval, which is as wide as can be without one."""
        figure = self.of(scores)
        return (-inf, inf) if figure is None or figure.ends is None else figure.ends

    def cell(self, scores: Scores) -> str:
        """Write the number for a table, with a mark, its deviation and its interval."""
        figure = self.of(scores)
        if figure is None:
            return UNDEFINED
        spread = "" if figure.sd is None else f" {SPREAD}{self.write(figure.sd)}"
        ends = "" if figure.ends is None else f" [{', '.join(map(self.write, figure.ends))}]"
        return f"{self.short(scores)}{spread}{ends}"

    def short(self, scores: Scores) -> str:
        """Write the number with a mark alone."""
        figure = self.of(scores)
        if figure is None:
            return UNDEFINED
        return f"{self.write(figure.value)}{self._mark(scores, figure)}"

    def write(self, value: float) -> str:
        """Write a number in the measure's unit."""
        if self.unit == "count":
            return f"{value:,}"
        return percent(value) if self.unit == "share" else f"{value:.2f}"

    def _mark(self, scores: Scores, figure: Figure) -> str:
        chance = self.chance_in(scores)
        if scores.is_vacuous(self.path):
            return VACUOUS
        if figure.is_of_few:
            return OF_FEW
        below = chance is not None and figure.high is not None and figure.high < chance
        return BELOW_CHANCE if below else ""


def abstention_measures(
    *path: str, divided: Callable[[str], Mapping[str, Keys]] = lambda key: {}, **shown: Any
) -> tuple[Measure, ...]:
    """Return the shares of rows that are answered, and of each way to have no choice.

    Args:
        path: the block that has them.
        divided: takes a measure's key; returns its divisions.
        shown: further attributes of the measures.
    """
    titles = {
        "answered": None,
        "none": "Rows without an answer",
        "both": "Rows with both answers",
        "unfinished": "Rows where the model was cut off before it answered",
    }
    return tuple(
        Measure(key, key.capitalize(), (*path, key), direction=None, metric="share",
                divisions=divided(key), title=title, only_if_any=key == "unfinished", **shown)
        for key, title in titles.items()
    )  # fmt: skip
