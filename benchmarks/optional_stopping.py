"""How often intervals miss when one stops as soon as they are narrow, and how many rows it takes.

Populations are drawn of 21,600 draws of four rows, one of each pronoun set, as RUFF with one
distractor; systems are right equally often with every set, or seldom with one. After each look of
`run --until` ours, `mean_sequence`, and the usual interval (normal, with the correction for finite
populations) are made. ``at_stop``: the share of populations whose mean the interval misses where it
is first narrow enough, nominally 0.05; ``ever``: at that look or one before. ``rows``: what ours
asks of RUFF's six settings for half a point. Prints one JSON object; CPU time, one thread.
"""

import json
import time
from collections.abc import Iterator

import numpy as np

from pronominal.eval.runs.until import FIRST_LOOK, NEXT_LOOK
from pronominal.eval.statistics.confidence_sequences import mean_sequence
from pronominal.eval.statistics.outcomes import FloatArray

POPULATIONS, DRAWS, HALF_WIDTH = 200, 21_600, 0.02
SYSTEMS = {
    "half": (0.5, 0.5, 0.5, 0.5),
    "seldom with one set": (0.95, 0.95, 0.9, 0.2),
    "nearly always": (0.98, 0.98, 0.98, 0.98),
}
RUFF = (7_200, 86_400, 345_600, 1_036_800, 2_073_600, 2_073_600)
"""Rows with no distractor to five."""


def population(draws: int, right: tuple[float, ...], generator: np.random.Generator) -> FloatArray:
    """Return the share of right rows of each draw."""
    return np.asarray((generator.random((draws, len(right))) < right).mean(axis=1))


def looks(draws: int) -> Iterator[int]:
    """Yield after how many draws `run --until` looks."""
    drawn = FIRST_LOOK
    while drawn < draws:
        yield drawn
        drawn = round(drawn * NEXT_LOOK)
    yield draws


def usual(drawn: FloatArray, population: int) -> tuple[float, float]:
    """Return the interval for a number of draws that was fixed before."""
    left = 1 - len(drawn) / population
    error = 1.96 * float(np.sqrt(drawn.var(ddof=1) / len(drawn) * left))
    return float(drawn.mean()) - error, float(drawn.mean()) + error


def missed(draws: FloatArray, ours: bool) -> tuple[bool, bool]:
    """Return whether the interval misses the mean when it is narrow, and at that look or before."""
    truth, ever = draws.mean(), False
    for drawn in looks(len(draws)):
        interval = mean_sequence if ours else usual
        low, high = interval(draws[:drawn], len(draws))
        misses = not low - 1e-9 <= truth <= high + 1e-9
        ever = ever or misses
        if high - low <= 2 * HALF_WIDTH:
            break
    return misses, ever


def rows_until(right: tuple[float, ...], rows: int, generator: np.random.Generator) -> int:
    """Return how many of a setting's rows ours asks until half a point."""
    draws = population(rows // len(right), right, generator)
    for drawn in looks(len(draws)):
        low, high = mean_sequence(draws[:drawn], len(draws))
        if high - low <= 0.01:
            break
    return drawn * len(right)


def main() -> None:
    started, generator = time.process_time(), np.random.default_rng(0)
    errors, rows = {}, {}
    for name, right in SYSTEMS.items():
        drawn = [population(DRAWS, right, generator) for _ in range(POPULATIONS)]
        found = {
            side: np.mean([missed(one, side == "ours") for one in drawn], axis=0)
            for side in ("ours", "usual")
        }
        errors[name] = {
            side: dict(zip(("at_stop", "ever"), shares.tolist(), strict=True))
            for side, shares in found.items()
        }
        asked = [rows_until(right, size, generator) for size in RUFF]
        rows[name] = {"of_each_setting": asked, "share": round(sum(asked) / sum(RUFF), 4)}
    report = {
        "benchmark": "optional_stopping",
        "populations": POPULATIONS,
        "errors": errors,
        "rows": rows,
        "cpu_seconds": round(time.process_time() - started, 1),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
