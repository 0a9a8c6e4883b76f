"""Figures over units and prompts at once."""

import numpy as np
import pytest

from pronominal.eval.statistics.crossed import Crossed
from pronominal.eval.statistics.intervals import ratio_interval


def shares(units: int, prompts: int, of_prompts: float) -> Crossed:
    generator = np.random.default_rng(3)
    by_unit = generator.normal(0.6, 0.1, (units, 1))
    by_prompt = generator.normal(0, of_prompts, (1, prompts))
    right = np.clip(by_unit + by_prompt, 0, 1)
    return Crossed(8 * right, np.full((units, prompts), 8.0))


def test_other_prompts_widen_the_interval() -> None:
    widths = []
    for of_prompts in (0.0, 0.1):
        found = shares(60, 10, of_prompts).interval()
        widths.append(float(found.high[0] - found.low[0]))
        assert found.low[0] < found.estimate[0] < found.high[0]
    by_unit = shares(60, 10, 0.1)
    units_only = ratio_interval(by_unit.part.sum(axis=1), by_unit.whole.sum(axis=1))
    assert widths[1] > 2 * widths[0]
    assert widths[1] > 2 * float(units_only.high - units_only.low)


def test_few_prompts_that_are_alike_cost_nothing() -> None:
    few = shares(60, 5, 0.0)
    units_only = ratio_interval(few.part.sum(axis=1), few.whole.sum(axis=1))
    found = few.interval()
    width = float(found.high[0] - found.low[0])
    assert width < 1.1 * float(units_only.high - units_only.low)


def test_an_interval_over_prompts_and_units_is_no_narrower_than_over_units() -> None:
    right = np.full((10, 12), 30.0)
    right[0], right[1, 0] = 24.0, 29.0  # 97 % right: one hard unit, and prompts hardly matter
    found = Crossed(right, np.full((10, 12), 30.0)).interval()
    units_only = ratio_interval(right.sum(axis=1), np.full(10, 360.0))
    assert found.low[0] <= units_only.low + 1e-3
    assert found.high[0] >= units_only.high - 1e-3


def test_few_prompts_have_no_interval() -> None:
    found = shares(60, 4, 0.1).interval()
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert found.estimate[0] > 0


@pytest.mark.parametrize("right", [0.0, 0.1, 1 / 3, 0.7, 1.0])
def test_an_interval_has_a_width_where_nothing_varies(right: float) -> None:
    whole = np.full((30, 10), 4.0)
    found = Crossed(right * whole, whole).interval()
    assert found.high[0] - found.low[0] > 0.1


def test_an_interval_has_a_width_where_only_single_cells_differ() -> None:
    square = (np.add.outer(np.arange(9), np.arange(9)) % 9 < 3).astype(float)
    found = Crossed(square, np.ones_like(square)).interval()
    assert found.high[0] - found.low[0] > 0.1


def test_components_tell_units_from_prompts() -> None:
    found = shares(200, 200, 0.05).components()
    assert found["units"] == pytest.approx(0.1, rel=0.2)
    assert found["prompts"] == pytest.approx(0.05, rel=0.2)
    assert found["rest"] < 0.02
    assert Crossed(np.ones((3, 1)), np.ones((3, 1))).components()["prompts"] is None
