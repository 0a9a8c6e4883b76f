"""Figures over two things that vary at once: units, and the prompts or seeds that all units had."""

from dataclasses import dataclass

import numpy as np

from pronominal.eval.statistics.intervals import (
    CONFIDENCE,
    Estimate,
    deviations,
    variance_over_units,
    wilson_interval,
)
from pronominal.eval.statistics.outcomes import FloatArray, ratio
from pronominal.eval.statistics.quantiles import t_quantiles
from pronominal.eval.statistics.scores import Block

LEAST = 5
"""Prompts below which a mean over them has no interval: too few to tell how far others lie."""


@dataclass(frozen=True, slots=True)
class Crossed:
    """Sums of rows by unit and by prompt, or seed: every unit was given every one of them.

    Attributes:
        part: right rows, shape ``[units, prompts]``.
        whole: rows, in the same shape.
    """

    part: FloatArray
    whole: FloatArray

    def interval(self) -> Estimate:
        """Return the share of all rows, with an interval for other units and other prompts.

        The variance is the two-way one, units' and prompts' less what both count (Cameron, Gelbach
        and Miller, 2011), and never less than either; the interval is that of `ratio_interval`, and
        units have the variance that they have there.
        Its degrees of freedom are those of units and of prompts, each for as much of the variance
        as it makes (Satterthwaite, 1946): where prompts hardly matter, that there are few of them
        takes nothing from what the units say.

        Returns:
            One place; NaN ends with fewer than `LEAST` prompts.
        """
        units, prompts = self.part.shape
        size = self.whole.sum()
        share = np.array([self.part.sum() / size])
        counted = np.array([units])
        if prompts < LEAST:
            return Estimate(share, np.full(1, np.nan), np.full(1, np.nan), counted)
        by_unit, base = variance_over_units(self.part.sum(axis=1), self.whole.sum(axis=1))
        moved = deviations(self.part.sum(axis=0), self.whole.sum(axis=0))
        by_prompt = prompts / (prompts - 1) * (moved**2).sum() / size**2
        both = (deviations(self.part.ravel(), self.whole.ravel()) ** 2).sum() / size**2
        variance = max(float(by_unit) + by_prompt - both, float(by_unit), by_prompt)
        rows, freedom = counted, np.array([0])
        if variance > 0:
            rows = ratio(base, np.array(variance)).reshape(1)
            freedom = np.array([_freedom(variance, (float(by_unit), units), (by_prompt, prompts))])
        quantile = t_quantiles((1 + CONFIDENCE) / 2, freedom)
        return Estimate(share, *wilson_interval(share, rows, quantile), counted)

    def components(self) -> Block:
        """Tell apart what the share varies with: standard deviations, in [0, 1].

        Returns:
            The square roots of `variances`, a negative one being 0; None with fewer than two units
            or prompts.
        """
        found = self.variances()
        if found is None:
            return dict.fromkeys(("units", "prompts", "rest"))
        return {name: float(np.sqrt(max(value, 0.0))) for name, value in found.items()}

    def variances(self) -> dict[str, float] | None:
        """Return the variances of an analysis of variance of the units' shares.

        It is one without replication. What is estimated as the difference of two variances may be
        negative.

        Returns:
            ``units`` and ``prompts``, and ``rest``: how a unit varies from prompt to prompt beside
            that. None with fewer than two of either.
        """
        there = self.whole.min(axis=1, initial=np.inf) > 0
        shares = ratio(self.part, self.whole)[there]
        units, prompts = shares.shape
        if units < 2 or prompts < 2:
            return None
        by_unit, by_prompt = shares.mean(axis=1), shares.mean(axis=0)
        left = shares - by_unit[:, None] - by_prompt + shares.mean()
        rest = float((left**2).sum() / ((units - 1) * (prompts - 1)))
        return {
            "units": float(by_unit.var(ddof=1)) - rest / prompts,
            "prompts": float(by_prompt.var(ddof=1)) - rest / units,
            "rest": rest,
        }


def _freedom(variance: float, *parts: tuple[float, int]) -> int:
    """Return the degrees of freedom of a variance of parts, each with its number of values."""
    degrees = [max(number - 1, 1) for _, number in parts]
    squares = sum(part**2 / df for (part, _), df in zip(parts, degrees, strict=True))
    return int(min(max(variance**2 / squares, min(degrees)), sum(degrees)))
