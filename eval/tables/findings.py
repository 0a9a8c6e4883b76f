"""Sentences on scores: which system is better and by how much, and what stands out in one."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Any

from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED, differ
from pronominal.eval.statistics.scores import Figure, Scores
from pronominal.eval.tables.comparison import FAILED
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import percent, points, written_p

COMPARED = 4
"""How many systems are compared with the best one in words."""

LISTED = 5
"""How many labels a sentence names."""


def comparisons(headline: Measure, scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which system is better and by how much: in planned pairs, and the best with the others.

    What was not planned is called exploratory where there is a plan.
    """
    planned = {label: one.get(PLANNED, {}) for label, one in scores.items()}
    first, *others = _ordered(headline, scores)
    yield from _compared(headline, planned, [*combinations([first, *others], 2)], "Planned: ")
    prefix = "Exploratory: " if any(planned.values()) else ""
    pairs = [(first, other) for other in others]
    yield from _compared(headline, scores, pairs[:COMPARED], prefix)
    if (more := len(others) - COMPARED) > 0:
        yield f"{more} further system{' is' if more == 1 else 's are'} compared by --full."


def _ordered(headline: Measure, scores: Mapping[str, Scores]) -> list[str]:
    """Return the systems, that with the highest figure first."""
    figures = {label: headline.of(one) for label, one in scores.items()}
    return sorted(
        scores,
        key=lambda label: -math.inf if (one := figures[label]) is None else one.value,
        reverse=True,
    )


def _compared(
    headline: Measure,
    scores: Mapping[str, Mapping[str, Any]],
    pairs: Iterable[tuple[str, str]],
    prefix: str,
) -> Iterator[str]:
    """Compare pairs of systems, the first of which has the higher figure."""
    alike: dict[str, list[str]] = {}
    verb = "better" if headline.direction == "more" else "higher"
    for one, other in pairs:
        test = scores[one].get(AGAINST, {}).get(headline.key, {}).get(other)
        ends = None if test is None else test["interval"]["difference"]
        if test is None or ends is None:
            continue
        if differ(test):
            by = f"{percent(test['difference'])} [{', '.join(map(percent, ends))}]"
            yield f"{prefix}{one} is {verb} than {other} by {by} ({written_p(test['p_holm'])})."
        elif (test.get("equivalence") or {}).get("equivalent"):
            margin = f"{100 * test['equivalence']['margin']:g}"
            yield f"{prefix}{one} and {other} are equivalent: closer than {margin} points."
        else:
            by = f"{points(test['difference'])} [{', '.join(map(points, ends))}]"
            p = "" if test["p_holm"] is None else f", {written_p(test['p_holm'])}"
            alike.setdefault(one, []).append(f"{other} ({by}{p})")
    for one, told in alike.items():
        yield f"{prefix}No difference was found between {one} and {_listed(told)}."


def findings(
    headline: Measure, columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[str]:
    """Say which parts systems lose on, and where they are not better than guessing."""
    if headline.direction == "more":
        yield from _losses(headline, columns, scores)
    yield from _against_chance(headline, scores)
    for column in columns:
        if column.division is not None:
            continue
        below: dict[str, list[str]] = {}
        for label, one in scores.items():
            figure, chance = column.measure.of(one), column.measure.chance_in(one)
            if figure is not None and chance is not None and _is_below(figure, chance):
                got = f"{column.measure.write(figure.value)}, and guessing gets {100 * chance:.3g}"
                below.setdefault(got, []).append(label)
        for got, labels in below.items():
            yield f"{column.measure.name} of {_listed(labels)} is {got}."


def _losses(
    headline: Measure, columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[str]:
    parts = [
        part
        for column in columns
        if column.division is not None and column.measure.key == headline.key
        for part in column.expanded([*scores.values()])
    ]
    lost = {label: _lost(headline, parts, one) for label, one in scores.items()}
    by_parts = sorted(((*those,), label) for label, those in lost.items() if those)
    for names, group in groupby(by_parts, key=lambda found: found[0]):
        labels = [label for _, label in group]
        if len(labels) == 1:
            told = _listed(f"{percent(lost[labels[0]][name])} on {name}" for name in names)
            yield f"{labels[0]} loses {told}."
        else:
            values = _listed(
                "/".join(percent(lost[label][name]) for name in names) for label in labels
            )
            both = "both " if len(labels) == 2 else ""
            yield f"{_listed(labels)} {both}lose {values} on {_listed(names)}."


def _lost(headline: Measure, parts: Sequence[SummaryColumn], one: Scores) -> dict[str, float]:
    """Return how much lower the headline is on parts whose interval lies below it as a whole."""
    whole = headline.of(one)
    found = {part.name: part.measure.of(one) for part in parts}
    return {
        name: whole.value - figure.value
        for name, figure in found.items()
        if whole is not None and figure is not None and _is_below(figure, whole.value)
    }


def _is_below(figure: Figure, value: float) -> bool:
    return figure.high is not None and figure.high < value and not figure.is_of_few


def _against_chance(headline: Measure, scores: Mapping[str, Scores]) -> Iterator[str]:
    figures = {label: (headline.of(one), headline.chance_in(one)) for label, one in scores.items()}
    alike: dict[float, list[str]] = {}
    for label, (figure, chance) in figures.items():
        if chance is None or figure is None or figure.ends is None or figure.is_of_few:
            continue
        if figure.n is not None and scores[label].get(FAILED, 0) >= figure.n:
            continue
        if figure.ends[0] <= chance <= figure.ends[1]:
            alike.setdefault(chance, []).append(label)
        elif figure.ends[1] < chance:
            yield f"{label} is worse than guessing, which gets {100 * chance:.3g}."
    for chance, labels in alike.items():
        verb = "is" if len(labels) == 1 else "are"
        yield f"{_listed(labels)} {verb} not told from guessing, which gets {100 * chance:.3g}."


def _listed(words: Iterable[str]) -> str:
    """Join words as a sentence does, and say how many more there are than `LISTED`.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    >>> _listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    *first, last = words
    if (more := len(first) + 1 - LISTED) > 0:
        first, last = first[:LISTED], f"{more} more"
    return f"{', '.join(first)} and {last}" if first else last
