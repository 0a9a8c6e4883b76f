"""Quantiles of the normal and of Student's t distribution, for the core has no scipy."""

from functools import cache
from math import pi, sqrt, tan
from statistics import NormalDist

import numpy as np

from pronominal.eval.statistics.outcomes import FloatArray, IntArray


def normal_quantile(probability: float) -> float:
    """Return the quantile of the standard normal distribution, for a probability in (0, 1)."""
    return NormalDist().inv_cdf(probability)


@cache
def t_quantile(probability: float, df: int) -> float:
    """Return a quantile of Student's t distribution.

        It is exact for one and two degrees of freedom; from three on it is the expansion around the
        normal quantile to the fourth power of 1/df (Abramowitz and Stegun, 1964, 26.7.5), which is
    XX
        Args:
            probability: in (0, 1).
            df: degrees of freedom, at least 0.
    """
    if df == 1:
        return -1 / tan(pi * probability)
    if df == 2:
        twice = 2 * probability - 1
        return twice * sqrt(2 / (1 - twice**2))
    z = normal_quantile(probability)
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
