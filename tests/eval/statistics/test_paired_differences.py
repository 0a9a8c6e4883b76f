"""Differences of two systems on the same units: intervals that are never empty, and ratios."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pronominal.eval.statistics.intervals import ratio_interval
from pronominal.eval.statistics.paired_differences import (
    PairedDifferences,
    Systems,
    minimum_detectable_effect,
)
from pronominal.eval.statistics.paired_tests import against
from pronominal.eval.statistics.quantiles import t_quantile
from pronominal.eval.statistics.ranks import rank, ranks, ranks_by_t
from pronominal.eval.tables.paired_tests import rank_tables

SHARES = st.lists(st.sampled_from((0.0, 0.25, 0.5, 1.0)), min_size=2, max_size=30)


def compared(*systems: np.ndarray) -> PairedDifferences:
    return PairedDifferences.of(Systems.of(systems), [(0, 1)])


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 9, (2, 60)) / 8
    found = compared(a, b)
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert found.intervals()[0] == pytest.approx([*expected], rel=1e-4)
    assert found.estimate[0] == pytest.approx(a.mean() - b.mean())


@given(SHARES, st.data())
def test_an_interval_has_a_width_and_holds_the_difference(first: list[float], data: st.DataObject):
    sizes = {"min_size": len(first), "max_size": len(first)}
    second = data.draw(st.lists(st.sampled_from((0.0, 0.5, 1.0)), **sizes))
    found = compared(np.array(first), np.array(second))
    low, high = found.intervals()[0]
    assert -1 <= low <= found.estimate[0] <= high <= 1
    assert low < high
    back = compared(np.array(second), np.array(first)).intervals()[0]
    assert [-high, -low] == pytest.approx(back.tolist())


def test_systems_as_far_apart_as_the_margin_are_seldom_called_equivalent() -> None:
    """At 97 and 87 %, thirty units of 24 rows: the better one varies less where it did well."""
    random, samples = np.random.default_rng(4), 600
    parts = [
        random.binomial(24, random.beta(2 * p, 2 * (1 - p), (samples, 30))) for p in (0.97, 0.87)
    ]
    systems = Systems(np.concatenate(parts).astype(float), np.full((2 * samples, 30), 24.0))
    found = PairedDifferences.of(systems, [(i, i + samples) for i in range(samples)])
    inside = (np.abs(found.outer_intervals(0.9)) < 0.1).all(axis=1)
    assert inside.mean() <= 0.065
    assert (np.abs(found.intervals(0.9)) < 0.1).all(axis=1).mean() > inside.mean()


@pytest.mark.parametrize(("units", "width"), [(4, 0.79561), (60, 0.03335), (180, 0.01096)])
def test_equal_systems_may_still_differ_a_little(units: int, width: float) -> None:
    alike = np.ones(units)
    assert compared(alike, alike).intervals()[0] == pytest.approx([-width, width], rel=1e-3)


def test_one_unit_tells_no_interval() -> None:
    assert np.isnan(compared(np.array([1.0]), np.array([0.5])).intervals()).all()


def test_parts_and_wholes_of_one_size_are_shares() -> None:
    right = np.random.default_rng(1).integers(0, 9, (2, 40))
    of_eight = [np.stack([one, np.full(40, 8)], axis=-1) for one in right]
    shares, ratios = compared(*(right / 8)), compared(*of_eight)
    assert ratios.intervals()[0] == pytest.approx(shares.intervals()[0])
    assert (ratios.more, ratios.fewer) == (shares.more, shares.fewer)


def test_a_difference_of_ratios_is_that_of_the_sums() -> None:
    a, b = np.array([[1, 1], [1, 4], [2, 2]]), np.array([[0, 1], [2, 2], [0, 0]])
    found = compared(a, b)
    assert found.estimate[0] == pytest.approx(4 / 7 - 2 / 3)
    # the units in which the shares differ; a unit without a whole has none
    assert (found.more.tolist(), found.fewer.tolist()) == ([1], [1])
    nothing = np.array([[0, 0], [0, 0], [0, 0]])
    assert np.isnan(compared(a, nothing).intervals()).all()


def test_the_minimum_detectable_effect_is_found_in_four_of_five_comparisons() -> None:
    n, deviation = 180, 0.25
    effect = minimum_detectable_effect(deviation / np.sqrt(n), n)
    assert effect == pytest.approx(0.0525, abs=0.0005)
    noncentral = effect / (deviation / np.sqrt(n))
    critical = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(critical, n - 1, noncentral)
    assert power == pytest.approx(0.8, abs=0.005)
    assert minimum_detectable_effect(deviation / np.sqrt(n), n, tests=780) > 1.5 * effect


def test_a_rank_is_between_those_that_are_better_and_worse_beyond_doubt() -> None:
    def test(difference: float | None, p: float | None, n: int = 60) -> dict[str, Any]:
        near = None if difference is None else [difference - 0.05, difference + 0.05]
        return {"n": n, "difference": difference, "p_holm": p, "interval": {"difference": near}}

    found = rank([test(-0.2, 0.001), test(-0.1, 0.3), test(0.0, 1.0), test(0.3, 0.01)])
    assert found == {"n": 60, "systems": 5, "rank": 3, "interval": {"rank": [2, 4]}}

    def places(*tests: dict[str, Any]) -> list[int] | None:
        place = rank(tests)
        return place and place["interval"]["rank"]

    # the interval holds 0, and the test says otherwise
    assert places(test(0.01, 0.001), test(0.3, 0.01)) == [1, 2]
    # too few units for a verdict
    assert places(test(0.9, 0.001, n=9), test(0.9, 0.001, n=9)) == [1, 3]
    # one that has no score takes no place
    assert places(test(None, None), test(0.3, 0.01)) == [1, 1]
    assert places(test(None, None), test(None, None)) is None


def test_a_system_that_chose_nothing_has_no_place_by_precision() -> None:
    right = {"many": [9, 9, 8] * 20, "some": [5, 6, 4] * 20, "none": [0] * 60}
    chosen = {"many": [10] * 60, "some": [10] * 60, "none": [0] * 60}
    units = {name: np.stack([right[name], chosen[name]], axis=1) for name in right}
    found = ranks(against({"precision": units}))
    by_t = ranks_by_t(units)
    assert by_t.keys() == {"many", "some"}
    for name, place in (("many", 1), ("some", 2)):
        assert found[name]["precision"] == by_t[name]
        assert by_t[name]["interval"] == {"rank": [place, place]}
    assert found["none"] == {}
    scores = {name: {"ranks": places} for name, places in found.items()}
    (made,) = rank_tables(scores)
    assert made.rows[2] == ("none", "–")
    assert made.notes[-1].startswith("–: ")
    assert ranks_by_t(dict.fromkeys("abc", units["none"])) == {}


def test_ranks_need_every_two_of_three_systems() -> None:
    one = {"n": 60, "difference": 0.1, "p_holm": 0.001, "interval": {"difference": [0.05, 0.15]}}
    other = one | {"difference": -0.1, "interval": {"difference": [-0.15, -0.05]}}
    full = {"a": {"b": one, "c": one}, "b": {"a": other, "c": one}, "c": {"a": other, "b": other}}
    tests = {system: {"accuracy": others} for system, others in full.items()}
    places = ranks(tests)
    assert [places[system]["accuracy"]["rank"] for system in "abc"] == [1, 2, 3]
    del tests["b"]["accuracy"]["c"]
    assert ranks(tests) == {"a": {}, "b": {}, "c": {}}
    assert ranks({"a": {"accuracy": {"b": one}}, "b": {"accuracy": {"a": other}}}) == {
        **{"a": {}, "b": {}}
    }


@pytest.mark.parametrize("units", [2, 9, 10, 24, 60])
@pytest.mark.parametrize("other", [0.0, 0.5])
def test_units_that_all_differ_by_the_same_say_no_more_than_their_number(
    units: int, other: float
) -> None:
    """As many units that are all right are no surer a share than the difference is."""
    found = compared(np.ones(units), np.full(units, other))
    (low, high), (visible,) = found.intervals()[0], found.minimum_detectable_effects()
    share = ratio_interval(np.ones(units), np.ones(units))
    assert low < 1 - other <= high
    assert high - low >= share.high - share.low
    assert visible > (share.high - share.low) / 2


def test_a_constant_baseline_leaves_the_interval_of_the_other_system() -> None:
    right = np.array([24] * 20 + [23, 20, 12, 0])
    of_24 = np.full(24, 24)
    share = ratio_interval(right, of_24)
    for constant in (0, 12):
        parts = [np.stack([one, of_24], axis=-1) for one in (right, np.full(24, constant))]
        found = compared(*parts)
        expected = [float(end) - constant / 24 for end in (share.low, share.high)]
        assert found.intervals()[0] == pytest.approx(expected)


@pytest.mark.parametrize("moved", [1, 7])
def test_few_units_that_depart_from_the_others_are_too_few_for_their_variance(moved: int) -> None:
    """Two systems half apart in nearly every unit, as certain as two alike in nearly every unit."""
    first, second = np.full(60, 0.75), np.full(60, 0.25)
    first[:moved], second[-2:] = 1.0, 0.0
    (low, high), half = compared(first, second).intervals()[0], t_quantile(0.975, 59) / 60
    assert high - low >= 2 * half


@pytest.mark.parametrize("constant", [0.0, 0.5])
@pytest.mark.parametrize("units", [10, 30])
def test_a_difference_from_a_constant_is_held_as_often_as_a_share(
    constant: float, units: int
) -> None:
    generator, samples = np.random.default_rng(8), 600
    chance = generator.beta(0.97 * 2 / 3, 0.03 * 2 / 3, (samples, units))
    shares = generator.binomial(24, chance) / 24
    systems = Systems.of([*shares, np.full(units, constant)])
    low, high = (
        PairedDifferences.of(systems, [(at, samples) for at in range(samples)]).intervals().T
    )
    holds = (low <= 0.97 - constant) & (0.97 - constant <= high)
    # four standard errors below 95 %
    assert holds.mean() > 0.91


def test_a_system_that_rarely_chose_is_not_certain() -> None:
    """Ten right choices do not show that a precision of 90 % is another one."""
    generator = np.random.default_rng(4)
    often = np.stack([generator.binomial(8, 0.9, 60), np.full(60, 8)], axis=-1)
    rarely = np.zeros((60, 2))
    rarely[:10] = 1
    found = compared(often, rarely)
    low, high = found.intervals()[0]
    assert low < found.estimate[0] < 0 < high
    assert found.of_others.p_values()[0] > 0.2


@given(st.integers(0, 10_000))
def test_where_wholes_differ_the_p_value_and_the_interval_agree(seed: int) -> None:
    generator = np.random.default_rng(seed)
    wholes = generator.integers(0, 9, (2, 30))
    parts = generator.binomial(wholes, [[0.8], [0.6]])
    found = compared(*np.stack([parts, wholes], axis=-1))
    p = found.of_others.p_values()[0]
    for level in (0.5, 0.9, 0.95, 0.99):
        low, high = found.intervals(level)[0]
        assert (p < 1 - level) == (not low <= 0 <= high)


def test_many_rows_have_the_interval_of_two_shares() -> None:
    generator = np.random.default_rng(6)
    wholes = generator.random((2, 4000)) < [[0.9], [0.4]]
    parts = wholes & (generator.random((2, 4000)) < [[0.8], [0.7]])
    found = compared(*np.stack([parts, wholes], axis=-1))
    shares, sizes = parts.sum(axis=1) / wholes.sum(axis=1), wholes.sum(axis=1)
    error = np.sqrt((shares * (1 - shares) / sizes).sum())
    expected = shares[0] - shares[1] + np.array([-1.96, 1.96]) * error
    # the two are drawn apart: what they have in common by chance is of the order of 1 / sqrt(n)
    assert found.intervals()[0] == pytest.approx(expected.tolist(), abs=4e-3)
    z = abs(shares[0] - shares[1]) / error
    assert found.of_others.p_values()[0] == pytest.approx(2 * stats.norm.sf(z), rel=0.5)
