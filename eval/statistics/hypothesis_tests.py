"""Tests of two groups of values, and the correction for the number of tests.

Student's and Welch's tests are scipy's, from the extra ``stats``.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.errors import InputError
from pronominal.eval.statistics.outcomes import ROUNDING

INSTALL = 'pip install "pronominal[stats]"'

SIGNIFICANCE = 0.05
"""Below it a p-value counts as a difference (as in RUFF, section 4.3)."""


def of_extra(module: str, needing: str = "the test needs the package") -> Any:
    """Import a module of the extra ``stats``; `InputError` where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"{needing} {error.name}", cure=INSTALL) from error


def mcnemar(only_this: int, only_other: int) -> float:
    """Return the two-sided mid-p-value of McNemar's test.

    It asks whether items that exactly one system got right go to both alike (a binomial test of
    one half). The observed counts count half: the exact test, which counts them whole, errs in
    3 % of comparisons of 100 rows where it should in 5 %, and this one in 4 to 5 % (Fagerland,
    Lydersen and Laake, 2013). There is nothing to ask about systems that agree everywhere: p is 1.
    """
    differing = only_this + only_other
    fewer, as_few = 0, 1  # ways to give one system fewer than found, and as few, in whole numbers
    for given in range(min(only_this, only_other)):
        fewer += as_few
        as_few = as_few * (differing - given) // (given + 1)
    return float((2 * fewer + as_few) / (1 << differing))


def holm(values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down procedure, in the given order."""
    # by hand, for statsmodels collects garbage at each call, which takes longer than all tests
    order = np.argsort(values)
    stepped = np.asarray(values)[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return corrected.tolist()


def paired_t(differences: npt.NDArray[np.float64]) -> float | None:
    """Return the two-sided p-value of the paired t-test: whether the mean difference is 0.

    It is 1 where every difference is 0; None for fewer than two units, or where all have the same
    other difference, so that there is no variance to compare it with.
    """
    if not (np.abs(differences) > ROUNDING).any():
        return 1.0
    if len(differences) < 2 or np.ptp(differences) <= ROUNDING:
        return None
    return float(of_extra("scipy.stats").ttest_1samp(differences, 0).pvalue)


def pairwise_tests(values: Mapping[str, Sequence[float]]) -> dict[str, Any] | None:
    """Compare every two groups of values by Welch's t-test, which lets variances differ (1947).

    Args:
        values: name -> the group's values, at least two.

    Returns:
        ``A-B`` -> ``n`` (values of A and B), ``t``, ``df``, the two-sided ``p`` in [0, 1] of
        whether their means differ, and whether it is ``significant``, below `SIGNIFICANCE`; None
        where no value varies. The p-values are not corrected for the number of tests. None if
        scipy is not installed.
    """
    try:
        from scipy import stats
    except ModuleNotFoundError:
        return None
    found = {}
    for (first, a), (second, b) in combinations(values.items(), 2):
        facts: dict[str, Any] = dict.fromkeys(("t", "df", "p", "significant"))
        if np.ptp(a) > 0 or np.ptp(b) > 0:  # else the statistic is 0 / 0 or infinite
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # one of the two may still not vary
                test = stats.ttest_ind(a, b, equal_var=False)
            facts = {"t": float(test.statistic), "df": float(test.df), "p": float(test.pvalue)}
            facts["significant"] = facts["p"] < SIGNIFICANCE
        found[f"{first}-{second}"] = {"n": len(a) + len(b), **facts}
    return found
