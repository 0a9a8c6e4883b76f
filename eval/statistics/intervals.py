"""Intervals in closed form for shares of rows that stand or fall together in units.

Every share that tasks print is a ratio of two sums over units: accuracy, precision, F1,
consistency. `ratio_interval` has one interval for all of them, which is deterministic, lies in
[0, 1], and has a width at 0 and at 100 %, too. docs/statistics-measured.md says how often it
holds.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pronominal.eval.statistics.outcomes import (
    ROUNDING,
    BoolArray,
    Counts,
    FloatArray,
    IntArray,
    Share,
    ratio,
)
from pronominal.eval.statistics.quantiles import normal_quantile, t_quantiles

CONFIDENCE = 0.95
"""Share of the samples in which an interval holds the value that it estimates."""

ADDED = 1 / 3
"""Units' worth of rows, half of them right, added to the variance over units.

A few units that differ a little from the others say too little about how much units vary: without
it, an interval over 30 units of 24 rows holds 97 % in only 83 of 100 samples.
At 50 %, where units say enough, it adds nothing.
"""

FEW = 10
"""Units below which a figure is marked and no test gives a verdict.

Intervals are wide, and hold only roughly as often; they say what there is to say.
"""


class Estimate(NamedTuple):
    """A figure and its interval; every field has one shape, and NaN where undefined.

    Attributes:
        estimate: the figure.
        low: lower end of the interval.
        high: upper end.
        units: how many units the figure is of; never NaN.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    units: IntArray

    def ends(self, place: int) -> list[float] | None:
        """Return the interval of one place of a vector; None where there is none."""
        low, high = float(self.low[place]), float(self.high[place])
        return None if np.isnan(low) or np.isnan(high) else [low, high]

    def undefined(self) -> "Estimate":
        """Return the same without figure and interval."""
        nothing = np.full_like(self.estimate, np.nan)
        return Estimate(nothing, nothing, nothing, self.units)


def ratio_interval(part: Counts, whole: Counts, *, level: float = CONFIDENCE) -> Estimate:
    """Return the ratio of two sums over units, a share in [0, 1], and its interval.

    It is Wilson's interval with the effective number of rows in place of their number, and with
    Student's t in place of the normal quantile (Saha, Miller and Wang, 2016, with the degrees of
    freedom of Korn and Graubard, 1998). The effective number is what independent rows would need
    for the variance over units, and the number of units where they do not vary, or where there is
    one. It may exceed the number of rows: a unit whose one row is right because another is wrong
    tells more than two independent ones. To the variance, part of a unit is added (`ADDED`).

    Args:
        part: each unit's part, such as its right rows, shape ``[..., units]``.
        whole: what it is a part of, such as the unit's rows, in the same shape; units without any
            do not count.
        level: share of the samples in which the interval shall hold the ratio.

    Returns:
        Shape ``[...]``; NaN where the sum of `whole` is 0.
    """
    found = effective_rows(part, whole)
    quantile = t_quantiles((1 + level) / 2, found.freedom)
    return Estimate(found.share, *found.ends(quantile), found.units)


def ratio_intervals(shares: Mapping[str, Share]) -> dict[str, Estimate]:
    """Return the `ratio_interval` of each share by its name; all are of one shape, made at once."""
    parts, wholes = (np.stack(one) for one in zip(*shares.values(), strict=True))
    found = zip(*ratio_interval(parts, wholes), strict=True)
    return {name: Estimate(*one) for name, one in zip(shares, found, strict=True)}


