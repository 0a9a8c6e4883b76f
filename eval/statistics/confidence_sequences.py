"""What is known of a mean while its population is being asked: valid whenever one stops.

The usual interval is right for a number of draws that was fixed before; who looks after every draw
and stops once it is narrow is wrong more often than it says.
"""

from math import log

import numpy as np

from pronominal.eval.statistics.outcomes import FloatArray

LEVEL = 0.95
"""Of all intervals of a population together."""

STAKES = 0.5 ** np.arange(6)
"""Parts of its capital that a bettor stakes, each with a sixth of it; in (0, 1].

The best stake is the interval's half width over the variance of a draw: all of it for a system that
is nearly always right, a thirtieth for one that is right in half of the rows.
"""


def mean_sequence(draws: FloatArray, population: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of a population's mean after some draws without replacement.

    Somebody who believes that the mean is lower bets on every next draw being higher than the mean
    of those that would be left, and another bettor the reverse. A mean is within the interval
    until it would have made one of them rich: its capital, a martingale for the true mean,
    grows to 2 / (1 - level) only with a probability of (1 - level) / 2, however often one looks
    (Waudby-Smith and Ramdas, 2024, sections 4 and 5, with fixed stakes in the place of learned).

    Args:
        draws: what was drawn, in order, in [0, 1], shape ``[draws]``.
        population: how many could be drawn; the interval of all of them is their mean.
        level: of the intervals after all numbers of draws together.
    """
    total, left = float(draws.sum()), population - len(draws)
    least, most = total / population, (total + left) / population
    if not left:
        return least, most
    high = 1 - _lowest(1 - draws, population, (1 - most, 1 - least), level)
    return _lowest(draws, population, (least, most), level), high


def _lowest(draws: FloatArray, population: int, within: tuple[float, float], level: float) -> float:
    """Return the lowest mean that makes nobody rich who bets on higher draws; to 6 digits."""
    drawn = np.concatenate(([0.0], np.cumsum(draws)[:-1]))
    left = population - np.arange(len(draws))
    (low, high), enough = within, log(2 / (1 - level))
    while high - low > 1e-6:
        middle = (low + high) / 2
        gains = draws - (population * middle - drawn) / left
        with np.errstate(divide="ignore"):  # who stakes all may lose it
            capitals = np.log1p(np.maximum(np.outer(STAKES, gains), -1)).sum(axis=1)
        rich = np.logaddexp.reduce(capitals) - log(len(STAKES)) >= enough
        low, high = (middle, high) if rich else (low, middle)
    return low
