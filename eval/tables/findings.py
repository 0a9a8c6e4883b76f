"""Sentences on scores: which system is better and by how much, and what stands out in one."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Any, NamedTuple

from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE, holm
from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.outcomes import ROUNDING
from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED, differ
from pronominal.eval.statistics.parts import AGAINST_REST
from pronominal.eval.statistics.scores import Figure, Scores
from pronominal.eval.tables.comparison import FAILED, SAME_WEIGHTS
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import percent, points, written_p

COMPARED = 4
"""How many systems are compared with the best one in words."""

LISTED = 5
"""How many labels a sentence names."""

ANSWERED, OFTEN = "answered", 0.9
"""The measure of how many rows were answered, and the share below which sentences name it."""


def planned_comparisons(
    headline: Measure, measures: Sequence[Measure], scores: Mapping[str, Scores]
) -> Iterator[str]:
    """Say of every planned pair which system is better and by how much, by each planned measure."""
    planned = {label: one.get(PLANNED, {}).get(AGAINST, {}) for label, one in scores.items()}
    known = {measure.key: measure for measure in (*measures, headline)}
    for key in dict.fromkeys(key for tests in planned.values() for key in tests):
        measure = known.get(key) or Measure(key, key.replace("_", " "), (key,), direction=None)
        by = "" if key == headline.key else f", by {key.replace('_', ' ')}"
        tests = {label: of_it.get(key, {}) for label, of_it in planned.items()}
        pairs = [*combinations(_ordered(measure, scores), 2)]
        yield from _compared(measure, scores, tests, pairs, f"Planned{by}: ")
        for one, other in pairs:
            test = tests[one].get(other)
            if test is not None and test["interval"]["difference"] is None:
                why = test["interval_missing"]["difference"]
                yield f"Planned{by}: {one} and {other} cannot be compared: {why}."


def comparisons(headline: Measure, scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which system is better and by how much, the best against the others.

    The last sentence says how many pairs of systems no other one compares.
    """
    first, *others = _ordered(headline, scores)
    pairs = [(first, other) for other in others[:COMPARED]]
    tests = {label: one.get(AGAINST, {}).get(headline.key, {}) for label, one in scores.items()}
    yield from _compared(headline, scores, tests, pairs)
    of_pairs = [tests[one][other] for one, other in pairs if other in tests[one]]
    in_words = sum(map(_has_ends, of_pairs))
    if more := sum(map(len, tests.values())) // 2 - in_words:
        are = "comparison is" if more == 1 else "comparisons are"
        if of_pairs and not in_words:
            why = of_pairs[0]["interval_missing"]["difference"]
            yield f"{more} {are} in the paired tests, without a verdict: {why}."
        else:
            yield f"{more} further {are} in the paired tests."


def _ordered(measure: Measure, scores: Mapping[str, Scores]) -> list[str]:
    """Return the systems, that with the highest figure first."""
    figures = {label: measure.of(one) for label, one in scores.items()}
    return sorted(
        scores,
        key=lambda label: -math.inf if (one := figures[label]) is None else one.value,
        reverse=True,
    )


def _compared(
    measure: Measure,
    scores: Mapping[str, Scores],
    tests: Mapping[str, Mapping[str, Mapping[str, Any]]],
    pairs: Iterable[tuple[str, str]],
    prefix: str = "",
) -> Iterator[str]:
    """Compare pairs of systems, the first of which has the higher figure."""
    alike: dict[str, list[str]] = {}
    equal: dict[str, list[str]] = {}
    few: dict[str, list[str]] = {}
    verb = "better" if measure.direction == "more" else "higher"
    for one, other in pairs:
        test = tests[one].get(other)
        if test is None or not _has_ends(test):
            continue
        ends = test["interval"]["difference"]
        if test["difference"] < 0:  # of a measure that scores do not show by its key
            one, other, test = other, one, tests[other][one]
            ends = test["interval"]["difference"]
        answered = [_answered(measure, scores, label) for label in (one, other)]
        told = [*_verdicts(test, ends), *dict.fromkeys(filter(None, answered))]
        by = f"{points(test['difference'])} [{', '.join(map(points, ends))}]"
        if differ(test):
            by = f"{percent(test['difference'])} [{', '.join(map(percent, ends))}]"
            yield f"{prefix}{one} is {verb} than {other} by {by} ({', '.join(told)})."
        elif (test.get("equivalence") or {}).get("equivalent"):
            margin = f"closer than {100 * test['equivalence']['margin']:g} points"
            yield f"{prefix}{one} and {other} are equivalent: {margin} ({', '.join((by, *told))})."
        else:
            same = abs(test["difference"]) < ROUNDING
            of_one = few if test["n"] < FEW else equal if same else alike
            of_one.setdefault(one, []).append(f"{other} ({', '.join((by, *told))})")
    for one, others in equal.items():
        yield f"{prefix}{one} has the same figure here as {listed(others)}."
    none = "no difference" if prefix else "No difference"
    for one, others in alike.items():
        yield f"{prefix}{none} was found between {one} and {listed(others)}."
    too_few = f"{'fewer' if prefix else 'Fewer'} than {FEW} units do not tell which is better"
    for one, others in few.items():
        yield f"{prefix}{too_few}: {one} against {listed(others)}."


