"""Whether units differ: found where they do, and by chance as often as the level says."""

from itertools import permutations, product

import numpy as np
import numpy.typing as npt
import pytest

from pronominal.eval.statistics import unit_differences
from pronominal.eval.statistics.unit_differences import DRAWS, LEAST_P, units_differ

UNITS, PARTS = np.repeat(np.arange(24), 3), 72
STRATA = np.tile(np.arange(3), 24)

FEW_UNITS = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
FEW_STRATA = np.array([0, 0, 0, 1, 0, 1, 1, 1, 1])
FEW_VALUES = np.array([5, 5, 1, 20, 6, 22, 22, 22, 20])


def test_units_that_differ_are_found_and_a_stratum_is_none() -> None:
    planted, of_strata = (UNITS < 6) * 4, STRATA * 4
    p = units_differ(np.stack([planted, of_strata], axis=1), UNITS, STRATA)
    assert p[0] == LEAST_P
    assert np.isnan(p[1])  # parts of a stratum are alike


@pytest.mark.parametrize("uneven", [False, True])
def test_units_that_do_not_differ_are_rarely_called_so(uneven: bool) -> None:
    values, strata = np.random.default_rng(3).binomial(8, 0.3, (PARTS, 600)), STRATA
    if uneven:  # six units have all parts of a stratum, which vary more
        strata = np.where(UNITS < 6, 0, 1 + STRATA % 2)
        values = np.where((strata == 0)[:, None], 10 * values, values + 40)
    p = units_differ(values, UNITS, strata)
    assert np.mean(p < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    assert np.mean(p < 0.3) > 0.15


def test_p_is_that_of_all_permutations_within_strata() -> None:
    def spread(values: npt.NDArray[np.float64]) -> float:
        return float((np.bincount(FEW_UNITS, values) ** 2).sum())

    centred = FEW_VALUES - np.array([FEW_VALUES[one == FEW_STRATA].mean() for one in FEW_STRATA])
    strata = [np.flatnonzero(one == FEW_STRATA) for one in (0, 1)]
    drawn = []
    for orders in product(*map(permutations, strata)):
        moved = centred.copy()
        for places, order in zip(strata, orders, strict=True):
            moved[places] = centred[[*order]]
        drawn.append(spread(moved) >= spread(centred) - 1e-9)
    exact = np.mean(drawn)
    error = np.sqrt(exact * (1 - exact) / DRAWS[1])
    assert units_differ(FEW_VALUES[:, None], FEW_UNITS, FEW_STRATA)[0] == pytest.approx(
        exact, abs=3 * error
    )


def test_blocks_of_permutations_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    of = FEW_VALUES[:, None], FEW_UNITS, FEW_STRATA
    whole = units_differ(*of)
    monkeypatch.setattr(unit_differences, "AT_ONCE", 700)
    assert units_differ(*of) == whole


def test_one_part_a_unit_says_nothing() -> None:
    values, strata = np.arange(24)[:, None], np.zeros(24, int)
    assert np.isnan(units_differ(values, np.arange(24), strata)[0])
    # as little as another one whose stratum's parts are alike
    twice = np.concatenate([values, np.ones_like(values)])
    units, strata = np.tile(np.arange(24), 2), np.repeat([0, 1], 24)
    assert np.isnan(units_differ(twice, units, strata)[0])
