"""Whether units differ: are the parts of one unit alike, more than those of several units are?"""

from collections.abc import Iterator

import numpy as np

from pronominal.eval.statistics.outcomes import (
    ROUNDING,
    BoolArray,
    FloatArray,
    IntArray,
    sum_by,
)

DRAWS, SEED = (199, 1_999, 9_999), 0
"""After how many permutations all told one may stop."""

LEAST_P = 1 / (1 + DRAWS[-1])
"""Smaller p-values are not told apart."""

ENOUGH = 20
"""So many permutations that spread units as far settle that the units do not differ."""

AT_ONCE = 100_000
"""So many numbers are permuted at once, whatever the number of parts."""


def units_differ(values: IntArray, units: IntArray, strata: IntArray) -> FloatArray:
    """Return p-values of a permutation test: whether units have different sums of their parts.

    Parts of one stratum change units at random; the statistic is the sum of squares of the units'
    sums, each part taken less its stratum's mean. So what is common to a stratum, such as a
    grammatical case or an order of words, makes no units differ. A test stops early where it is
    clear that they do not (Besag and Clifford, 1991).

    Args:
        values: shape ``[parts, tests]``.
        units: each part's unit, shape ``[parts]``.
        strata: each part's stratum, of parts that could be exchanged, shape ``[parts]``.

    Returns:
        In (0, 1], shape ``[tests]``; NaN where no unit has two parts that are in strata whose parts
        differ, since no permutation changes the statistic.
    """
    tests = values.shape[1]
    known = np.full(tests, np.nan)
    units, strata = (np.unique(one, return_inverse=True)[1] for one in (units, strata))
    centred = _centred(values, strata)
    open_tests = np.flatnonzero(_can_change(centred, units, strata))
    by_unit = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.diff(units[by_unit], prepend=-1))

    def spread(places: IntArray) -> FloatArray:
        sums = np.add.reduceat(centred.T[open_tests][:, places], starts, axis=-1)
        return np.asarray((sums**2).sum(axis=-1))

    random, done, as_far = np.random.default_rng(SEED), 0, np.zeros(tests, np.int64)
    for draws in DRAWS:
        if not len(open_tests):
            break
        far = spread(by_unit)[:, None] * (1 - ROUNDING) - ROUNDING
        for places in _exchanges(random, strata, draws - done, AT_ONCE // values.size):
            as_far[open_tests] += (spread(places[:, by_unit]) >= far).sum(axis=-1)
        done = draws
        known[open_tests] = (1 + as_far[open_tests]) / (1 + done)
        open_tests = open_tests[as_far[open_tests] < ENOUGH]
    return known


def _centred(values: IntArray, strata: IntArray) -> FloatArray:
    means = np.stack([np.bincount(strata, one) for one in values.T], axis=1)
    return np.asarray(values - (means / np.bincount(strata)[:, None])[strata])


def _can_change(centred: FloatArray, units: IntArray, strata: IntArray) -> BoolArray:
    """Say of each test whether some unit has two parts that differ from others of their strata."""
    apart = (np.abs(centred) > ROUNDING).astype(np.int64)
    in_such = sum_by(strata, len(centred), apart)[strata] > 0
    return np.asarray((sum_by(units, len(centred), in_such.astype(np.int64)) > 1).any(axis=0))


def _exchanges(
    random: np.random.Generator, strata: IntArray, draws: int, at_once: int
) -> Iterator[IntArray]:
    """Yield blocks of permutations within strata, shape ``[up to at_once, parts]``."""
    by_stratum = np.argsort(strata, kind="stable")
    while draws > 0:
        block = min(max(at_once, 1), draws)
        keys = strata[by_stratum] + random.random((block, len(strata)))
        places = np.empty(keys.shape, np.int64)
        places[:, by_stratum] = by_stratum[np.argsort(keys, axis=1)]
        yield places
        draws -= block
