"""How far two systems are apart on the same units: differences of ratios, with intervals.

A ratio is a sum over units of a part divided by that of a whole: right rows and rows, or what F1
divides. Where the whole is the same in every unit, its ratio is the mean of the units' shares.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE
from pronominal.eval.statistics.intervals import CONFIDENCE, FEW
from pronominal.eval.statistics.outcomes import ROUNDING, BoolArray, FloatArray, IntArray, ratio
from pronominal.eval.statistics.quantiles import normal_quantile, t_quantile, t_quantiles
from pronominal.eval.statistics.ratio_differences import RatioDifferences

PairedUnits = BoolArray | IntArray | FloatArray
"""How much of each independent unit a system got right.

Either shares in [0, 1], shape ``[units]``, or parts and wholes, such as the right rows of a unit
and its rows, shape ``[units, 2]``. The units are the same, in order, for every system. A unit is
one item, right or not, or several that stand or fall together, such as the sentences of a pair.
"""

TOO_FEW = "there are fewer than two units"
NOTHING_TO_DIVIDE = "one of the two has nothing to divide by"
RARELY_BOTH = f"in fewer than {FEW} units have both something to divide by"
"""Why a difference has no interval."""

POWER = 0.8
"""How often the minimum detectable effect would be found (Card et al., 2020)."""

FEW_DEPART = 10
"""With fewer units that depart from the others' difference, half a unit is added to each side."""


@dataclass(frozen=True, slots=True)
class Systems:
    """The units of several systems, of one number each.

    Attributes:
        parts: shape ``[systems, units]``.
        wholes: in the same shape.
    """

    parts: FloatArray
    wholes: FloatArray

    @classmethod
    def of(cls, units: Sequence[PairedUnits]) -> "Systems":
        """Bring the units of the systems together."""
        pairs = [
            np.stack([one, np.ones_like(one)], axis=-1) if one.ndim == 1 else one
            for one in (np.asarray(one, np.float64) for one in units)
        ]
        stacked = np.stack(pairs)
        return cls(stacked[..., 0], stacked[..., 1])

    @property
    def single(self) -> bool:
        """Whether every unit is one item, right or not."""
        items = (self.wholes == 1) & ((self.parts == 0) | (self.parts == 1))
        return bool(items.all())

    @property
    def size(self) -> FloatArray:
        """The sum of each system's wholes, shape ``[systems]``."""
        return np.asarray(self.wholes.sum(axis=1))

    @property
    def ratios(self) -> FloatArray:
        """Each system's ratio, shape ``[systems]``; NaN where the whole is 0."""
        return ratio(self.parts.sum(axis=1), self.size)

    @property
    def weighted(self) -> FloatArray:
        """The parts, as shares whose mean over units is the ratio, shape ``[systems, units]``."""
        return np.asarray(self.parts / self.wholes.mean(axis=1, keepdims=True))

    @property
    def influences(self) -> FloatArray:
        """How much each unit moves its system's ratio, shape ``[systems, units]``.

        It is what the ratio would lose without the unit (the jackknife's), which is the usual
        linearisation where units have the same size, and holds better where they have not.
        """
        rest = self.size[:, None] - self.wholes
        return ratio(self.parts - self.ratios[:, None] * self.wholes, rest)


def departing(differences: FloatArray) -> IntArray:
    """Return in how many units two systems are not as far apart as in the others.

    Those are the units that are not alike or, where more than half of the units have one
    difference, those that have another, whichever are fewer.

    Args:
        differences: of the units' shares, ``[..., units]``.
    """
    n = differences.shape[-1]
    common = np.median(differences, axis=-1, keepdims=True)
    others = n - np.isclose(differences, common, rtol=0, atol=ROUNDING).sum(axis=-1)
    differing = np.count_nonzero(differences, axis=-1)
    return np.asarray(np.where(2 * others < n, np.minimum(others, differing), differing))


def paired_variance(squares: FloatArray, n: int, departing: IntArray) -> FloatArray:
    """Return the variance of the mean of the differences of `n` units, in one shape.

    A variance of a few units says too little. With fewer than `FEW_DEPART`, half a unit is added in
    favour of each side (Agresti and Min, 2005, by units instead of rows), so that it is never 0.

    Args:
        squares: sum of the squared deviations of the units' differences from their mean.
        n: units, at least 2.
        departing: how many of them depart from the difference of the others (`departing`).
    """
    added = np.where(np.asarray(departing) < FEW_DEPART, 1 / n**2, 0.0)
    return np.asarray(squares / (n * (n - 1)) + added)


