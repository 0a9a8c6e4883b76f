"""How far apart two ratios are that divide by different things, such as precisions.

One of two systems may have chosen rarely. If all that it chose is right, its own rows show no
variance, and neither a paired t-test nor changes of sign see how little it is known by: at 97 %,
they find a difference between systems that are alike in up to 48 % of comparisons. Here each
ratio has its own interval, which knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pronominal.eval.statistics.intervals import (
    CONFIDENCE,
    EffectiveRows,
    correlation,
    deviations,
    effective_rows,
)
from pronominal.eval.statistics.outcomes import BoolArray, FloatArray, IntArray, ratio
from pronominal.eval.statistics.quantiles import normal_quantile, t_quantiles, t_tails

FARTHEST, HALVINGS = 1000.0, 60
"""Of the search for the quantile at which an interval ends at 0."""


@dataclass(frozen=True, slots=True)
class RatioDifferences:
    """Differences of pairs of ratios over the same units; arrays have the shape ``[pairs]``.

    Attributes:
        one: each pair's first ratio.
        other: its second ratio.
        together: how much the two vary together over units, in [-1, 1].
    """

    one: EffectiveRows
    other: EffectiveRows
    together: FloatArray

    @classmethod
    def of(
        cls, parts: FloatArray, wholes: FloatArray, pairs: Sequence[tuple[int, int]]
    ) -> "RatioDifferences":
        """Compare pairs of systems, whose `parts` and `wholes` are ``[systems, units]``."""
        a, b = np.array(pairs, np.int64).reshape(-1, 2).T
        systems, off = effective_rows(parts, wholes), deviations(parts, wholes)
        return cls(systems.at(a), systems.at(b), correlation(off[a], off[b]))

    def from_constants(self, where: BoolArray) -> tuple["RatioDifferences", BoolArray]:
        """Take a ratio that is the same in every unit for known: the other's interval is left.

        The first mention is right in half of each template pair, whatever the pairs are. Where both
        are the same in every unit, one at 0 or 100 % is not known: other units might differ.

        Args:
            where: the pairs of which it may be taken so.

        Returns:
            The differences, and of which pairs that leaves an interval: one ratio is the same in
            every unit, and not both are known.
        """
        sides = self.one, self.other
        constant = np.stack([side.freedom == 0 for side in sides])
        inside = np.stack([(side.share > 0) & (side.share < 1) for side in sides])
        known = where & constant & (inside | ~constant[::-1])
        steady = where & constant.any(axis=0) & ~known.all(axis=0)
        one, other = (side.known(at & steady) for side, at in zip(sides, known, strict=True))
        return replace(self, one=one, other=other), steady

    @property
    def estimate(self) -> FloatArray:
        """The first ratio minus the second one."""
        return np.asarray(self.one.share - self.other.share)

    @property
    def both_vary(self) -> BoolArray:
        """Whether both ratios differ from unit to unit."""
        return (self.one.freedom > 0) & (self.other.freedom > 0)

    @property
    def freedom(self) -> IntArray:
        """Degrees of freedom, of both ratios together (Satterthwaite, 1946); at least 1.

        At most those of the ratio with more units, for they are the same ones.
        """
        normal = np.full(self.together.shape, normal_quantile((1 + CONFIDENCE) / 2))
        (low, high), (other_low, other_high) = self.one.ends(normal), self.other.ends(normal)
        one, other = (high - low) ** 2, (other_high - other_low) ** 2
        degrees = [np.maximum(side.units - 1, 1) for side in (self.one, self.other)]
        of_one, of_other = (part**2 / df for part, df in zip((one, other), degrees, strict=True))
        found = np.nan_to_num(ratio((one + other) ** 2, of_one + of_other), nan=1.0)
        return np.clip(found.astype(np.int64), 1, np.maximum(*degrees))

    def intervals(self, level: float) -> FloatArray:
        """Return both ends of the differences' intervals, shape ``[pairs, 2]``, in [-1, 1].

        They are Newcombe's (1998, method 10), square and add, of the ratios' own intervals.
        """
        quantiles = t_quantiles((1 + level) / 2, self.freedom)
        below, above = self._reaches(self.one.beside(self.other), quantiles)
        ends = np.stack([self.estimate - below, self.estimate + above], axis=-1)
        return np.asarray(np.clip(ends, -1, 1))

    def p_values(self) -> FloatArray:
        """Return two-sided p-values, in (0, 1]: the least level at which an interval leaves 0 out.

        So intervals and p-values never disagree.
        """
        sides, estimate = self.one.beside(self.other), self.estimate
        distance, positive = np.abs(estimate), estimate > 0
        low, high = np.zeros_like(distance), np.full_like(distance, FARTHEST)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below, above = self._reaches(sides, middle)
            inside = np.where(positive, below, above) < distance
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return t_tails(low, self.freedom)

    def _reaches(self, sides: EffectiveRows, quantile: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far intervals reach below and above the differences of both `sides`."""
        low, high = sides.ends(quantile)
        (down, other_down), (up, other_up) = sides.share - low, high - sides.share
        return self._added(down, other_up), self._added(up, other_down)

    def _added(self, one: FloatArray, other: FloatArray) -> FloatArray:
        squares = one**2 - 2 * self.together * one * other + other**2
        return np.asarray(np.sqrt(np.maximum(squares, 0)))
