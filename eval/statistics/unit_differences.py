"""Whether units differ: are the parts of one unit alike, more than those of several units are?"""

import numpy as np

from pronominal.eval.statistics.outcomes import FloatArray, IntArray

DRAWS, SEED = (199, 1_999, 9_999), 0
"""After how many permutations all told one may stop; p below 0.0001 is not told apart."""

ENOUGH = 20
"""So many permutations that spread units as far settle that the units do not differ."""

ROUNDING = 1e-9


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
        In (0, 1], shape ``[tests]``; NaN where all parts of a stratum are alike.
    """
    tests = values.shape[1]
    known = np.full(tests, np.nan)
    _, codes = np.unique(strata, return_inverse=True)
    sizes = np.bincount(codes)
    means = np.stack([np.bincount(codes, one) for one in values.T], axis=1) / sizes[:, None]
    centred = values - means[codes]
    open_tests = np.flatnonzero(np.abs(centred).max(axis=0, initial=0) > ROUNDING)
    by_unit, by_stratum = np.argsort(units, kind="stable"), np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(units[by_unit], prepend=-1))

    def spread(places: IntArray) -> FloatArray:
        sums = np.add.reduceat(centred[:, open_tests][places], starts, axis=-2)
        return np.asarray((sums**2).sum(axis=-2))

    random, done, as_far = np.random.default_rng(SEED), 0, np.zeros(tests, np.int64)
    for draws in DRAWS:
        if not len(open_tests):
            break
        keys = codes[by_stratum] + random.random((draws - done, len(codes)))
        places = np.empty(keys.shape, np.int64)
        places[:, by_stratum] = by_stratum[np.argsort(keys, axis=1)]
        drawn, observed = spread(places[:, by_unit]), spread(by_unit)
        as_far[open_tests] += (drawn >= observed * (1 - ROUNDING) - ROUNDING).sum(axis=0)
        done = draws
        known[open_tests] = (1 + as_far[open_tests]) / (1 + done)
        open_tests = open_tests[as_far[open_tests] < ENOUGH]
    return known
