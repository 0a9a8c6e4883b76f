"""Which system is better than all others beyond chance, and tables in which it is bold."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pronominal.eval.statistics.paired_tests import AGAINST, differ
from pronominal.eval.statistics.scores import Figure, Scores
from pronominal.eval.tables.comparison import mark_notes, parts_of
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.table import UNDEFINED, Table, interval_notes


def best_row(measure: Measure, scores: Mapping[str, Scores]) -> int | None:
    """Return the row of the system that is better than all others; None where chance may do it.

    Two systems are compared by their paired test, and where there is none by intervals.
    """
    figures = {label: measure.of(one) for label, one in scores.items()}
    known = {label: figure for label, figure in figures.items() if figure is not None}
    if measure.direction is None or len(known) < 2 or len(known) < len(figures):
        return None
    sign = 1 if measure.direction == "more" else -1
    first, *others = sorted(known, key=lambda label: -sign * known[label].value)
    tests = scores[first].get(AGAINST, {}).get(measure.key, {})
    if all(_is_better(known[first], known[other], tests.get(other), sign) for other in others):
        return [*scores].index(first)
    return None


def best_first(measure: Measure, scores: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return scores with those of the best system first; those without a figure are last."""
    figures = {label: measure.of(one) for label, one in scores.items()}
    sign = 1 if measure.direction == "less" else -1
    order = sorted(
        scores,
        key=lambda label: math.inf if (one := figures[label]) is None else sign * one.value,
    )
    return {label: scores[label] for label in order}


def _is_better(one: Figure, other: Figure, test: Mapping[str, Any] | None, sign: int) -> bool:
    if test is not None:
        return differ(test)
    if one.ends is None or other.ends is None or one.is_of_few:
        return False
    return one.ends[0] > other.ends[1] if sign > 0 else one.ends[1] < other.ends[0]


def crossed_tables(headline: Measure, scores: Mapping[str, Scores]) -> Iterator[Table]:
    """Show the headline by two kinds of part at once, such as grammatical case and pronoun set."""
    for division in headline.divisions:
        kinds = division.split("/")
        parts = dict(parts_of(headline, division, scores.values()))
        if len(kinds) != 2 or not parts:
            continue
        crossed = {tuple(chosen[0].split("/")): path for chosen, path in parts.items()}
        firsts, seconds = (tuple(dict.fromkeys(keys)) for keys in zip(*crossed, strict=True))
        cells = {
            key: replace(headline.on_part(headline.heading, path), key="")
            for key, path in crossed.items()
        }
        rows = tuple(
            (label, first, *(cells[first, s].cell(one) if (first, s) in cells else UNDEFINED
                             for s in seconds))
            for label, one in scores.items()
            for first in firsts
        )  # fmt: skip
        best = frozenset(
            (row * len(firsts) + firsts.index(first), 2 + seconds.index(second))
            for (first, second), measure in cells.items()
            if (row := best_row(measure, scores)) is not None
        )
        names = [kind.replace("_", " ") for kind in kinds]
        title = f"{headline.heading} by {names[0]} and {names[1]}"
        columns = ("System", names[0].capitalize(), *seconds)
        told = [*mark_notes(cells.values(), scores.values()), *interval_notes(scores.values())]
        notes = tuple(dict.fromkeys(told))
        yield Table(title, columns, rows, notes, best)
