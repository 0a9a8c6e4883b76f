"""How far two ways to judge the same rows agree (Subramonian et al., 2025, section 4)."""

from collections.abc import Callable

import numpy as np

from pronominal.eval.statistics.intervals import CONFIDENCE, Estimate
from pronominal.eval.statistics.outcomes import Counts, FloatArray

ADDED = 1 / 6
"""Units added in each cell of the table: both wrong, one of them, both right."""

RESAMPLES, SEED = 2000, 0
"""Of the weights."""

BLOCK = 2**20
"""Weights in memory at a time."""

Statistic = Callable[[FloatArray], FloatArray]
"""Takes tables of two verdicts, wrong and right, shape ``[..., 2, 2]``; returns shape ``[...]``."""


def cohens_kappa(tables: FloatArray) -> FloatArray:
    """Return Cohen's kappa: agreement beyond what the two shares of right answers make expected.

    In [-1, 1], 0 is chance; NaN where both verdicts are always the same one.
    """
    n, one, other = _sums(tables)
    observed = np.trace(tables, axis1=-2, axis2=-1)
    expected = (one * other).sum(axis=-1) / np.where(n, n, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < n, (observed - expected) / (n - expected), np.nan)


def matthews_correlation(tables: FloatArray) -> FloatArray:
    """Return Matthews' correlation coefficient, which is Pearson's of the verdicts.

    In [-1, 1]; NaN where one of the verdicts is always the same.
    """
    _, one, other = _sums(tables)
    scale = np.sqrt(one.prod(axis=-1) * other.prod(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(scale > 0, np.linalg.det(tables) / scale, np.nan)


def agreement_interval(
    statistic: Statistic, tables: Counts, *, level: float = CONFIDENCE
) -> Estimate:
    """Return a statistic of all units' tables, and its interval by weighing units at random.

    It is Rubin's Bayesian bootstrap (1981) over units, with part of one more unit in each cell
    (`ADDED`): where nine of ten verdicts are right, the few wrong ones say too little of how often
    both are.

    Args:
        statistic: with values in [-1, 1].
        tables: verdicts of each unit, shape ``[units, 2, 2]``; units without rows do not count.
        level: share of the samples in which the interval shall hold the value.

    Returns:
        Shape ``[1]``; no interval where the statistic is undefined.
    """
    counted = np.asarray(tables, np.float64)
    counted = counted[counted.sum(axis=(1, 2)) > 0]
    found, ends = statistic(counted.sum(axis=0)[None]), np.full(2, np.nan)
    if not np.isnan(found).any():
        drawn = statistic(_weighed(counted))
        ends = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    low, high = np.minimum(found, ends[:1]), np.maximum(found, ends[1:])
    return Estimate(found, low, high, np.array([len(counted)]))


def _weighed(tables: FloatArray) -> FloatArray:
    """Return sums of tables with random weights, ``[RESAMPLES, 2, 2]``; scale says nothing."""
    shapes = np.append(np.ones(len(tables)), np.full(4, ADDED))
    added = np.eye(4) * tables.sum() / len(tables)
    cells = np.concatenate([tables.reshape(-1, 4), added])
    generator, size = np.random.default_rng(SEED), -(-BLOCK // len(shapes))
    sizes = (min(size, RESAMPLES - start) for start in range(0, RESAMPLES, size))
    sums = [generator.gamma(shapes, size=(one, len(shapes))) @ cells for one in sizes]
    return np.concatenate(sums).reshape(-1, 2, 2)


def beta_of(values: FloatArray) -> tuple[float, float] | None:
    """Return alpha and beta of the beta distribution with the values' mean and variance.

    None where they do not vary, or more than in any such distribution.
    """
    mean = float(values.mean()) if len(values) else 0.0
    variance = float(values.var(ddof=1)) if len(values) > 1 else 0.0
    if not variance or variance >= mean * (1 - mean):
        return None
    size = mean * (1 - mean) / variance - 1
    return mean * size, (1 - mean) * size


def _sums(tables: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return tables.sum(axis=(-2, -1)), tables.sum(axis=-1), tables.sum(axis=-2)
