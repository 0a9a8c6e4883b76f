"""The paired permutation test by signs: could two systems be exchanged in any unit?

If they are alike, a unit's difference might as well have the other sign. All pairs of systems share
one set of drawn signs: what the signs make of a pair's difference is the difference of what they
make of the two systems, so that 40 systems are one matrix product for each block of signs, and not
780. What counts rows is compared in whole numbers of 8 bits, where a pair's differences allow it.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

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
"""The largest sum of whole numbers, twice: differences of such sums then have 16 bits."""

NARROW = 2**8
"""Differences whose sizes add up to less are told apart by their last 8 bits."""

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
    step = _step(parts)
    values = parts if step is None else np.rint(parts / step)
    alike: dict[bytes, int] = {}
    firsts = [alike.setdefault(one.tobytes(), place) for place, one in enumerate(values)]
    distinct = [(min(firsts[a], firsts[b]), max(firsts[a], firsts[b])) for a, b in pairs]
    found, drawn = dict.fromkeys(distinct, 1.0), []
    for a, b in found:
        differences = values[a] - values[b]
        differing = np.abs(differences[differences != 0])
        if len(differing) > ENUMERATED:
            drawn.append((a, b))
        elif len(differing):
            found[a, b] = _enumerated(tuple(np.sort(differing)), abs(float(differences.sum())))
    extreme = _extreme_fractions if step is None else _extreme_counts
    if drawn:
        p = (1 + extreme(values, drawn, resamples)) / (resamples + 1)
        found.update(zip(drawn, p.tolist(), strict=True))
    return np.array([found[pair] for pair in distinct])


@lru_cache(2**14)
def _enumerated(sizes: tuple[float, ...], observed: float) -> float:
    """Try every change of signs; the first may stay, since the mirror image is as far from 0."""
    signs = _signs(len(sizes))
    sums = np.abs(signs @ np.array(sizes))
    return float(_as_extreme(sums, observed, ROUNDING * sum(sizes))) / len(signs)


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
    if parts.min(initial=0) < 0:
        return None
    apart = np.diff(np.unique(parts), prepend=0)
    smallest = float(np.min(apart, initial=np.inf, where=apart > ROUNDING))
    steps = parts / smallest
    whole = smallest < np.inf and bool((np.abs(steps - np.rint(steps)) < ROUNDING).all())
    return smallest if whole and 2 * steps.sum(axis=1).max() <= MOST else None


def _extreme_fractions(parts: FloatArray, pairs: Pairs, resamples: int) -> FloatArray:
    """Count, for each pair, the sums that are as far from 0 as the observed one."""
    observed, extreme = parts.sum(axis=1), np.zeros(len(pairs))
    rounding = ROUNDING * max(float(observed.max()), 1)
    for kept in _kept(parts.shape[1], resamples):
        # a sign is twice what is kept, less 1
        sums = 2 * (parts @ kept.astype(np.float64)) - observed[:, None]
        for number, (a, b) in enumerate(pairs):
            distance = abs(float(observed[a] - observed[b]))
            extreme[number] += _as_extreme(np.abs(sums[a] - sums[b]), distance, rounding)
    return extreme


def _extreme_counts(whole: FloatArray, pairs: Pairs, resamples: int) -> FloatArray:
    """Count the same of whole numbers, several times as fast.

    Where one system leads by some number, what is kept of their differences adds up to 0 or that
    number in sums as far from 0 as the observed one, and to less or more in those beyond it. These
    sums are known from their last 8 or 16 bits: they differ by less than the sizes of the
    differences add up to.
    """
    extreme, ordered = np.full(len(pairs), float(resamples)), []
    for number, (a, b) in enumerate(pairs):
        differences = whole[a] - whole[b]
        lead, narrow = int(differences.sum()), np.abs(differences).sum() < NARROW
        if lead:  # nothing is nearer to 0 than 0
            ordered.append((number, *((a, b) if lead > 0 else (b, a)), abs(lead), narrow))
    for kept in _kept(whole.shape[1], resamples):
        # single precision holds whole numbers of 24 bits
        wide = (whole.astype(np.float32) @ kept.astype(np.float32)).astype(np.uint16)
        last = wide.astype(np.uint8)
        for number, a, b, lead, narrow in ordered:
            sums = last[a] - last[b] if narrow else wide[a] - wide[b]
            nearer_or_equal = np.count_nonzero(sums <= lead)
            sums -= sums.dtype.type(1)
            extreme[number] -= (nearer_or_equal + np.count_nonzero(sums < lead - 1)) / 2
    return extreme


def _as_extreme(sums: FloatArray, observed: float, rounding: float) -> float:
    """Count the sums beyond the observed one, and half of those that equal it.

    Nothing is nearer to 0 than 0, so that every sum counts whole then.
    """
    bound = -1 if observed <= rounding else observed + rounding
    return (np.count_nonzero(sums > bound) + np.count_nonzero(sums >= observed - rounding)) / 2


def _kept(units: int, resamples: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield which units keep their sign, 1 or 0, in blocks ``[units, resamples]``."""
    generator, width = np.random.default_rng(SEED), max(8, BLOCK // units // 8 * 8)
    for start in range(0, resamples, width):
        size = min(width, resamples - start)
        bits = generator.integers(0, 256, (units, -(-width // 8)), np.uint8)
        yield np.unpackbits(bits, axis=1, count=size)
