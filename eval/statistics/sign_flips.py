"""The paired permutation test by signs: could two systems be exchanged in any unit?

If they are alike, a unit's difference might as well have the other sign. All pairs of systems share
one set of drawn signs: what the signs make of a pair's difference is the difference of what they
make of the two systems, so that 40 systems are one matrix product for each block of signs, and not
780.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from pronominal.eval.statistics.outcomes import FloatArray

Pairs = Sequence[tuple[int, int]]
"""Places of two systems that are compared."""

RESAMPLES, SEED = 99_999, 0
"""Of the signs: 780 pairs need 31,200 if the smallest p-value is to survive Holm's correction."""

ENUMERATED = 16
"""With at most so many differing units all ways to change signs are tried, 65,536 of them."""

BLOCK = 2**21
"""Signs in memory at a time."""

ROUNDING = 1e-9
"""Sums that differ by less, in parts of the largest possible one, are equal."""


def sign_flip_p_values(
    parts: FloatArray, pairs: Pairs, *, resamples: int = RESAMPLES
) -> FloatArray:
    """Return two-sided p-values of the paired permutation test of sums over units.

    Sums as far from 0 as the observed one count half (the mid-p-value, Lancaster 1961): counted
    whole, they make the test reject too rarely where units have few rows. A p-value depends on its
    two systems alone, and on `SEED`.

    Args:
        parts: each unit's part in the mean whole, such as its right rows, divided by the mean
            number of rows in a unit; shape ``[systems, units]``.
        pairs: the systems to compare, each by its place.
        resamples: number of random signs for each unit.

    Returns:
        In [0, 1], shape ``[pairs]``; 1 for systems that are alike in every unit.
    """
    found = np.ones(len(pairs))
    drawn: list[int] = []
    for number, (a, b) in enumerate(pairs):
        differences = parts[a] - parts[b]
        differences = differences[differences != 0]
        if len(differences) > ENUMERATED:
            drawn.append(number)
        elif len(differences):
            found[number] = _enumerated(differences)
    if drawn:
        chosen = [pairs[number] for number in drawn]
        extreme = _extreme(_flipped_sums(parts, resamples), parts.sum(axis=1), chosen)
        found[drawn] = (1 + extreme) / (resamples + 1)
    return found


def _enumerated(differences: FloatArray) -> float:
    """Try every change of signs; the first may stay, since the mirror image is as far from 0."""
    ways = np.arange(2 ** (len(differences) - 1))[:, None] >> np.arange(len(differences)) & 1
    sums = np.abs((1 - 2 * ways) @ differences)
    largest = np.abs(differences).sum()
    return float(_as_extreme(sums, abs(differences.sum()), ROUNDING * largest)) / len(ways)


def _extreme(flipped: Iterator[FloatArray], observed: FloatArray, pairs: Pairs) -> FloatArray:
    """Count, for each pair, the sums that are as far from 0 as the observed one."""
    order = sorted(range(len(pairs)), key=pairs.__getitem__)
    by_first = [(a, [*group]) for a, group in groupby(order, key=lambda one: pairs[one][0])]
    extreme, rounding = np.zeros(len(pairs)), ROUNDING * max(float(observed.max()), 1)
    for sums in flipped:
        for a, numbers in by_first:
            others = [pairs[number][1] for number in numbers]
            distance = np.abs(observed[a] - observed[others])[:, None]
            extreme[numbers] += _as_extreme(np.abs(sums[a] - sums[others]), distance, rounding)
    return extreme


def _as_extreme(sums: FloatArray, observed: FloatArray | float, rounding: float) -> FloatArray:
    """Count the sums beyond the observed one, and half of those that equal it, by rows.

    Nothing is nearer to 0 than 0, so that every sum counts whole then.
    """
    bound = np.where(np.asarray(observed) <= rounding, -1.0, observed + rounding)
    beyond = np.count_nonzero(sums > bound, axis=-1)
    return np.asarray((beyond + np.count_nonzero(sums >= observed - rounding, axis=-1)) / 2)


def _flipped_sums(parts: FloatArray, resamples: int) -> Iterator[FloatArray]:
    """Yield the sums over units after changes of sign, in blocks ``[systems, resamples]``."""
    units = parts.shape[1]
    generator, width = np.random.default_rng(SEED), max(8, BLOCK // units // 8 * 8)
    for start in range(0, resamples, width):
        size = min(width, resamples - start)
        bits = generator.integers(0, 256, (units, -(-width // 8)), np.uint8)
        kept = np.unpackbits(bits, axis=1, count=size).astype(np.float64)
        # a sign is twice what is kept, less 1
        yield 2 * (parts @ kept) - parts.sum(axis=1)[:, None]
