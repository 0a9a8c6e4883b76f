"""What pronominal bias chance gives: to a system with these accuracies, and to two biased forms."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE, mcnemar

Form = Mapping[str, Any]
"""A block of ``by_form``; see `pronominal_bias`."""

SIGNS = ("positive", "negative")

AGAINST_CHANCE = "two sets are compared with chance instead"
"""Why an index of two sets has no interval."""

TOO_FEW_BIASED = "too few biased occupations: no index would be as rare as that by chance"
"""Why there is no p-value of an index as large, or as small."""

PERMUTATIONS, SEED = 1999, 0
"""Of the test whether forms differ."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How often a form is right, and how often wrong, at one of the endings of its pairs."""

    right: float
    wrong: float

    @property
    def answered(self) -> float:
        """How often it got one of the two entities as answer."""
        return self.right + self.wrong


def expected_percentages(endings: Mapping[str, tuple[Ending, Ending]]) -> dict[str, float | None]:
    """Return the shares of biased pairs of a system whose errors are independent of each other.

    Every sentence is right or wrong as often as the system is on the form and ending, whatever
    happens in the pair's other sentences. A system that ignores the pronoun has a share of 0, and
    so has a perfect one: a share alone is no evidence of bias.

    Args:
        endings: pronoun set -> its two endings, of one grammatical case.

    Returns:
        Pronoun set -> the expected share, in [0, 1]; None where nothing would be solvable.
    """
    solved = {name: one.right * other.right for name, (one, other) in endings.items()}
    found: dict[str, float | None] = {}
    for name, (one, other) in endings.items():
        unsolved = [1 - share for of_set, share in solved.items() if of_set != name]
        by_others = 1 - float(np.prod(unsolved))
        biased = (one.right * other.wrong + one.wrong * other.right) * by_others
        attempted = one.answered * other.answered
        solvable = solved[name] + (attempted - solved[name]) * by_others
        found[name] = biased / solvable if solvable else None
    return found


def forms_differ(attempted: npt.NDArray[np.bool_], biased: npt.NDArray[np.bool_]) -> float | None:
    """Return the p-value of a permutation test: whether pronoun sets differ in their bias.

    The answers to the sets change places within each pair; the statistic is the variance of the
    sets' shares of biased pairs. Permutations that give the observed variance count half (the
    mid-p-value, Lancaster 1961): few biased pairs give few different variances, and counted whole
    they make the test find less than it may. Nothing is less than no variance, so p is 1 then.

    Args:
        attempted: which sets both sentences of each solvable pair were answered with, shape
            ``[pairs, sets]``.
        biased: which of these are biased, in the same shape.

    Returns:
        The p-value in (0, 1]; None where no pair is solvable, or there is one set.
    """
    if not len(attempted) or attempted.shape[1] < 2:
        return None
    codes = attempted.astype(np.int8) + biased
    fixed = np.ptp(codes, axis=1) == 0
    varying = np.broadcast_to(codes[~fixed], (PERMUTATIONS, *codes[~fixed].shape))
    shuffled = np.random.default_rng(SEED).permuted(varying, axis=2)
    same = np.broadcast_to(codes[fixed], (PERMUTATIONS, *codes[fixed].shape))
    drawn = _variances(np.concatenate([same, shuffled], axis=1))
    observed = _variances(codes[None])[0]
    # equal but for rounding
    larger = int(np.sum(drawn > observed + 1e-12)) if observed > 1e-12 else PERMUTATIONS
    as_large = int(np.sum(drawn >= observed - 1e-12))
    return (1 + (larger + as_large) / 2) / (1 + PERMUTATIONS)


