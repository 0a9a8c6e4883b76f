"""Quantiles of the normal and of Student's t distribution, for the core has no scipy."""

from functools import cache
from math import atan2, cos, erfc, exp, gamma, pi, sin, sqrt, tan
from statistics import NormalDist

import numpy as np

from pronominal.eval.statistics.outcomes import FloatArray, IntArray


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution, for a probability in (0, 1)."""
    return NormalDist().inv_cdf(probability)


SUMMED = 200
"""Degrees of freedom up to which t quantiles are exact; beyond, an expansion is."""


@cache
def t_quantile(probability: float, df: int) -> float:
    """Return a quantile of Student's t distribution, for 0 degrees of freedom the normal one.

    Up to `SUMMED` degrees of freedom its distribution function is solved, beyond it is the
    expansion around the normal quantile to the fourth power of 1/df (Abramowitz and Stegun, 1964,
    26.7.5), which errs by less than a part in 10^8 there, for probabilities up to 1 - 1e-6.

    Args:
        probability: in (0, 1).
        df: degrees of freedom, at least 0.
    """
    if probability < 0.5:
        return -t_quantile(1 - probability, df)
    if not 0 < df <= SUMMED:
        return _expanded(normal_quantile(probability), df)
    low, high = 0.0, pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _within(middle, df) < 2 * probability - 1 else (low, middle)
    return sqrt(df) * tan(low)


def _within(angle: float, df: int) -> float:
    """Return how often t is at most sqrt(df) tan(angle) away from 0 (26.7.3 and 26.7.4)."""
    odd, square = df % 2, cos(angle) ** 2
    term, total = cos(angle) ** odd, 0.0
    for power in range(odd, df - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _expanded(z: float, df: int) -> float:
    if df == 0:
        return z
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(sum(term / df**power for power, term in enumerate(terms)))


def t_quantiles(probability: float, df: IntArray) -> FloatArray:
    """Return `t_quantile` for each number of degrees of freedom, in the same shape."""
    different, places = np.unique(df, return_inverse=True)
    found = np.array([t_quantile(probability, one) for one in different.tolist()], np.float64)
    return found[places].reshape(np.shape(df))


def t_tails(values: FloatArray, df: IntArray) -> FloatArray:
    """Return how often Student's t is as far from 0 as each value, on either side.

    Args:
        values: at least 0.
        df: degrees of freedom, at least 1, in the same shape.
    """
    pairs = zip(values.tolist(), df.tolist(), strict=True)
    # what is left of 1 is no smaller than its rounding
    found = (1 - _within(atan2(value, sqrt(one)), one) for value, one in pairs)
    return np.array([max(tail, 2.0**-52) for tail in found], np.float64)


def chi_squared_tail(value: float, df: int) -> float:
    """Return how often chi-squared is at least `value` (Abramowitz and Stegun, 26.4.4 and 26.4.5).

    Args:
        value: at least 0.
        df: degrees of freedom, at least 1.
    """
    half, odd = value / 2, df % 2
    terms = (
        half ** (power - odd / 2) / gamma(power + 1 - odd / 2)
        for power in range(odd, (df + odd) // 2)
    )
    return odd * erfc(sqrt(half)) + exp(-half) * float(sum(terms))
