"""Tests every two of 40 systems by WinoPron's 180 template pairs: 780 paired permutation tests.

Ours, one set of 99,999 changes of sign for all pairs, against scipy's `permutation_test` pair by
pair with 9,999, as pronominal did before. Scipy's side is timed on every 20th pair and multiplied.
Both sides are given the same shares and are timed to the p-values. CPU time, the sides take turns,
median of three. Prints one JSON object.
"""

import itertools
import json
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import permutation_test

from pronominal.eval.statistics.hypothesis_tests import holm
from pronominal.eval.statistics.outcomes import FloatArray
from pronominal.eval.statistics.sign_flips import RESAMPLES, sign_flip_p_values

SYSTEMS, UNITS, ROWS, ROUNDS, EVERY = 40, 180, 8, 3, 20
PAIRS = [*itertools.combinations(range(SYSTEMS), 2)]


def shares(seed: int = 0) -> FloatArray:
    """Return systems from 50 to 89 % whose units are easy or hard for all, ``[systems, units]``."""
    generator = np.random.default_rng(seed)
    hardness = generator.normal(0, 1, UNITS)
    skill = np.linspace(0.0, 2.1, SYSTEMS)[:, None]
    return generator.binomial(ROWS, 1 / (1 + np.exp(hardness - skill))) / ROWS


def ours(systems: FloatArray) -> list[float]:
    return sign_flip_p_values(systems, PAIRS).tolist()


def with_scipy(systems: FloatArray) -> list[float]:
    return [
        permutation_test(
            (systems[a] - systems[b],),
            np.sum,
            permutation_type="samples",
            vectorized=True,
            n_resamples=9999,
            batch=500,
            random_state=np.random.default_rng(0),
        ).pvalue
        for a, b in PAIRS[::EVERY]
    ]


def main() -> None:
    systems = shares()
    sides: dict[str, Callable[[FloatArray], list[float]]] = {
        "scipy": with_scipy,
        "pronominal": ours,
    }
    expected, found = (side(systems) for side in sides.values())
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.process_time()
            side(systems)
            seconds[name].append(time.process_time() - started)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    medians["scipy"] *= len(PAIRS) / len(PAIRS[::EVERY])
    # a mid-p-value is smaller by half of what is as far from 0 as the observed difference
    apart = max(abs(a - b) for a, b in zip(expected, found[::EVERY], strict=True))
    report = {
        "benchmark": "paired_tests",
        "pairs": len(PAIRS),
        "resamples": {"scipy": 9999, "pronominal": RESAMPLES},
        "ratio": round(medians["scipy"] / medians["pronominal"], 1),
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "largest_difference_of_p": round(apart, 4),
        "significant_after_holm": sum(p < 0.05 for p in holm(found)),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
