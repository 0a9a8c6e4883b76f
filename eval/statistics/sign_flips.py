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
    parts: FloatArray, wholes: FloatArray, pairs: Pairs, *, resamples: int = RESAMPLES
) -> FloatArray:
    """Return two-sided p-values of the paired permutation test of ratios of sums over units.

    A unit's difference is that of the two systems' `parts`, less what the ratio of both together
    makes of the difference of their `wholes`. Sums as far from 0 as the observed one count half
    (the mid-p-value, Lancaster 1961): counted whole, they make the test reject too rarely where
    units have few rows. A p-value depends on its two systems alone, and on `SEED`.

    Args:
        parts: each unit's part in the mean whole, such as its right rows, divided by the mean
            number of rows in a unit; shape ``[systems, units]``.
        wholes: what it is a part of, in the same shape, with a mean of 1 for each system.
        pairs: the systems to compare, each by its place.
        resamples: number of random signs for each unit.

    Returns:
        In [0, 1], shape ``[pairs]``; 1 for systems that are alike in every unit.
    """
    found = np.ones(len(pairs))
    ratios = parts.mean(axis=1)
    common = np.array([(ratios[a] + ratios[b]) / 2 for a, b in pairs])
    drawn: list[int] = []
    for number, (a, b) in enumerate(pairs):
        differences = parts[a] - parts[b] - common[number] * (wholes[a] - wholes[b])
        differences = differences[differences != 0]
        if len(differences) > ENUMERATED:
            drawn.append(number)
        elif len(differences):
            found[number] = _enumerated(differences)
    if drawn:
        one_whole = bool((wholes == wholes[0]).all())
        sums = _flipped_sums(parts, None if one_whole else wholes, resamples)
        chosen = [pairs[number] for number in drawn]
        found[drawn] = (1 + _extreme(sums, ratios, chosen, common[drawn], parts.shape[1])) / (
            resamples + 1
        )
    return found


def _enumerated(differences: FloatArray) -> float:
    """Try every change of signs; the first may stay, since the mirror image is as far from 0."""
    ways = np.arange(2 ** (len(differences) - 1))[:, None] >> np.arange(len(differences)) & 1
    sums = np.abs((1 - 2 * ways) @ differences)
    largest = np.abs(differences).sum()
    return float(_as_extreme(sums, abs(differences.sum()), ROUNDING * largest)) / len(ways)


def _extreme(
    sums: Iterator[tuple[FloatArray, FloatArray | None]],
    ratios: FloatArray,
    pairs: Pairs,
    common: FloatArray,
    units: int,
) -> FloatArray:
    """Count, for each pair, the sums that are as far from 0 as the observed one."""
    order = sorted(range(len(pairs)), key=pairs.__getitem__)
    by_first = [(a, [*group]) for a, group in groupby(order, key=lambda one: pairs[one][0])]
    extreme = np.zeros(len(pairs))
    for of_parts, of_wholes in sums:
        for a, numbers in by_first:
            others = [pairs[number][1] for number in numbers]
            found = of_parts[a] - of_parts[others]
            if of_wholes is not None:
                found -= common[numbers, None] * (of_wholes[a] - of_wholes[others])
            observed = units * np.abs(ratios[a] - ratios[others])
            extreme[numbers] += _as_extreme(np.abs(found), observed[:, None], ROUNDING * units)
    return extreme


def _as_extreme(sums: FloatArray, observed: FloatArray | float, rounding: float) -> FloatArray:
    """Count the sums beyond the observed one, and half of those that equal it, by rows.

    Nothing is nearer to 0 than 0, so that every sum counts whole then.
    """
    bound = np.where(np.asarray(observed) <= rounding, -1.0, observed + rounding)
    beyond = np.count_nonzero(sums > bound, axis=-1)
    return np.asarray((beyond + np.count_nonzero(sums >= observed - rounding, axis=-1)) / 2)


def _flipped_sums(
    parts: FloatArray, wholes: FloatArray | None, resamples: int
) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """Yield the sums over units after changes of sign, in blocks ``[systems, resamples]``."""
    units = parts.shape[1]
    generator, width = np.random.default_rng(SEED), max(8, BLOCK // units // 8 * 8)
    for start in range(0, resamples, width):
        size = min(width, resamples - start)
        bits = generator.integers(0, 256, (units, -(-width // 8)), np.uint8)
        kept = np.unpackbits(bits, axis=1, count=size).astype(np.float64)
        # a sign is twice what is kept, less 1
        yield (
            2 * (parts @ kept) - parts.sum(axis=1)[:, None],
            None if wholes is None else 2 * (wholes @ kept) - wholes.sum(axis=1)[:, None],
        )
