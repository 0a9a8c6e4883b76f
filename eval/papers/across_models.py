"""What the scores of several models say together: mean, spread, trend with size, and tests."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pronominal.eval.statistics.hypothesis_tests import paired_t, pairwise_tests

Tests = dict[str, float | None]
"""Two-sided p-values, not corrected for their number: by ``welch``, as the papers test, which takes
the two figures for scores of different models, and ``paired``, the t-test of the differences."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One figure over models.

    Attributes:
        mean: None without a model.
        sd: the models' standard deviation (n - 1); None with fewer than two.
        ends: the lowest and the highest of them; None with fewer than two.
        tests: whether the mean is 0, where it is of differences; None with fewer than two models,
            or without scipy.
    """

    mean: float | None
    sd: float | None = None
    ends: tuple[float, float] | None = None
    tests: Tests | None = None

    @classmethod
    def of(cls, scores: Mapping[str, float], less: Mapping[str, float] | None = None) -> "Summary":
        """Sum up the scores of models by name, or what they have more than others of theirs."""
        names = [name for name in scores if less is None or name in less]
        values = [scores[name] - (less[name] if less else 0) for name in names]
        mean = statistics.fmean(values) if values else None
        if len(values) < 2:
            return cls(mean)
        tests = _tests([scores[name] for name in names], [less[n] for n in names]) if less else None
        return cls(mean, statistics.stdev(values), (min(values), max(values)), tests)


def trend(scores: Mapping[str, float], parameters: Mapping[str, float]) -> float | None:
    """Return the rank correlation (Spearman) of scores with numbers of parameters, in [-1, 1].

    None with fewer than three models, or where one of the two does not vary.
    """
    ours, sizes = (_ranks([of[name] for name in scores]) for of in (scores, parameters))
    if len(scores) < 3 or np.ptp(ours) == 0 or np.ptp(sizes) == 0:
        return None
    return float(np.corrcoef(ours, sizes)[0, 1])


def _tests(ours: Sequence[float], theirs: Sequence[float]) -> Tests | None:
    welch = pairwise_tests({"ours": ours, "theirs": theirs})
    if welch is None:
        return None
    paired = paired_t(np.asarray(ours) - np.asarray(theirs))
    return {"welch": welch["ours-theirs"]["p"], "paired": paired}


def _ranks(values: list[float]) -> list[float]:
    """Return each value's rank; equal ones share the mean of theirs."""
    return [
        sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values
    ]
