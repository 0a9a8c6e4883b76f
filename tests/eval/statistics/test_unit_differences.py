"""Whether units differ: found where they do, and by chance as often as the level says."""

import numpy as np

from pronominal.eval.statistics.unit_differences import DRAWS, units_differ

UNITS, PARTS = np.repeat(np.arange(24), 3), 72
STRATA = np.tile(np.arange(3), 24)


def test_units_that_differ_are_found_and_a_stratum_is_none() -> None:
    planted, of_strata = (UNITS < 6) * 4, STRATA * 4
    p = units_differ(np.stack([planted, of_strata], axis=1), UNITS, STRATA)
    assert p[0] == 1 / (1 + DRAWS[-1])
    assert np.isnan(p[1])  # parts of a stratum are alike


def test_units_that_do_not_differ_are_rarely_called_so() -> None:
    values = np.random.default_rng(3).binomial(8, 0.3, (PARTS, 600))
    p = units_differ(values, UNITS, STRATA)
    assert np.mean(p < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)
    assert np.mean(p < 0.3) > 0.15


def test_one_part_a_unit_says_nothing() -> None:
    values = np.arange(24)[:, None]
    assert units_differ(values, np.arange(24), np.zeros(24, int))[0] == 1
