"""The paired tests that comparisons use, and the correction for their number.

They are scipy's and statsmodels', from the extra ``stats``.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.errors import InputError

INSTALL = 'pip install "pronominal[stats]"'

LEVEL = 0.05
"""Below it a p-value of Welch's test is called significant (RUFF, section 4.3)."""

RESAMPLES, SEED = 9999, 0
"""Of the permutation test; with at most so many ways to change signs it goes through all."""


def of_extra(module: str, needing: str = "the test needs the package") -> Any:
    """Import a module of the extra ``stats``; `InputError` where it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(f"{needing} {error.name}", cure=INSTALL) from error


def mcnemar(only_this: int, only_other: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    It asks whether items that exactly one system got right go to both alike (a binomial test of
    one half). There is nothing to ask about systems that agree everywhere: p is 1.
    """
    if only_this + only_other == 0:
        return 1.0
    exact = of_extra("statsmodels.stats.contingency_tables").mcnemar
    return float(exact([[0, only_this], [only_other, 0]], exact=True).pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down procedure, in the given order."""
    # by hand, for statsmodels collects garbage at each call, which takes longer than all tests
    order = np.argsort(values)
    stepped = np.asarray(values)[order] * np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return corrected.tolist()


def permutation(differences: npt.NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the paired permutation test.

    It asks whether the two systems could be exchanged in any unit: each difference changes its
    sign or not. All ways to do so are tried, or `RESAMPLES` random ones, drawn with `SEED`.
    `differences` are those between the two systems, shape ``[units]``.
    """
    differing = differences[differences != 0]  # a zero has no sign to change
    if len(differing) < 2:  # either sign of one difference is as far from 0
        return 1.0
    found = of_extra("scipy.stats").permutation_test(
        (differing,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=500,
        random_state=np.random.default_rng(SEED),
    )
    return min(1.0, float(found.pvalue))


def paired_t(differences: npt.NDArray[np.float64]) -> float | None:
    """Return the two-sided p-value of the paired t-test: whether the mean difference is 0.

    It is 1 where every difference is 0; None for fewer than two units, or where all have the same
    other difference, so that there is no variance to compare it with.
    """
    if not differences.any():
        return 1.0
    if len(differences) < 2 or np.ptp(differences) == 0:
        return None
    return float(of_extra("scipy.stats").ttest_1samp(differences, 0).pvalue)


def pairwise_tests(values: Mapping[str, Sequence[float]]) -> dict[str, Any] | None:
    """Compare every two groups of values by Welch's t-test, which lets variances differ (1947).

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
        facts: dict[str, Any] = dict.fromkeys(("t", "df", "p", "significant"))
        if np.ptp(a) > 0 or np.ptp(b) > 0:  # else the statistic is 0 / 0 or infinite
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # one of the two may still not vary
                test = stats.ttest_ind(a, b, equal_var=False)
            facts = {"t": float(test.statistic), "df": float(test.df), "p": float(test.pvalue)}
            facts["significant"] = facts["p"] < LEVEL
        difference = float(np.mean(a) - np.mean(b))
        found[f"{first}-{second}"] = {"n": len(a) + len(b), "difference": difference, **facts}
    return found