def _variances(codes: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Return the variance over sets of the shares of biased pairs, ``[permutations]``."""
    attempted, biased = (codes > 0).sum(axis=1), (codes > 1).sum(axis=1)
    there = attempted > 0
    shares = np.where(there, biased / np.maximum(attempted, 1), 0.0)
    sets = np.maximum(there.sum(axis=1), 1)
    means = shares.sum(axis=1) / sets
    return np.asarray((np.where(there, shares - means[:, None], 0.0) ** 2).sum(axis=1) / sets)


def direction_p(positive: int, negative: int) -> float | None:
    """Return the two-sided mid-p-value of as many pairs of one sign if both were as likely.

    None without a biased pair.
    """
    return mcnemar(positive, negative) if positive + negative else None


def overlap(form: Form, other: Form) -> dict[str, Any]:
    """Compare the biased occupations of two forms with what chance gives.

    By chance each form is biased towards as many of the occupations as it is, but any of those
    that are solvable in both forms; those that are solvable in one alone keep their bias. The
    distribution is exact.

    Returns:
        ``n`` and ``eligible``, the number of occupations that are solvable in both; ``signed``,
        where an occupation is in common if both forms are biased the same way, and ``unsigned``,
        where it is if both are biased: each with ``n``, ``jaccard``, the index that is ``expected``
        by chance, the index ``corrected`` for it, (jaccard - expected) / (1 - expected), and the
        p-values of an index as large (``p_more``) and as small (``p_less``). Small sets have few
        different indices. So among overlaps with the same signed index those with fewer opposite
        signs are more alike, among those with the same unsigned one those with more signs in
        common; what is as alike in both counts half (the mid-p-value, Lancaster 1961). None where
        no index is defined, and, with the reason in ``p_missing``, where not even the farthest
        index that the sets can have would be significant (Tarone, 1990): two small sets often have
        nothing in common.
    """
    eligible = {*form["solvable_occupations"]} & {*other["solvable_occupations"]}
    total = sum(len(block[sign]) for block in (form, other) for sign in SIGNS)
    one, two = (tuple(len({*b[sign]} & eligible) for sign in SIGNS) for b in (form, other))
    agreeing = sum(len({*form[sign]} & {*other[sign]}) for sign in SIGNS)
    opposite = sum(len({*form[sign]} & {*other[opposed]}) for sign, opposed in (SIGNS, SIGNS[::-1]))
    n = len(eligible)
    chances = _agreeing_and_opposite(n, one, two)
    signed = {(agree, -apart): p for (agree, apart), p in chances.items()}
    unsigned = {(agree + apart, agree): p for (agree, apart), p in chances.items()}
    kinds = {
        "signed": _against_chance((agreeing, -opposite), total, signed),
        "unsigned": _against_chance((agreeing + opposite, agreeing), total, unsigned),
    }
    return {"n": n, "eligible": n, **{kind: {"n": n, **found} for kind, found in kinds.items()}}


Overlap = tuple[int, int]
"""How many occupations are in common, and what tells overlaps of as many apart: more is liker."""


def _against_chance(found: Overlap, total: int, chances: Mapping[Overlap, float]) -> dict[str, Any]:
    keys = ("jaccard", "expected", "corrected", "p_more", "p_less")
    indices = ("jaccard", "corrected")
    none: dict[str, Any] = {"interval": dict.fromkeys(indices)}
    none["interval_missing"] = dict.fromkeys(indices, AGAINST_CHANCE)
    if total == 0:
        return dict.fromkeys(keys) | none
    expected = sum(p * common / (total - common) for (common, _), p in chances.items())
    index = found[0] / (total - found[0])
    corrected = (index - expected) / (1 - expected) if expected < 1 else None
    sides = {
        "p_more": _mid_p(found, chances),
        "p_less": _mid_p(_mirrored(found), {_mirrored(one): p for one, p in chances.items()}),
    }
    values = {"jaccard": index, "expected": expected, "corrected": corrected} | sides
    missing = {name: TOO_FEW_BIASED for name, p in sides.items() if p is None}
    return values | none | ({"p_missing": missing} if missing else {})


def _mid_p(found: Overlap, chances: Mapping[Overlap, float]) -> float | None:
    """Return the mid-p-value of an overlap as alike; None where none could be significant."""
    if chances[max(chances)] / 2 > SIGNIFICANCE:
        return None
    return sum(p for overlap, p in chances.items() if overlap > found) + chances.get(found, 0.0) / 2


def _mirrored(overlap: Overlap) -> Overlap:
    return -overlap[0], -overlap[1]


@cache
def _agreeing_and_opposite(
    eligible: int, one: tuple[int, ...], two: tuple[int, ...]
) -> dict[Overlap, float]:
    """Return how likely each number of occupations is that agree in sign, and that do not.

    The other form's positive occupations are drawn first, then its negative ones from those left.
    """
    (positive, negative), (other_positive, other_negative) = one, two
    neither = eligible - positive - negative
    ways = comb(eligible, other_positive) * comb(eligible - other_positive, other_negative)
    chances: dict[Overlap, float] = {}
    for both, crossed in product(range(positive + 1), range(negative + 1)):
        rest = other_positive - both - crossed
        if not 0 <= rest <= neither:
            continue
        drawn = comb(positive, both) * comb(negative, crossed) * comb(neither, rest)
        left = (negative - crossed, positive - both, neither - rest)
        for overlap, further in _drawn_from(other_negative, *left):
            key = (both + overlap[0], crossed + overlap[1])
            chances[key] = chances.get(key, 0.0) + drawn * further / ways
    return chances


def _drawn_from(
    number: int, negative: int, positive: int, neither: int
) -> Iterator[tuple[Overlap, int]]:
    """Yield the ways to draw so many negative occupations: which agree, and which do not."""
    for agreeing in range(min(negative, number) + 1):
        for opposite in range(min(positive, number - agreeing) + 1):
            ways = comb(negative, agreeing) * comb(positive, opposite)
            yield (agreeing, opposite), ways * comb(neither, number - agreeing - opposite)
