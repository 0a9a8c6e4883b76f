"""What pronominal bias chance gives: to a system with these accuracies, and to two biased forms."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.eval.statistics.hypothesis_tests import mcnemar

Form = Mapping[str, Any]
"""A block of ``by_form``; see `pronominal_bias`."""

SIGNS = ("positive", "negative")

AGAINST_CHANCE = "two sets are compared with chance instead"
"""Why an index of two sets has no interval."""

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
    sets' shares of biased pairs.

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
    # as large but for rounding
    as_large = int(np.sum(drawn >= observed - 1e-12))
    return (1 + as_large) / (1 + PERMUTATIONS)


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
        mid-p-values of an index as large (``p_more``) and as small (``p_less``). None where no
        index is defined.
    """
    eligible = {*form["solvable_occupations"]} & {*other["solvable_occupations"]}
    total = sum(len(block[sign]) for block in (form, other) for sign in SIGNS)
    common = [len({*form[sign]} & {*other[sign]}) for sign in SIGNS]
    one, two = (tuple(len({*b[sign]} & eligible) for sign in SIGNS) for b in (form, other))
    biased = [{name for sign in SIGNS for name in block[sign]} for block in (form, other)]
    either = len(biased[0] & biased[1])
    n = len(eligible)
    kinds = {
        "signed": _against_chance(sum(common), total, _signed(n, one, two)),
        "unsigned": _against_chance(either, total, _unsigned(n, sum(one), sum(two))),
    }
    return {"n": n, "eligible": n, **{kind: {"n": n, **found} for kind, found in kinds.items()}}


def _against_chance(common: int, total: int, chances: Mapping[int, float]) -> dict[str, Any]:
    keys = ("jaccard", "expected", "corrected", "p_more", "p_less")
    indices = ("jaccard", "corrected")
    none: dict[str, Any] = {"interval": dict.fromkeys(indices)}
    none["interval_missing"] = dict.fromkeys(indices, AGAINST_CHANCE)
    if total == 0:
        return dict.fromkeys(keys) | none
    expected = sum(p * number / (total - number) for number, p in chances.items() if p)
    index = common / (total - common)
    corrected = (index - expected) / (1 - expected) if expected < 1 else None
    half = chances.get(common, 0.0) / 2  # of what was observed: mid-p-values
    more = sum(p for number, p in chances.items() if number > common) + half
    values = (index, expected, corrected, more, 1 - more)
    return dict(zip(keys, values, strict=True)) | none


def _unsigned(eligible: int, one: int, two: int) -> dict[int, float]:
    """Return how likely each number of common occupations is: the hypergeometric distribution."""
    ways = comb(eligible, two)
    return {k: comb(one, k) * comb(eligible - one, two - k) / ways for k in range(two + 1)}


def _signed(eligible: int, one: tuple[int, ...], two: tuple[int, ...]) -> dict[int, float]:
    """Return how likely each number of occupations that agree in sign is."""
    chances: dict[int, float] = {}
    for agreeing, p in _agreeing(eligible, one, two):
        chances[agreeing] = chances.get(agreeing, 0.0) + p
    return chances


def _agreeing(
    eligible: int, one: tuple[int, ...], two: tuple[int, ...]
) -> Iterator[tuple[int, float]]:
    """Draw the other form's positive occupations, then its negative ones from those left."""
    (positive, negative), (other_positive, other_negative) = one, two
    left = eligible - other_positive
    ways = comb(eligible, other_positive) * comb(left, other_negative)
    for both, crossed in product(range(positive + 1), range(negative + 1)):
        rest = other_positive - both - crossed
        if rest < 0:
            continue
        drawn = comb(positive, both) * comb(negative, crossed)
        drawn *= comb(eligible - positive - negative, rest)
        if drawn == 0:
            continue
        for also in range(min(negative - crossed, other_negative) + 1):
            further = comb(negative - crossed, also)
            further *= comb(left - (negative - crossed), other_negative - also)
            yield both + also, drawn * further / ways
