"""Tests every two of 40 systems by all measures of WinoPron: 780 pairs, five measures.

Ours is all that a comparison prints, `against`: differences with intervals, p-values (changes of
sign drawn once for all pairs, 99,999 of them; precision and F1 by their intervals) and Holm's
correction. Scipy's `permutation_test` makes p-values alone, pair by pair with 9,999 changes of
sign, as pronominal did before; it is timed on every 60th pair and multiplied. Both sides are given
the same units, 60 occupations of 24 rows. CPU time, the sides take turns, median of three. Prints
one JSON object.
"""

import itertools
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import permutation_test

from pronominal.eval.statistics.outcomes import FloatArray
from pronominal.eval.statistics.paired_differences import Systems
from pronominal.eval.statistics.paired_tests import against, differ
from pronominal.eval.statistics.sign_flips import RESAMPLES

SYSTEMS, UNITS, ROWS, ROUNDS, EVERY = 40, 60, 24, 3, 60
PAIRS = [*itertools.combinations(range(SYSTEMS), 2)]

Measured = dict[str, dict[str, FloatArray]]
"""Measure -> system -> part and whole of each unit, ``[units, 2]``."""


def measured(seed: int = 0) -> Measured:
    """Draw systems from 50 to 89 % whose units are easy or hard for all, and which may abstain."""
    generator = np.random.default_rng(seed)
    hardness = generator.normal(0, 1, UNITS)
    skill = np.linspace(0.0, 2.1, SYSTEMS)[:, None]
    chance = 1 / (1 + np.exp(hardness - skill))
    answered = np.where(np.arange(SYSTEMS) % 2, 0.8, 1.0)[:, None]
    chosen = generator.binomial(ROWS, np.broadcast_to(answered, chance.shape))
    right, rows = generator.binomial(chosen, chance), np.full(chance.shape, ROWS)
    groups = {
        name: (generator.binomial(number, chance**size), np.full(chance.shape, number))
        for name, number, size in (
            ("pronoun_consistency", 6, 4),
            ("disambiguation_consistency", 12, 2),
        )
    }
    parts = {
        "accuracy": (right, rows),
        "precision": (right, chosen),
        "f1": (2 * right, rows + chosen),
        **groups,
    }
    return {
        measure: {str(name): one for name, one in enumerate(np.stack(sums, axis=-1).astype(float))}
        for measure, sums in parts.items()
    }


def ours(units: Measured) -> dict[str, list[float]]:
    found = against(units)
    return {
        measure: [found[str(a)][measure][str(b)]["p"] for a, b in PAIRS[::EVERY]]
        for measure in units
    }


def with_scipy(units: Measured) -> dict[str, list[float]]:
    return {measure: _with_scipy([*systems.values()]) for measure, systems in units.items()}


def _with_scipy(units: list[FloatArray]) -> list[float]:
    systems = Systems.of(units)
    return [
        permutation_test(
            (_differences(systems, a, b),),
            np.sum,
            permutation_type="samples",
            vectorized=True,
            n_resamples=9999,
            batch=500,
            random_state=np.random.default_rng(0),
        ).pvalue
        for a, b in PAIRS[::EVERY]
    ]


def _differences(systems: Systems, a: int, b: int) -> FloatArray:
    """Return what each unit adds to the difference of two ratios, linearised."""
    common = (systems.ratios[a] + systems.ratios[b]) / 2
    off = (systems.parts - common * systems.wholes) / systems.size[:, None]
    return np.asarray(off[a] - off[b])


def significant(units: Measured) -> dict[str, int]:
    """Count the pairs that differ after Holm's correction."""
    found = against(units)
    return {
        measure: sum(differ(found[str(a)][measure][str(b)]) for a, b in PAIRS) for measure in units
    }


def main() -> None:
    units = measured()
    sides: dict[str, Callable[[Measured], Any]] = {"scipy": with_scipy, "pronominal": ours}
    expected, found = (side(units) for side in sides.values())
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.process_time()
            side(units)
            seconds[name].append(time.process_time() - started)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    medians["scipy"] *= len(PAIRS) / len(PAIRS[::EVERY])
    # a mid-p-value is smaller by half of what is as far from 0 as the observed difference
    apart = {
        measure: round(max(abs(a - b) for a, b in zip(expected[measure], of_it, strict=True)), 4)
        for measure, of_it in found.items()
    }
    report = {
        "benchmark": "paired_tests",
        "pairs": len(PAIRS),
        "measures": len(units),
        "resamples": {"scipy": 9999, "pronominal": RESAMPLES},
        "ratio": round(medians["scipy"] / medians["pronominal"], 1),
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "largest_difference_of_p": apart,
        "significant_after_holm": significant(units),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
