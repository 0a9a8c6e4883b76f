"""Welch's t-test: whether two means differ, when variances may too (Welch, 1947)."""

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

LEVEL = 0.05
"""The paper's threshold (RUFF, section 4.3)."""


def pairwise_tests(values: Mapping[str, Sequence[float]]) -> dict[str, Any] | None:
    """Compare every two groups of values.

    Args:
        values: name -> the group's values, at least two.

    Returns:
        ``A-B`` -> ``n`` (values of A and B), ``difference`` of their means, ``t``, ``df``, the
        two-sided ``p`` in [0, 1], and whether it is ``significant``, below `LEVEL`; ``t``, ``df``
        and ``p`` are None where no value varies. The p-values are not corrected for the number of
        tests. None if scipy is not installed.
    """
    try:
        from scipy import stats
    except ModuleNotFoundError:
        return None
    found = {}
    for (first, a), (second, b) in combinations(values.items(), 2):
        difference = float(np.mean(a) - np.mean(b))
        # values that do not vary: the statistic is 0 / 0 or infinite
        varied = np.ptp(a) > 0 or np.ptp(b) > 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # one of the two may still not vary
            test = stats.ttest_ind(a, b, equal_var=False) if varied else None
        p = math.nan if test is None else float(test.pvalue)
        found[f"{first}-{second}"] = {
            "n": len(a) + len(b),
            "difference": difference,
            "t": None if test is None else float(test.statistic),
            "df": None if test is None else float(test.df),
            "p": None if test is None else p,
            "significant": None if test is None else p < LEVEL,
        }
    return found
