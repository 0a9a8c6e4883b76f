"""Differences of known value, with their intervals; for `coverage.py`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from coverage_figures import (
    FEWER,
    OURS,
    PERCENTILE,
    ROWS,
    Floats,
    Found,
    Setting,
    normal,
    quantiles,
    redrawn,
    unit_sizes,
)

from pronominal.eval.statistics.paired_differences import PairedDifferences, Systems
from pronominal.eval.training.measures.comparison import compare_seeds


def two_systems(s: Setting, sizes: Any, gap: float) -> tuple[Floats, Floats]:
    """Draw the right rows of two systems for which the same units tend to be hard.

    `sizes` are the units' rows, or a pair of them, one for each system.
    """
    mean, low = s.level, lower(s.level, gap)
    common = s.generator.random(s.shape) < 0.5
    first, second = s.varied(mean), s.varied(low)
    # units in common have one difficulty, moved to the second system's level
    second = np.where(common, first * low / mean, second)
    of_one, of_other = sizes if isinstance(sizes, tuple) else (sizes, sizes)
    return s.successes(of_one, first), s.successes(of_other, second)


def compared(one: Any, other: Any, whole: Any, of_other: Any) -> PairedDifferences:
    """Compare the parts and wholes of two systems in each sample, all ``[samples, units]``."""
    parts = np.concatenate([one, other]).astype(np.float64)
    wholes = np.concatenate([whole, of_other]).astype(np.float64)
    return PairedDifferences.of(
        Systems(parts, wholes), [(i, i + len(one)) for i in range(len(one))]
    )


def lower(level: float, gap: float) -> float:
    """The second system's level."""
    return max(level - gap, 0.02)


def difference(s: Setting, *, equal: bool) -> Found:
    """Systems that are alike, and ten points apart."""
    for gap in (0.0, 0.1):
        sizes = np.broadcast_to(8 if equal else unit_sizes(s), s.shape)
        yield from _apart(s, *two_systems(s, sizes, gap), sizes, s.level - lower(s.level, gap))


def difference_from_constant(s: Setting, constant: float) -> Found:
    """Occupations of 24 rows, and a baseline that is right in the same share of each.

    Such as the first mention, which is right in half of a template pair.
    """
    sizes = np.full(s.shape, 24)
    right = s.successes(sizes, s.varied(s.level))
    yield from _apart(s, right, constant * sizes, sizes, s.level - constant)


def _apart(
    s: Setting, one: Floats, other: Floats, sizes: npt.NDArray[np.int64], truth: float
) -> Found:
    ends = compared(one, other, sizes, sizes).intervals()
    yield OURS, truth, (ends[:, 0], ends[:, 1])
    right, rows = (one, other), (sizes, sizes)
    yield ROWS, truth, independent(right, rows)
    yield PERCENTILE, truth, _percentile(s, one, other, sizes)


def independent(right: tuple[Floats, Floats], rows: tuple[Any, Any]) -> tuple[Floats, Floats]:
    """Return the normal interval of the difference of two shares of independent rows."""
    sizes = [np.asarray(of_it.sum(axis=1), float) for of_it in rows]
    shares = [one.sum(axis=1) / np.maximum(n, 1) for one, n in zip(right, sizes, strict=True)]
    (p, q), (n, m) = shares, (np.maximum(size, 1) for size in sizes)
    return normal(p - q, p * (1 - p) / n + q * (1 - q) / m)


def _percentile(
    s: Setting, one: Floats, other: Floats, sizes: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the ends of the paired bootstrap over rows, of the first `FEWER` samples."""
    one, other = (side[:FEWER].astype(int) for side in (one, other))
    sizes = sizes[:FEWER]
    both = s.generator.hypergeometric(one, sizes - one, other)
    alone = [(side - both).sum(axis=1) for side in (one, other)]
    rows = sizes.sum(axis=1)
    counts = np.stack([*alone, rows - sum(alone)], axis=-1).astype(float)
    drawn = redrawn(s.generator, counts)
    return quantiles((drawn[..., 0] - drawn[..., 1]) / rows)


def two_precisions(
    s: Setting, gap: float, answered: float
) -> tuple[tuple[Floats, Floats], tuple[Any, Any]]:
    """Draw right and answered rows of systems that answer nine rows of ten, and fewer."""
    often = s.generator.binomial(8, 0.9, s.shape)
    rarely = s.generator.binomial(8, answered, s.shape)
    return two_systems(s, (often, rarely), gap), (often, rarely)


def difference_of_precisions(s: Setting, answered: float) -> Found:
    """Their precisions, ten points apart, where enough units are shared."""
    right, rows = two_precisions(s, 0.1, answered)
    found = compared(*right, *rows)
    ends, truth = found.intervals()[found.testable], s.level - lower(s.level, 0.1)
    yield OURS, truth, (ends[:, 0], ends[:, 1])
    yield ROWS, truth, independent(right, rows)


def trainings(s: Setting, seeds: int, gap: float) -> Found:
    """Two trainings, tested on units of four rows; a seed moves all units, and each by itself."""
    ends, peers = [], []
    for _ in range(s.samples // 4):
        hard = s.generator.choice([-0.3, 0.3], s.units)
        sides = []
        for level in (s.level, lower(s.level, gap)):
            moved = s.generator.uniform(-0.5, 0.5, (seeds, 1)) * s.correlation
            centre = level + min(level, 1 - level) * (hard + moved)
            chance = s.generator.beta(9 * centre, 9 * (1 - centre))
            sides.append(s.generator.binomial(4, chance) / 4)
        ends.append(compare_seeds(*sides[::-1]).interval)
        right = tuple(4 * side.reshape(1, -1) for side in sides)
        rows = tuple(np.full(side.shape, 4) for side in right)
        peers.append([float(end[0]) for end in independent(right, rows)])
    truth = s.level - lower(s.level, gap)
    for method, found in ((OURS, ends), (ROWS, peers)):
        low, high = np.array(found).T
        yield method, truth, (low, high)


DIFFERENCES: dict[str, Callable[[Setting], Found]] = {
    "difference, equal units": lambda s: difference(s, equal=True),
    "difference, unequal units": lambda s: difference(s, equal=False),
    "difference from the first mention": lambda s: difference_from_constant(s, 0.5),
    "difference from 0": lambda s: difference_from_constant(s, 0.0),
    "difference of precisions, 80 % answered": lambda s: difference_of_precisions(s, 0.8),
    "difference of precisions, 20 % answered": lambda s: difference_of_precisions(s, 0.2),
    "difference of two trainings, 3 seeds": lambda s: trainings(s, 3, 0.05),
    "difference of two trainings, 5 seeds": lambda s: trainings(s, 5, 0.05),
}
