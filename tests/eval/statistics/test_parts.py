"""A part of the rows is compared with the others of the same system, unit by unit."""

import numpy as np
import pytest

from pronominal.eval.statistics.parts import AGAINST_REST, against_rest, with_rest
from pronominal.eval.statistics.shares import share_scores


def test_units_are_compared_with_themselves() -> None:
    """Hard units are hard in both parts, so that the difference is known better than either."""
    hard = np.random.default_rng(1).integers(0, 8, 40)
    right, rows = np.stack([hard, hard + 2]).astype(float), np.full((2, 40), 9.0)
    one, other = against_rest(right, rows)
    assert one["difference"] == pytest.approx(-2 / 9)
    low, high = one["interval"]["difference"]
    assert low == pytest.approx(-2 / 9 - 0.05, abs=0.01)
    assert other["difference"] == -one["difference"]
    assert other["interval"]["difference"] == pytest.approx([-high, -low])
    assert one["p"] == other["p"] < 1e-6


def test_the_rest_may_have_more_rows_and_other_units() -> None:
    rows = np.array([[6.0] * 30, [6.0] * 30, [6.0] * 30])
    right = rows * [[0.5], [1.0], [1.0]]
    first = against_rest(right, rows)[0]
    assert first["difference"] == -0.5
    assert first["p"] < 0.001
    # each unit has rows of one part only: nothing is paired
    apart = rows * (np.arange(30) % 3 == np.arange(3)[:, None])
    found = against_rest(right * (apart > 0), apart)
    assert [one["n"] for one in found] == [10, 10, 10]
    low, high = found[0]["interval"]["difference"]
    assert -1 < low < -0.5 < high < 0
    assert found[1]["interval"]["difference"][1] > found[1]["difference"] == 0.25


def test_p_and_interval_agree() -> None:
    random = np.random.default_rng(2)
    for _ in range(200):
        rows = np.full((3, 12), 4.0)
        right = random.binomial(4, random.beta(4, 1, 12), (3, 12)).astype(float)
        for one in against_rest(right, rows):
            low, high = one["interval"]["difference"]
            assert (one["p"] < 0.05) == (not low <= 0 <= high)


def test_alike_parts_are_seldom_told_apart() -> None:
    random, found = np.random.default_rng(5), []
    for _ in range(300):
        hard = random.beta(3, 1, 30)
        right = random.binomial(6, hard, (4, 30)).astype(float)
        found += [one["p"] < 0.05 for one in against_rest(right, np.full((4, 30), 6.0))]
    assert 0.03 <= np.mean(found) <= 0.07


def test_nothing_is_compared_with_nothing() -> None:
    rows = np.array([[5.0] * 20, [0.0] * 20])
    for one in against_rest(rows, rows):
        assert (one["difference"], one["p"]) == (None, None)
        assert one["interval"]["difference"] is None
        assert one["interval_missing"] == {"difference": "there is nothing to divide by"}
    assert AGAINST_REST not in with_rest([{"n": 1}], rows[:1], rows[:1])[0]


def test_scores_of_ones_own_have_it() -> None:
    units = [str(row // 2) for row in range(80)]
    right = np.arange(80) % 2 == 0
    found = share_scores(right, units, {"length": ["short", "long"] * 40})
    assert found["by_length"]["short"][AGAINST_REST]["difference"] == 1
    assert found["by_length"]["long"][AGAINST_REST]["n"] == 40