class EffectiveRows(NamedTuple):
    """A ratio of sums over units as if it were a share of independent rows; all of one shape.

    Attributes:
        share: the ratio, NaN without anything to divide by.
        rows: how many independent rows would be as certain.
        freedom: degrees of freedom of Student's t; 0 for the normal distribution.
        units: how many units there are.
    """

    share: FloatArray
    rows: FloatArray
    freedom: IntArray
    units: IntArray

    def at(self, places: IntArray) -> "EffectiveRows":
        """Return those of some places of a vector, in their order."""
        return EffectiveRows(
            self.share[places], self.rows[places], self.freedom[places], self.units[places]
        )

    def beside(self, other: "EffectiveRows") -> "EffectiveRows":
        """Return these and others of the same shape, ``[2, ...]``."""
        return EffectiveRows(
            *(np.stack([self.share, other.share]), np.stack([self.rows, other.rows])),
            *(np.stack([self.freedom, other.freedom]), np.stack([self.units, other.units])),
        )

    def known(self, where: BoolArray) -> "EffectiveRows":
        """Return the same, some of them as certain as of infinitely many rows."""
        return self._replace(rows=np.where(where, np.inf, self.rows))

    def ends(self, quantile: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of Wilson's interval."""
        known = np.isinf(self.rows)
        low, high = wilson_interval(self.share, np.where(known, 1.0, self.rows), quantile)
        return np.where(known, self.share, low), np.where(known, self.share, high)


def effective_rows(part: Counts, whole: Counts) -> EffectiveRows:
    """Return what `ratio_interval` makes its intervals of, in the same shape."""
    y, x = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    units = (x > 0).sum(axis=-1)
    variance, base = variance_over_units(y, x)
    varies = variance > 0
    return EffectiveRows(
        share=ratio(y.sum(axis=-1), x.sum(axis=-1)),
        rows=np.where(varies, ratio(base, variance), units),
        freedom=np.where(varies, units - 1, 0),
        units=units,
    )


def share_interval(right: Counts, n: Counts, *, level: float = CONFIDENCE) -> Estimate:
    """Return the share of independent rows that are right, and Wilson's interval.

    Where a single row is right, or wrong, the end beside 0 or 1 is Poisson's: without it the
    interval holds small shares too rarely (Brown, Cai and DasGupta, 2001, section 4.1.1).

    `right` and `n` are counts of one shape; the share is NaN where `n` is 0.
    """
    right, n = np.asarray(right, np.float64), np.asarray(n, np.float64)
    share = ratio(right, n)
    low, high = wilson_interval(share, n, np.full(share.shape, normal_quantile((1 + level) / 2)))
    least = ratio(np.full_like(n, -np.log(level)), n)
    low = np.where(right == 1, np.minimum(low, least), low)
    high = np.where(n - right == 1, np.maximum(high, 1 - least), high)
    return Estimate(share, low, high, n.astype(np.int64))


def quotient_interval(
    one: tuple[Counts, Counts], other: tuple[Counts, Counts], *, level: float = CONFIDENCE
) -> Estimate:
    """Return one share divided by another of the same units, and its interval.

    It is made of the two shares' own intervals and of how the shares vary together over the units
    (MOVER: Donner and Zou, 2012), so that it has a width where both shares are 1.

    Args:
        one: part and whole of the dividend, as in `ratio_interval`.
        other: part and whole of the divisor.
        level: as in `ratio_interval`.

    Returns:
        Shape ``[...]``; NaN where either whole is 0, or the divisor is.
    """
    a, b = ratio_interval(*one, level=level), ratio_interval(*other, level=level)
    r = correlation(deviations(*one), deviations(*other))
    defined = b.estimate > 0
    (x, low_x, high_x), (y, low_y, high_y) = a[:3], b[:3]
    below = x * y - r * (x - low_x) * (high_y - y)
    above = x * y - r * (high_x - x) * (y - low_y)
    least, most = low_x * (2 * x - low_x), high_x * (2 * x - high_x)
    wide, narrow = high_y * (2 * y - high_y), low_y * (2 * y - low_y)
    low = ratio(least, below + np.sqrt(np.maximum(below**2 - least * wide, 0)))
    low = np.where(least == 0, 0.0, low)
    high = ratio(above + np.sqrt(np.maximum(above**2 - most * narrow, 0)), narrow)
    low, high = (np.where(defined, end, np.nan) for end in (low, high))
    return Estimate(ratio(x, np.nan_to_num(y)), low, high, np.minimum(a.units, b.units))


def jackknife_interval(
    estimate: FloatArray, without: FloatArray, *, level: float = CONFIDENCE
) -> Estimate:
    """Return an interval of a figure in [0, 1] that is no ratio of sums, such as a mean of F1s.

    It is that of `ratio_interval`, with the jackknife's variance over units (Tukey, 1958).

    Args:
        estimate: of all units, shape ``[...]``.
        without: the same without each unit in turn, shape ``[..., units]``.
        level: as in `ratio_interval`.

    Returns:
        Shape ``[...]``; NaN ends with fewer than two units.
    """
    units = np.full(np.shape(estimate), without.shape[-1])
    if without.shape[-1] < 2:
        nothing = np.full(np.shape(estimate), np.nan)
        return Estimate(estimate, nothing, nothing, units)
    moved = without - without.mean(axis=-1, keepdims=True)
    spread = (units - 1) / units * (moved**2).sum(axis=-1)
    added = ADDED * ((1 - estimate) ** 2 + estimate**2) / 2 / units**2
    varies = (np.abs(moved) > ROUNDING).any(axis=-1)
    share = (estimate * units + ADDED / 2) / (units + ADDED)
    rows = np.where(varies, ratio(share * (1 - share), spread + added), units)
    quantile = t_quantiles((1 + level) / 2, np.where(varies, units - 1, 0))
    return Estimate(estimate, *wilson_interval(estimate, rows, quantile), units)


def fisher_interval(r: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the ends of Fisher's interval (1921) for Pearson's correlations of `n` pairs.

    The correlations are in (-1, 1), the pairs at least four.
    """
    half = normal_quantile((1 + CONFIDENCE) / 2) / np.sqrt(n - 3)
    return np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)


def mean_interval(one: Estimate, other: Estimate) -> Estimate:
    """Return the mean of two independent shares and its interval.

    It is made of the shares' own intervals (square and add: Newcombe, 1998).
    """
    mean = (one.estimate + other.estimate) / 2
    below = np.hypot(one.estimate - one.low, other.estimate - other.low) / 2
    above = np.hypot(one.high - one.estimate, other.high - other.estimate) / 2
    return Estimate(mean, mean - below, mean + above, np.minimum(one.units, other.units))


def deviations(part: Counts, whole: Counts) -> FloatArray:
    """Return how far each unit's part is from the common share of its whole, ``[..., units]``.

    What rounding makes is 0.
    """
    y, x = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    size = x.sum(axis=-1, keepdims=True)
    # times the whole, so that counts stay whole numbers, and are apart by 1 or more, or not at all
    found, expected = y * size, y.sum(axis=-1, keepdims=True) * x
    rounding = 8 * y.shape[-1] * np.finfo(float).eps * (np.abs(found) + np.abs(expected))
    apart = np.where(np.abs(found - expected) > rounding, found - expected, 0.0)
    return np.nan_to_num(ratio(apart, np.broadcast_to(size, apart.shape)))


def correlation(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return how much the `deviations` of two ratios vary together, in [-1, 1], shape ``[...]``."""
    product = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return np.nan_to_num(ratio((one * other).sum(axis=-1), product))


def wilson_interval(
    share: FloatArray, n: FloatArray, quantile: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of Wilson's interval (1927) for a share of `n` independent rows."""
    spread = quantile**2
    centre = ratio(n * share + spread / 2, n + spread)
    half = ratio(quantile * np.sqrt(n * share * (1 - share) + spread / 4), n + spread)
    # at 0 and at 1 rounding would leave the end beside it
    low = np.where(share == 0, 0.0, np.maximum(centre - half, 0))
    return low, np.where(share == 1, 1.0, np.minimum(centre + half, 1))


def variance_over_units(y: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the variance of a ratio over units, and that of one independent row.

    Both are of the units and `ADDED` of one more. The first is linearised, and 0 where units do not
    vary, for one unit, and for none.
    """
    units, size = (x > 0).sum(axis=-1), x.sum(axis=-1)
    one = ratio((x**2).sum(axis=-1), size)  # rows in the unit that a row is in
    added = ADDED * one
    share = ratio(y.sum(axis=-1) + added / 2, size + added)
    squares = ratio(units, units - 1) * ((y - share[..., None] * x) ** 2).sum(axis=-1)
    squares += added * one * (1 - 2 * share) ** 2 / 2
    varies = (units > 1) & deviations(y, x).any(axis=-1)
    return np.where(varies, ratio(squares, (size + added) ** 2), 0.0), share * (1 - share)
