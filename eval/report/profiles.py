"""Each model over all datasets: what it can do, by pronoun set, and what it does not reuse."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.card import citation_year
from pronominal.errors import InputError
from pronominal.eval.papers.packs import release_years
from pronominal.eval.report.charts.drawings import Drawer, Drawing
from pronominal.eval.report.charts.profile import Cell, profile_drawing
from pronominal.eval.report.scored import Comparison
from pronominal.eval.statistics.scores import Figure, Keys
from pronominal.eval.tables.ability import ABILITIES, RESOLVES, REUSES, Ability
from pronominal.eval.tables.charts import Head, Map, Sign
from pronominal.eval.tables.comparison import parts_of
from pronominal.eval.tables.table import Table
from pronominal.names import unknown_name

ALL = "all"

DATE = re.compile(r"(\d{4})(-\d\d){0,2}")

NEWER = "* newer than the data, by the year of both: it may have been trained on them."

SIGNS = {
    (True, True): Sign("●", "positive", "resolves it, and keeps using it"),
    (True, False): Sign("◐", "negative", "resolves it, and does not keep using it"),
    (False, True): Sign("◑", "other", "keeps using it, and does not resolve it"),
    (False, False): Sign("○", "none", "neither"),
}
"""Whether a pronoun set is resolved, and whether it is kept using, both beyond chance."""

UNKNOWN = Sign("–", "missing")


def profiles(comparisons: Sequence[Comparison], released: Mapping[str, str]) -> Iterator[Drawing]:
    """Draw the profile of each model that answered several datasets, and what models reuse.

    Args:
        comparisons: the runs.
        released: label -> when the model came out; without it the year that a paper's pack says
            of the checkpoint. It is never guessed.

    Raises:
        InputError: a date is none, or is of no model here.
    """
    _refuse_other(comparisons, released)
    able = [one for one in comparisons if one.task.ability is not None]
    able.sort(key=lambda one: ABILITIES.index(_ability(one).name))
    systems = dict.fromkeys(label for one in able for label in one.scores)
    several = [s for s in systems if len({one.dataset for one in able if s in one.scores}) > 1]
    if several:
        shown = _Profiles(able, several, released)
        yield shown.drawing()
        yield from shown.reuse()


def _refuse_other(comparisons: Sequence[Comparison], released: Mapping[str, str]) -> None:
    known = {label for one in comparisons for label in one.scores}
    for label, date in released.items():
        if label not in known:
            raise unknown_name("scored run", label, known)
        if not DATE.fullmatch(date):
            cause = f"the model {label} is said to be released {date!r}, which is no date"
            raise InputError(cause, cure="write 2025, 2025-01 or 2025-01-31")


def _ability(one: Comparison) -> Ability:
    assert one.task.ability is not None
    return one.task.ability


@dataclass(frozen=True, slots=True)
class _Profiles:
    comparisons: Sequence[Comparison]
    systems: Sequence[str]
    released: Mapping[str, str]

    def drawing(self) -> Drawing:
        """Draw a panel for each model: a row for each ability and split, a column for each set."""
        found = {
            label: {one.title: _figures(one, label) for one in self._of(label)}
            for label in self.systems
        }
        sets = self._sets()
        panels = {
            label: {
                ability: {
                    f"{one.dataset} {one.config}{self._star(one, label)}": [
                        self._cell(one, label, name) for name in sets
                    ]
                    for one in of_it
                }
                for ability, of_it in groupby(self._of(label), lambda one: _ability(one).name)
            }
            for label in self.systems
        }
        rows = tuple(
            (label, _ability(one).name, f"{one.title}{self._star(one, label)}",
             *(self._written(one, found[label][one.title].get(name)) for name in sets))
            for label in self.systems
            for one in self._of(label)
        )  # fmt: skip
        table = Table("Profiles", ("System", "Ability", "Rows", *sets), rows, tuple(self._notes()))
        return profile_drawing(table, sets, panels)

    def reuse(self) -> Iterator[Drawing]:
        """Map which pronoun sets each model resolves and does not keep using."""
        able = {_ability(one).name: one for one in reversed(self.comparisons)}
        reused = [one for one in self.comparisons if _ability(one).name == REUSES]
        if RESOLVES not in able or not reused:
            return
        resolved = able[RESOLVES]
        signs = {one.title: self._signs(resolved, one) for one in reused}
        sets = [*dict.fromkeys(n for of in signs.values() for one in of.values() for n in one)]
        grids = {
            title: (
                [Head(name) for name in sets],
                {s: [one.get(name, UNKNOWN) for name in sets] for s, one in of_it.items()},
            )
            for title, of_it in signs.items()
            if of_it
        }
        if not sets:
            return
        rows = tuple(
            (s, title, *(f"{one.sign} {one.hint}" for one in of_it))
            for title, (_, signs_of) in grids.items()
            for s, of_it in signs_of.items()
        )
        title = f"Resolves ({resolved.title}), and keeps using"
        note = (
            "Resolves, keeps using: the whole interval of the accuracy on the set is above chance."
        )
        legend: dict[str, str] = {one.kind: f"{one.sign} {one.hint}" for one in SIGNS.values()}
        table = Table(title, ("System", "Keeps using in", *sets), rows, (note,))
        chart = Map("resolves-and-keeps-using", grids, legend, table, side=30.0)
        yield from Drawer(resolved.scores, resolved.task.units).drawings(chart)

    def _signs(self, resolved: Comparison, reused: Comparison) -> dict[str, dict[str, Sign]]:
        """Return model -> pronoun set -> what it does with it."""
        found = {}
        for label in self.systems:
            if label in resolved.scores and label in reused.scores:
                both = [(one, _figures(one, label)) for one in (resolved, reused)]
                names = [name for name in both[0][1] if name in both[1][1] and name != ALL]
                found[label] = {
                    name: SIGNS[
                        _is_above(resolved, label, both[0][1][name]),
                        _is_above(reused, label, both[1][1][name]),
                    ]
                    for name in names
                }
        return found

    def _of(self, label: str) -> list[Comparison]:
        return [one for one in self.comparisons if label in one.scores]

    def _sets(self) -> list[str]:
        names = dict.fromkeys(
            name for one in self.comparisons for s in one.scores for name in _figures(one, s)
        )
        return [ALL, *(name for name in names if name != ALL)]

    def _cell(self, one: Comparison, label: str, name: str) -> Cell:
        figure = _figures(one, label).get(name)
        measure = one.task.headline_in(one.scores.values())
        if figure is None:
            return Cell("", None)
        chance = measure.chance_in(one.scores[label])
        written = measure.write(figure.value)
        hint = f"{label}, {one.title}, {name}: {measure.name} {self._written(one, figure)}"
        return Cell(written, figure.value, chance, hint)

    def _written(self, one: Comparison, figure: Figure | None) -> str:
        if figure is None:
            return "–"
        write = one.task.headline_in(one.scores.values()).write
        ends = "" if figure.ends is None else f" [{', '.join(map(write, figure.ends))}]"
        return f"{write(figure.value)}{ends}"

    def _star(self, one: Comparison, label: str) -> str:
        """Mark rows that were published in a year before that of the model."""
        run = one.runs[label]
        hub_id = (run.checkpoint_name or "").partition("@")[0]
        known_date = run.settings.get("released", release_years().get(hub_id))
        date = self.released.get(label, known_date)
        year = citation_year(one.dataset) if one.dataset in DATASETS else None
        known = isinstance(date, str) and DATE.fullmatch(date) and year is not None
        return " *" if known and int(str(date)[:4]) > int(year or 0) else ""

    def _notes(self) -> Iterator[str]:
        shown: dict[str, list[str]] = {}
        for one in self.comparisons:
            measure = one.task.headline_in(one.scores.values())
            shown.setdefault(measure.name, []).append(one.title)
        told = (f"{name}: {', '.join(titles)}" for name, titles in shown.items())
        yield f"{'; '.join(told)}."
        if any(self._star(one, s) for s in self.systems for one in self._of(s)):
            yield NEWER
        yield "Pale: not clearly better than guessing. Empty: the rows say nothing of this set."


def _figures(one: Comparison, label: str) -> dict[str, Figure]:
    """Return the headline of all rows, and of those of each pronoun set."""
    ability, score = _ability(one), one.scores[label]
    measure = one.task.headline_in(one.scores.values())
    paths: dict[str, Keys] = {ALL: measure.path}
    if ability.all_rows is not None:
        paths[ability.all_rows] = measure.path
    if ability.division in measure.divisions:
        for (part,), path in parts_of(measure, str(ability.division), [score]):
            name = ability.pronoun_sets.get(part, part)
            if not ability.pronoun_sets or part in ability.pronoun_sets or part == "they":
                paths[name] = path
    figures = {name: score.figure(path) for name, path in paths.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def _is_above(one: Comparison, label: str, figure: Figure) -> bool:
    """Whether the whole interval of a figure is above chance."""
    chance = one.task.headline_in(one.scores.values()).chance_in(one.scores[label])
    return chance is not None and figure.low is not None and figure.low > chance
