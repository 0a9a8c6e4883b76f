"""The paired permutation test by signs: could two systems be exchanged in any unit?

If they are alike, a unit's difference might as well have the other sign. All pairs of systems share
one set of drawn signs: what the signs make of a pair's difference is the difference of what they
make of the two systems, so that 40 systems are one matrix product for each block of signs, and not
780.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

import numpy as np
import numpy.typing as npt

from pronominal.eval.statistics.outcomes import FloatArray

Pairs = Sequence[tuple[int, int]]
"""Places of two systems that are compared."""

RESAMPLES, SEED = 99_999, 0
"""Of the signs: 780 pairs need 31,200 if the smallest p-value is to survive Holm's correction."""

ENUMERATED = 16
"""With at most so many differing units all ways to change signs are tried, 65,536 of them."""

MOST = 2**15 - 1
"""The largest number of 16 bits; differences of sums are at most twice the largest sum."""

Sums = FloatArray | npt.NDArray[np.int16]
"""Sums over units; whole numbers where parts are."""

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
        step = _step(parts)
        if step is None:
            rounding = ROUNDING * max(float(parts.sum(axis=1).max()), 1)
            extreme = _extreme(_flipped_sums(parts, resamples), parts.sum(axis=1), chosen, rounding)
        else:
            whole = np.rint(parts / step)
            sums = (block.astype(np.int16) for block in _flipped_sums(whole, resamples))
            extreme = _extreme(sums, whole.sum(axis=1).astype(np.int16), chosen, 0)
        found[drawn] = (1 + extreme) / (resamples + 1)
    return found


def _enumerated(differences: FloatArray) -> float:
    """Try every change of signs; the first may stay, since the mirror image is as far from 0."""
    signs = _signs(len(differences))
    sums = np.abs(signs @ differences)
    largest = np.abs(differences).sum()
    return float(_as_extreme(sums, abs(differences.sum()), ROUNDING * largest)) / len(signs)


@cache
def _signs(units: int) -> FloatArray:
    """Return every change of signs of so many units but the first, ``[changes, units]``."""
    ways = np.arange(2 ** (units - 1))[:, None] >> np.arange(units) & 1
    return (1 - 2 * ways).astype(np.float64)


def _step(parts: FloatArray) -> float | None:
    """Return what all parts are multiples of; None where no such sums are small whole numbers.

    Parts count rows, in parts of a mean, so that sums are counts; those of 16 bits are compared
    several times as fast as fractions.
    """
    smallest = float(np.min(parts, initial=np.inf, where=parts > 0))
    steps = parts / smallest
    whole = bool((np.abs(steps - np.rint(steps)) < ROUNDING).all())
    return smallest if whole and 2 * steps.sum(axis=1).max() <= MOST else None


def _extreme(flipped: Iterator[Sums], observed: Sums, pairs: Pairs, rounding: float) -> FloatArray:
    """Count, for each pair, the sums that are as far from 0 as the observed one."""
    order = sorted(range(len(pairs)), key=pairs.__getitem__)
    by_first = [(a, [*group]) for a, group in groupby(order, key=lambda one: pairs[one][0])]
    extreme = np.zeros(len(pairs))
    for sums in flipped:
        for a, numbers in by_first:
            others = [pairs[number][1] for number in numbers]
            distance = np.abs(observed[a] - observed[others])[:, None]
            apart = sums[a] - sums[others]
            extreme[numbers] += _as_extreme(np.abs(apart, out=apart), distance, rounding)
    return extreme


def _as_extreme(sums: Sums, observed: Sums | float, rounding: float) -> FloatArray:
    """Count the sums beyond the observed one, and half of those that equal it, by rows.

    Nothing is nearer to 0 than 0, so that every sum counts whole then.
    """
    observed = np.asarray(observed)
    margin = observed.dtype.type(rounding)
    bound = np.where(observed <= margin, observed.dtype.type(-1), observed + margin)
    beyond = np.count_nonzero(sums > bound, axis=-1)
    return np.asarray((beyond + np.count_nonzero(sums >= observed - margin, axis=-1)) / 2)


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
