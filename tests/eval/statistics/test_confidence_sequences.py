"""Intervals that hold whenever one stops: exact at the ends, and narrower the more is drawn."""

import numpy as np
import pytest

from pronominal.eval.statistics.confidence_sequences import mean_sequence


def test_all_draws_leave_no_doubt() -> None:
    assert mean_sequence(np.array([1, 0, 0.5, 0.5]), 4) == (0.5, 0.5)


def test_what_is_left_bounds_the_mean() -> None:
    low, high = mean_sequence(np.array([1.0] * 9 + [0.0]), 12)
    assert 9 / 12 <= low < high <= 11 / 12


def test_draws_that_are_all_right_and_all_wrong_mirror_each_other() -> None:
    low, high = mean_sequence(np.ones(200), 100_000)
    assert high == 1
    # a bettor who stakes all wins log(1 / mean) a draw, with a sixth of the capital
    assert low == pytest.approx(240 ** (-1 / 200), abs=2e-3)
    assert mean_sequence(np.zeros(200), 100_000) == pytest.approx((0, 1 - low), abs=2e-6)


def test_the_interval_holds_for_who_stops_when_it_suits_him() -> None:
    """Stopping as soon as the truth is outside happens in at most one of twenty populations."""
    generator, missed, often = np.random.default_rng(0), 0, 0
    for _ in range(200):
        population = (generator.random(1000) < 0.6).astype(float)
        truth = population.mean()
        looks = [*range(25, 500, 25)]
        ends = [mean_sequence(population[:n], 1000) for n in looks]
        missed += any(not low <= truth <= high for low, high in ends)
        errors = [1.96 * population[:n].std() * (n * 1000 / (1000 - n)) ** -0.5 for n in looks]
        often += any(
            abs(population[:n].mean() - truth) > e for n, e in zip(looks, errors, strict=True)
        )
    assert missed <= 200 / 20
    assert often > 3 * 200 / 20  # what the usual interval does
