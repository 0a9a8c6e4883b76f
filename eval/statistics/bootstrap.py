"""Bootstrap intervals that resample whole template pairs, since their rows stand or fall together.

The 1,440 rows of WinoPron are 180 pairs of templates, each filled with four pronoun sets;
resampling rows would take them for independent and make the intervals too narrow.
"""

from dataclasses import dataclass

import numpy as np

from pronominal.eval.statistics.outcomes import FloatArray, IntArray, Outcomes

Interval = list[float]
"""Lower and upper end."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A fixed set of resamples, so that every interval of a report rests on the same draws.

    Attributes:
        draws: how often each unit is drawn, shape ``[resamples, units]``.
        level: share of the resamples inside an interval, in (0, 1).
    """

    draws: FloatArray
    level: float

    @classmethod
    def of(
        cls, units: int, resamples: int = 1000, seed: int = 0, level: float = 0.95
    ) -> "Bootstrap":
        """Draw as many units as there are, with replacement, `resamples` times."""
        generator = np.random.default_rng(seed)
        # numpy refuses to draw from no units, of which there is one resample: none
        shares = np.full(units, 1 / units) if units else np.ones(1)
        draws = generator.multinomial(units, shares, size=resamples)[:, :units]
        return cls(draws.astype(np.float64), level)

    def resample(self, counts: IntArray) -> Outcomes:
        """Return the outcomes of every resample.

        Args:
            counts: outcomes by unit and stratum, shape ``[units, strata, 4]``.

        Returns:
            Outcomes of shape ``[resamples, strata]``.
        """
        units, strata, outcomes = counts.shape
        totals = self.draws @ counts.reshape(units, strata * outcomes)
        return Outcomes(totals.reshape(-1, strata, outcomes))

    def intervals(self, values: FloatArray) -> list[Interval | None]:
        """Return the percentile interval of each column of ``[resamples, strata]`` values.

        Resamples in which a value is undefined (NaN) do not count; None where it always is.
        """
        return [self._interval(column[~np.isnan(column)]) for column in values.T]

    def _interval(self, values: FloatArray) -> Interval | None:
        if not len(values):
            return None
        low, high = np.quantile(values, [(1 - self.level) / 2, (1 + self.level) / 2])
        return [float(low), float(high)]
