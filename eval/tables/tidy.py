"""Tidy scores: one row for each figure, for data frames and files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.measure import Measure

COLUMNS = ("subset", "measure", "value", "low", "high", "n")


def tidy_rows(measures: Sequence[Measure], scores: Scores) -> Iterator[dict[str, Any]]:
    """Yield the figures of scores, each with the subset of the rows that it is of.

    Returns:
        Rows with the keys of `COLUMNS`. ``subset`` is ``overall``, or such as ``case=nominative``
        or ``case=nominative/pronoun_set=xe``; ``value``, ``low`` and ``high`` are as in the scores,
        so that shares are in [0, 1]; ``n`` is of how many groups, pairs or rows the figure is.
    """
    for measure in measures:
        for subset, path in _subsets(measure, scores):
            figure = scores.figure(path)
            if figure is not None:
                facts = (figure.value, figure.low, figure.high, figure.n)
                yield dict(zip(COLUMNS, (subset, measure.key, *facts), strict=True))


def _subsets(measure: Measure, scores: Scores) -> Iterator[tuple[str, Keys]]:
    yield "overall", measure.path
    for division, pattern in measure.divisions.items():
        for (part,), path in scores.paths(pattern):
            pairs: Mapping[str, str] = dict(zip(division.split("/"), part.split("/"), strict=True))
            yield "/".join(f"{kind}={name}" for kind, name in pairs.items()), path