@dataclass(frozen=True, slots=True)
class PairedDifferences:
    """The differences of pairs of systems; every array has the shape ``[pairs]``.

    Attributes:
        n: units.
        more: units of which the first system got a higher share right.
        fewer: units of which the second one did.
        shared: units in which both have a whole, such as those in which both chose anything.
        alike: whether both divide by the same in every unit.
        by_ratios: whether the interval is made of the two ratios' own: the two are not alike, or
            one of them is the same in every unit.
        estimate: the first system's ratio minus the second one's; NaN where one is undefined.
        standard_error: of the estimate; NaN where the units do not tell it.
        of_others: the differences as they are known from each ratio by itself.
    """

    n: int
    more: IntArray
    fewer: IntArray
    shared: IntArray
    alike: BoolArray
    by_ratios: BoolArray
    estimate: FloatArray
    standard_error: FloatArray
    of_others: RatioDifferences

    @classmethod
    def of(cls, systems: Systems, pairs: Sequence[tuple[int, int]]) -> "PairedDifferences":
        """Compare pairs of systems, each by its place.

        Where two systems divide by the same, the standard error is the usual one of a mean of
        paired differences, by units (`paired_variance`), unless one is the same in every unit: the
        difference is then as certain as the other's ratio. Else it is that of `RatioDifferences`,
        NaN where too few units are `shared`: what the others say rests on how often a system chose,
        not on what.
        """
        n = systems.parts.shape[1]
        a, b = np.array(pairs, np.int64).reshape(-1, 2).T
        (one, other), (whole, of_other) = ((x[a], x[b]) for x in (systems.parts, systems.wholes))
        lead = one * of_other - other * whole
        shared = ((whole > 0) & (of_other > 0)).sum(axis=1)
        alike = (whole == of_other).all(axis=1)
        many = (one != other).sum(axis=1) >= min(FEW_DEPART, n)
        of_others = RatioDifferences.of(systems.parts, systems.wholes, pairs)
        of_others, steady = of_others.from_constants(alike & many)
        by_ratios = ~alike | steady
        moved = systems.influences
        squares = (n - 1) ** 2 * ((moved[a] - moved[b]) ** 2).sum(axis=1)
        errors = np.full(len(pairs), np.nan)
        if n > 1:
            apart = departing(np.nan_to_num(ratio(one - other, whole)))
            by_units = np.sqrt(paired_variance(squares, n, apart))
            half = of_others.intervals(CONFIDENCE) @ [-1, 1] / 2
            error = half / t_quantiles((1 + CONFIDENCE) / 2, of_others.freedom)
            # an interval that ends at -1 or 1 says less of the error than units do
            error = np.where(alike, np.maximum(error, by_units), error)
            errors = np.where(by_ratios, error, by_units)
        errors[shared < min(n, FEW)] = np.nan
        estimate = systems.ratios[a] - systems.ratios[b]
        leads = (lead > 0).sum(axis=1), (lead < 0).sum(axis=1)
        return cls(n, *leads, shared, alike, by_ratios, estimate, errors, of_others)

    @property
    def testable(self) -> BoolArray:
        """Which pairs share enough units for a test: `FEW`, or all where there are fewer."""
        return ~np.isnan(self.estimate) & (self.shared >= min(self.n, FEW))

    def missing(self, number: int) -> str | None:
        """Return why a pair's difference has no interval; None where it has one."""
        if not np.isnan(self.standard_error[number]):
            return None
        if self.n < 2:
            return TOO_FEW
        return RARELY_BOTH if not np.isnan(self.estimate[number]) else NOTHING_TO_DIVIDE

    def intervals(self, level: float = CONFIDENCE) -> FloatArray:
        """Return both ends of the differences' intervals, shape ``[pairs, 2]``, in [-1, 1]."""
        half = self._t((1 + level) / 2) * self.standard_error
        ends = np.clip(np.stack([self.estimate - half, self.estimate + half], axis=-1), -1, 1)
        there = ~np.isnan(self.standard_error) & self.by_ratios
        return np.where(there[:, None], self.of_others.intervals(level), ends)

    def outer_intervals(self, level: float) -> FloatArray:
        """Return intervals as far as either method reaches, in the form of `intervals`.

        Near 100 % a system that did well by chance has units that vary less, too: of 30 units
        Student's interval alone calls systems that are as far apart as the margin equivalent in 9 %
        of comparisons. The one that is made of the two ratios' own is wider on that side; it counts
        where both of them vary.
        """
        ends, others = self.intervals(level), self.of_others.intervals(level)
        widest = np.stack(
            [np.minimum(ends[:, 0], others[:, 0]), np.maximum(ends[:, 1], others[:, 1])], axis=-1
        )
        return np.where(self.of_others.both_vary[:, None], widest, ends)

    def minimum_detectable_effects(self, tests: int = 1) -> FloatArray:
        """Return which true difference would be found with `POWER`, shape ``[pairs]``.

        The two-sided test is at `SIGNIFICANCE`, divided by the number of `tests` that it is
        corrected for.
        """
        return minimum_detectable_effect(self.standard_error, self.n, tests)

    def _t(self, probability: float) -> float:
        return t_quantile(probability, max(self.n - 1, 1))


T = TypeVar("T", float, FloatArray)


def minimum_detectable_effect(standard_error: T, n: int, tests: int = 1) -> T:
    """Return which true difference a two-sided paired t-test finds with `POWER` (Miller, 2024).

    Args:
        standard_error: of the difference.
        n: units.
        tests: how many tests `SIGNIFICANCE` is shared by.
    """
    quantile = t_quantile(1 - SIGNIFICANCE / tests / 2, max(n - 1, 1))
    return (quantile + normal_quantile(POWER)) * standard_error
