"""Sentences on scores: which system is better and by how much, and what stands out in one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from pronominal.eval.statistics.paired_tests import AGAINST, differ
from pronominal.eval.statistics.scores import Figure, Scores
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import percent, points, written_p

COMPARED = 4
"""How many systems are compared with the best one in words."""


def comparisons(headline: Measure, scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say whether the best system is better than the others, and by how much."""
    figures = {label: headline.of(one) for label, one in scores.items()}
    known = {label: figure.value for label, figure in figures.items() if figure is not None}
    first, *others = sorted(known, key=lambda label: -known[label]) or [""]
    tests = {} if not first else scores[first].get(AGAINST, {}).get(headline.key, {})
    tested = [(other, tests[other]) for other in others if other in tests]
    alike = []
    for other, test in tested[:COMPARED]:
        ends = test["interval"]["difference"]
        if ends is None or test["difference"] is None:
            continue
        if differ(test):
            by = f"{percent(test['difference'])} [{', '.join(map(percent, ends))}]"
            yield f"{first} is better than {other} by {by}{_p(test)}."
        else:
            alike.append(f"{other} ({points(test['difference'])} [{', '.join(map(points, ends))}])")
    if alike:
        yield f"{first} is not told apart from {_listed(alike)}."
    if len(tested) > COMPARED:
        yield f"{len(tested) - COMPARED} further systems are compared in the full tables."


def findings(
    headline: Measure, columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[str]:
    """Say which parts systems lose on, and where they are not better than guessing."""
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
        if figure.ends[0] <= chance <= figure.ends[1]:
            alike.setdefault(chance, []).append(label)
        elif figure.ends[1] < chance:
            yield f"{label} is worse than guessing, which gets {100 * chance:.3g}."
    for chance, labels in alike.items():
        verb = "is" if len(labels) == 1 else "are"
        yield f"{_listed(labels)} {verb} not told from guessing, which gets {100 * chance:.3g}."


def _p(test: Mapping[str, Any]) -> str:
    return "" if test["p_holm"] is None else f" ({written_p(test['p_holm'])})"


def _listed(words: Iterable[str]) -> str:
    """Join words as a sentence does.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
