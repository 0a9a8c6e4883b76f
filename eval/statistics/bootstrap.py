"""Bootstrap intervals that resample whole units, since the rows of a unit are not independent.

The 1,440 rows of WinoPron are 180 pairs of templates, each filled with four pronoun sets;
resampling rows would take them for independent and make the intervals too narrow.
"""

from dataclasses import dataclass

import numpy as np

from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import Counts, FloatArray, IntArray, sum_by
from pronominal.eval.statistics.scores import Block, blocks

Interval = list[float]
"""Lower and upper end."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A fixed set of resamples, so that every interval of a report rests on the same draws.

    Attributes:
        draws: how often each unit is drawn, shape ``[resamples, units]``.
        seed: of the draws.
        level: share of the resamples inside an interval, in (0, 1).
    """

    draws: FloatArray
    seed: int = 0
    level: float = 0.95

    @classmethod
    def of(
        cls, units: int, resamples: int = 1000, seed: int = 0, level: float = 0.95
    ) -> "Bootstrap":
        """Draw as many units as there are, with replacement, `resamples` times."""
        generator = np.random.default_rng(seed)
        # numpy refuses to draw from no units, of which there is one resample: none
        shares = np.full(units, 1 / units) if units else np.ones(1)
        draws = generator.multinomial(units, shares, size=resamples)[:, :units]
        return cls(draws.astype(np.float64), seed, level)

    def tally(self, counts: IntArray, units: IntArray, strata: Strata) -> tuple[Counts, Counts]:
        """Add up rows by stratum: those there are, and those of every resample.

        Args:
            counts: shape ``[rows, ...]``.
            units: each row's unit, shape ``[rows]``.
            strata: a division of the rows.

        Returns:
            Shapes ``[strata, ...]`` and ``[resamples, strata, ...]``.
        """
        size, shape, number = len(strata.names), counts.shape[1:], self.draws.shape[1]
        flat = counts.reshape(len(counts), int(np.prod(shape)))
        tally = sum_by(units * size + strata.codes, number * size, flat)
        tally = tally.reshape(number, size * flat.shape[1])
        drawn = (self.draws @ tally).reshape(-1, size, *shape)
        return tally.sum(axis=0).reshape(size, *shape), drawn

    def interval_blocks(self, **values: FloatArray) -> list[Block]:
        """Return a block of intervals for each column of ``[resamples, strata]`` values."""
        return blocks(**{name: self.intervals(value) for name, value in values.items()})

    def intervals(self, values: FloatArray) -> list[Interval | None]:
        """Return the percentile interval of each column of ``[resamples, strata]`` values.

        Resamples in which a value is undefined (NaN) do not count; None where it always is.
        """
        return [self._interval(column[~np.isnan(column)]) for column in values.T]

    def block(self, unit: str) -> Block:
        """Say how the intervals were made; `unit` is the column by which rows belong together."""
        resamples, units = self.draws.shape
        facts = {"units": units, "resamples": resamples, "seed": self.seed, "level": self.level}
        return {"unit": unit, **facts}

    def _interval(self, values: FloatArray) -> Interval | None:
        if not len(values):
            return None
        low, high = np.quantile(values, [(1 - self.level) / 2, (1 + self.level) / 2])
        return [float(low), float(high)]