def _has_ends(test: Mapping[str, Any]) -> bool:
    return test["interval"]["difference"] is not None


def _verdicts(test: Mapping[str, Any], ends: Sequence[float]) -> Iterator[str]:
    """Write the corrected p-value, and whether the two are within the margin that was asked for.

    Where the p-value alone says that they differ, the interval is what is read, and that is said.
    """
    if (p := test["p_holm"]) is not None:
        disagree = p < SIGNIFICANCE and ends[0] <= 0 <= ends[1]
        yield f"{written_p(p)}{', but the interval holds 0' if disagree else ''}"
    if asked := test.get("equivalence"):
        within = ", ".join(map(points, asked["interval"]["difference"]))
        shown = "within" if asked["equivalent"] else "not shown within"
        yield f"{shown} ±{100 * asked['margin']:g} [{within}]"


def _answered(measure: Measure, scores: Mapping[str, Scores], label: str) -> str:
    """Say how many rows a system answered, of a measure that leaves the others out."""
    if measure.answered is None:
        return ""
    return f"{label} answered {measure.answered.cell(scores[label])}"


def of_same_weights(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say how many rows two runs of the same weights decide differently."""
    for one, other in combinations(scores, 2):
        rows = scores[one].get(SAME_WEIGHTS, {}).get(other)
        if rows is not None:
            many = "no row" if rows == 0 else "one row" if rows == 1 else f"{rows:,} rows"
            yield f"{one} and {other} are the same weights, and decide {many} differently."


def findings(
    headline: Measure, columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[str]:
    """Say which parts systems lose on, and which are not better than guessing."""
    if headline.direction == "more":
        yield from _losses(headline, columns, scores)
    shown = (one.measure for one in columns if one.measure.key == ANSWERED)
    yield from _against_chance(headline, next(shown, None), scores)


def below_chance(columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say by which measures beside the headline systems are worse than guessing."""
    for measure in (column.measure for column in columns if column.division is None):
        below: dict[str, list[str]] = {}
        for label, one in scores.items():
            figure, chance = measure.of(one), measure.chance_in(one)
            if figure is not None and chance is not None and _is_below(figure, chance):
                answered = _answered(measure, scores, label)
                got = f"{_with_ends(measure, figure)}{answered and f' ({answered})'}"
                got = f"{got}; guessing gets {100 * chance:.3g}"
                below.setdefault(got, []).append(label)
        for got, labels in below.items():
            yield f"{measure.name} of {listed(labels)}: {got}."


def _with_ends(measure: Measure, figure: Figure) -> str:
    ends = "" if figure.ends is None else f" [{', '.join(map(measure.write, figure.ends))}]"
    return f"{measure.write(figure.value)}{ends}"


class Loss(NamedTuple):
    """A part of the rows on which a system is worse than on the others of the same kind.

    Attributes:
        kind: what the part is, such as ``pronoun set``.
        name: of the part.
        points: by how much, in (0, 100].
        less: the same, with its interval and corrected p-value, in words.
    """

    kind: str
    name: str
    points: float
    less: str


def _losses(
    headline: Measure, columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[str]:
    lost: dict[str, dict[str, list[Loss]]] = {}
    for label, loss in _lost(headline, columns, scores):
        lost.setdefault(label, {}).setdefault(loss.kind, []).append(loss)
    alike = sorted(
        ((kind, tuple(one.name for one in of_it)), label)
        for label, kinds in lost.items()
        for kind, of_it in kinds.items()
    )
    for (kind, names), group in groupby(alike, key=lambda found: found[0]):
        losses = {label: lost[label][kind] for _, label in group}
        by_text: dict[str, list[str]] = {}
        for label, of_it in losses.items():
            by_text.setdefault(_in_words(of_it), []).append(label)
        if len(names) == 1 and len(by_text) > 1:
            (first, most), *further = sorted(losses.items(), key=lambda one: -one[1][0].points)
            more = [f"{label} {of_it[0].less}" for label, of_it in further]
            told = listed([f"{first} loses {most[0].less}", *more])
            yield f"On {names[0]}, {told}, compared with all their other {kind}s."
            continue
        for text, labels in by_text.items():
            verb, whose = ("loses", "its") if len(labels) == 1 else ("lose", "their")
            yield f"{listed(labels)} {verb} {text}, compared with all {whose} other {kind}s."


def _in_words(losses: Sequence[Loss]) -> str:
    """Write the losses of one system; what is lost on several parts alike stands once."""
    names, alike = [one.name for one in losses], {one.less for one in losses}
    if len(alike) == 1:
        return f"{losses[0].less} on {'each of ' if len(names) > 1 else ''}{listed(names)}"
    return listed(f"{one.less} on {one.name}" for one in losses)


def _lost(
    headline: Measure, columns: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[tuple[str, Loss]]:
    """Yield the systems and the parts on which the headline is lower than on the other parts.

    Parts are those of every division of the headline, also where the table has no room for them.
    Each system's part is compared with its other parts, and p-values are corrected by Holm over all
    parts of all systems (`against_rest`).
    """
    shown = {one.division: one for one in columns if one.measure.key == headline.key}
    divided = {
        name: SummaryColumn(headline, name) for name in headline.divisions if "/" not in name
    }
    tested = [
        (label, division.replace("_", " "), part.name, test)
        for division, column in (divided | shown).items()
        if division is not None
        for part in column.expanded([*scores.values()])
        for label, one in scores.items()
        if (test := one.block((*part.measure.path[:-1], AGAINST_REST))) and test["p"] is not None
    ]
    for (label, kind, name, test), p in zip(
        tested, holm([test["p"] for *_, test in tested]), strict=True
    ):
        if test["difference"] < 0 and differ({**test, "p_holm": p}):
            low, high = (percent(-end) for end in test["interval"]["difference"][::-1])
            less = f"{percent(-test['difference'])} [{low}, {high}] ({written_p(p)})"
            yield label, Loss(kind, name, -100 * test["difference"], less)


def _is_below(figure: Figure, value: float) -> bool:
    return figure.high is not None and figure.high < value and not figure.is_of_few


def better_than_chance(headline: Measure, scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which systems are better than guessing."""
    best_first = {label: scores[label] for label in _ordered(headline, scores)}
    for chance, labels in _by_chance(headline, best_first)["better"].items():
        yield f"Better than guessing ({100 * chance:.3g}): {listed(labels)}."


def _against_chance(
    headline: Measure, answered: Measure | None, scores: Mapping[str, Scores]
) -> Iterator[str]:
    def named(labels: Iterable[str]) -> str:
        return listed(f"{label}{_seldom(answered, scores[label])}" for label in labels)

    sides = _by_chance(headline, scores)
    for chance, labels in sides["worse"].items():
        verb = "is" if len(labels) == 1 else "are"
        yield f"{named(labels)} {verb} worse than guessing, which gets {100 * chance:.3g}."
    for chance, labels in sides["alike"].items():
        yield f"No difference from guessing ({100 * chance:.3g}) was found for {named(labels)}."


def _seldom(answered: Measure | None, one: Scores) -> str:
    """Say how many rows a system answered that left many out, since those count as wrong."""
    figure = None if answered is None else answered.of(one)
    if answered is None or figure is None or figure.value >= OFTEN:
        return ""
    return f" (answered {_with_ends(answered, figure)})"


def _by_chance(
    headline: Measure, scores: Mapping[str, Scores]
) -> dict[str, dict[float, list[str]]]:
    """Return better, worse or alike -> what guessing gets -> the systems of which that is clear."""
    sides: dict[str, dict[float, list[str]]] = {"better": {}, "worse": {}, "alike": {}}
    for label, one in scores.items():
        figure, chance = headline.of(one), headline.chance_in(one)
        if chance is None or figure is None or figure.ends is None or figure.is_of_few:
            continue
        if figure.n is not None and one.get(FAILED, 0) >= figure.n:
            continue
        low, high = figure.ends
        side = "worse" if high < chance else "better" if low > chance else "alike"
        sides[side].setdefault(chance, []).append(label)
    return sides


def listed(words: Iterable[str]) -> str:
    """Join words as a sentence does, and say how many more there are than `LISTED`.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    *first, last = words
    if (more := len(first) + 1 - LISTED) > 0:
        first, last = first[:LISTED], f"{more} more"
    return f"{', '.join(first)} and {last}" if first else last
