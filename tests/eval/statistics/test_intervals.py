"""Intervals of shares of rows that stand or fall together in units."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, t

from pronominal.decisions import NONE, Decision
from pronominal.eval.scores import task_of
from pronominal.eval.scores.winopron.score import score
from pronominal.eval.statistics.intervals import (
    correlation,
    deviations,
    effective_rows,
    jackknife_interval,
    quotient_interval,
    ratio_interval,
    ratio_intervals,
    share_interval,
)
from pronominal.eval.statistics.quantiles import t_quantile
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.comparison import measure_table


def test_t_quantiles_are_those_of_tables() -> None:
    found = [t_quantile(0.975, df) for df in (1, 2, 4, 9, 59)]
    assert found == pytest.approx([12.7062, 4.3027, 2.7764, 2.2622, 2.0010], rel=5e-4)
    assert t_quantile(0.025, 7) == pytest.approx(-t_quantile(0.975, 7))


@pytest.mark.parametrize("df", [1, 2, 3, 4, 9, 59, 200, 201, 1000])
@pytest.mark.parametrize("probability", [0.1, 0.9, 0.975, 1 - 0.05 / 780 / 2])
def test_t_quantiles_are_scipys_also_far_out(probability: float, df: int) -> None:
    # the hundred millionth part: scipy's own are no better for three degrees of freedom
    assert t_quantile(probability, df) == pytest.approx(t.ppf(probability, df), rel=1e-7)


@pytest.mark.parametrize(
    ("units", "low"),
    [(1, 0.207), (2, 0.342), (4, 0.510), (8, 0.676), (30, 0.886), (60, 0.940), (180, 0.979)],
)
def test_all_right_is_as_certain_as_there_are_units(units: int, low: float) -> None:
    rows = np.full(units, 8)
    right, wrong = ratio_interval(rows, rows), ratio_interval(0 * rows, rows)
    assert (right.estimate, right.high, right.units) == (1, 1, units)
    assert right.low == pytest.approx(low, abs=5e-4)
    assert (wrong.low, wrong.high) == (0, pytest.approx(1 - low, abs=5e-4))


def test_several_shares_have_to_the_last_bit_the_intervals_that_each_has_alone() -> None:
    draw = np.random.default_rng(11)
    whole = draw.integers(0, 9, (3, 50))
    shares = {name: (draw.integers(0, whole + 1), whole) for name in ("some", "others")}
    shares["fractions"] = (whole / 7, whole / 3)
    shares["nothing"] = (0 * whole, 0 * whole)
    together = ratio_intervals(shares)
    assert [*together] == [*shares]
    for name, share in shares.items():
        np.testing.assert_array_equal(together[name], ratio_interval(*share))


def test_units_that_are_half_right_each_are_not_certain() -> None:
    one, many = ratio_interval([2], [4]), ratio_interval(np.full(180, 4), np.full(180, 8))
    assert [one.low, one.high] == pytest.approx([0.055, 0.945], abs=1e-3)
    assert [many.low, many.high] == pytest.approx([0.428, 0.572], abs=1e-3)


@pytest.mark.parametrize("units", [10, 60, 61])
@pytest.mark.parametrize("share", [1 / 3, 0.1, 0.7, 27 / 81])
def test_units_that_are_alike_but_for_rounding_do_not_vary(units: int, share: float) -> None:
    parts = np.full(units, share) * np.linspace(0.9, 1.1, units)
    found = effective_rows(parts, np.linspace(0.9, 1.1, units))
    assert (found.rows, found.freedom) == (units, 0)
    counts = np.arange(1, units + 1)  # one row of very many
    found = effective_rows(counts * 10**5 + (counts == 1), counts * 2 * 10**5)
    assert found.freedom == units - 1


@pytest.mark.parametrize("share", [1 / 3, 0.1, 0.7])
@pytest.mark.parametrize("largest", [1.0, 7.0, 1000.0])
def test_parts_that_are_alike_but_for_rounding_have_no_small_interval(
    share: float, largest: float
) -> None:
    whole = np.linspace(1, largest, 30)
    part = share * whole
    without = (part.sum() - part) / (whole.sum() - whole)
    found = jackknife_interval(np.array([share]), without[None])
    of_rows = share_interval([30 * share], [30.0])
    assert found.ends(0) == pytest.approx(of_rows.ends(0), rel=1e-6)
    # and what is the same in every unit goes with nothing
    assert not deviations(part, whole).any()
    assert correlation(deviations(part, whole), np.arange(30) - 14.5) == 0


def test_nothing_to_divide_by_has_no_interval() -> None:
    nothing = ratio_interval(np.zeros((2, 5)), np.array([[0] * 5, [1] * 5]))
    assert np.isnan(nothing.low).tolist() == [True, False]
    assert nothing.units.tolist() == [0, 5]


def test_units_without_rows_do_not_count() -> None:
    with_empty = ratio_interval([3, 0, 1, 0], [4, 0, 4, 0])
    without = ratio_interval([3, 1], [4, 4])
    assert with_empty == without


def test_one_row_a_unit_is_close_to_wilson() -> None:
    right = np.arange(1000) < 700
    units, rows = ratio_interval(right, np.ones(1000)), share_interval(700, 1000)
    assert (units.low, units.high) == (
        pytest.approx(rows.low, abs=2e-4),
        pytest.approx(rows.high, abs=2e-4),
    )


COUNTS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda both: (min(both), max(both))),
    min_size=1,
    max_size=12,
)


@given(COUNTS)
def test_an_interval_holds_its_figure_and_has_a_width(units: list[tuple[int, int]]) -> None:
    part, whole = np.array(units).T
    found = ratio_interval(part, whole)
    if whole.sum() == 0:
        assert np.isnan(found.estimate)
    else:
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        assert found.low < found.high


@given(COUNTS)
def test_what_is_not_right_has_the_mirrored_interval(units: list[tuple[int, int]]) -> None:
    part, whole = np.array(units).T
    found, mirrored = ratio_interval(part, whole), ratio_interval(whole - part, whole)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12, nan_ok=True)
    assert found.high == pytest.approx(1 - mirrored.low, abs=1e-12, nan_ok=True)


def table(pairs: int, rows: int) -> pa.Table:
    """Pairs of templates whose rows are all of one set, as many in each pair."""
    return pa.Table.from_pylist(
        [
            {
                "id": f"{pair}-{row}",
                "label": row % 2,
                "case": "nominative",
                "pronoun_set": "xe",
                "template_id": f"{pair}-{row % 2}",
                "pair_id": str(pair),
                "occupation": str(pair),
                "candidates": [{"start": 0}, {"start": 1}],
            }
            for pair in range(pairs)
            for row in range(rows)
        ]
    )


def half_right(rows: pa.Table) -> list[Decision]:
    """Every other pair is right in all its rows, the others in none."""
    pairs = zip(rows["label"].to_pylist(), rows["pair_id"].to_pylist(), strict=True)
    return [Decision(label ^ int(pair) % 2) for label, pair in pairs]


def test_more_rows_of_the_same_units_bring_no_certainty() -> None:
    few, many = table(pairs=20, rows=2), table(pairs=20, rows=16)
    intervals = [score(rows, half_right(rows))["overall"]["interval"] for rows in (few, many)]
    assert intervals[0]["accuracy"] == intervals[1]["accuracy"]
    low, high = intervals[0]["accuracy"]
    # the standard error of 20 fair coins is 0.11
    assert low == pytest.approx(0.5 - 1.96 * 0.112, abs=0.06)
    assert high == pytest.approx(0.5 + 1.96 * 0.112, abs=0.06)


def test_scores_say_over_what_intervals_sum() -> None:
    rows = table(pairs=20, rows=2)
    result = score(rows, half_right(rows))
    assert result["intervals"] == {"unit": "occupation", "units": 20, "level": 0.95}
    assert result["overall"]["units"] == 20


def test_a_precision_is_of_the_units_in_which_anything_was_chosen() -> None:
    rows = table(pairs=24, rows=2)
    answers = [Decision(label) for label in rows["label"].to_pylist()[:4]]
    found = Scores(score(rows, [*answers, *[NONE] * (rows.num_rows - 4)]))
    assert (found["overall"]["units"], found["overall"]["units_of"]["precision"]) == (24, 2)
    measures = {measure.key: measure for measure in task_of("winopron").measures}
    assert measures["precision"].short(found) == "100.0‡"
    assert "‡" not in measures["accuracy"].short(found)
    silent = Scores(score(rows, [NONE] * rows.num_rows))
    (made,) = measure_table("Performance", [*measures.values()], "occupations", {"s": silent})
    assert made.rows[0][1 + [*made.columns[1:]].index("Precision")] == "100.0†"
    assert not any("‡" in note for note in made.notes)  # no cell has the mark


def test_a_quotient_of_certain_shares_is_not_certain() -> None:
    rows = np.full((1, 30), 4)
    found = quotient_interval((rows, rows), (rows, rows))
    assert found.estimate[0] == 1
    # the same units, right in both or in neither: what is left is what nobody saw
    assert found.low[0] < 1 < found.high[0]


def test_a_quotient_has_a_lower_end_of_0_where_nothing_is_right() -> None:
    rows = np.full((1, 30), 4)
    none = quotient_interval((0 * rows, rows), (rows, rows))
    assert (none.estimate[0], none.low[0]) == (0, 0)
    assert 0 < none.high[0] < 0.3
    assert np.isnan(quotient_interval((rows, rows), (0 * rows, rows)).high[0])


def test_a_quotient_of_large_samples_is_as_the_log_ratio_has_it() -> None:
    generator = np.random.default_rng(5)
    sides = [(generator.random((1, 1000)) < p, np.ones((1, 1000))) for p in (0.8, 0.9)]
    found = quotient_interval(*sides)
    (one, n), (other, _) = ((part.mean(), part.size) for part, _ in sides)
    error = np.sqrt((1 - one) / (n * one) + (1 - other) / (n * other))
    expected = np.exp(np.log(one / other) + np.array([-1.96, 1.96]) * error)
    assert [found.low[0], found.high[0]] == pytest.approx(expected.tolist(), abs=5e-3)


def test_a_jackknife_of_a_ratio_is_near_its_own_interval() -> None:
    generator = np.random.default_rng(0)
    whole = generator.integers(5, 20, 60)
    part = generator.binomial(whole, generator.beta(6, 2, 60))
    without = (part.sum() - part) / (whole.sum() - whole)
    found = jackknife_interval(np.array([part.sum() / whole.sum()]), without[None])
    own = ratio_interval(part[None], whole[None])
    assert found.ends(0) == pytest.approx(own.ends(0), abs=0.01)


def test_a_jackknife_keeps_a_width_and_needs_two_units() -> None:
    certain = jackknife_interval(np.array([1.0, 0.0]), np.array([[1.0] * 4, [0.0] * 4]))
    assert certain.low.tolist() == pytest.approx([0.51, 0], abs=0.01)
    assert certain.high.tolist() == pytest.approx([1, 0.49], abs=0.01)
    assert jackknife_interval(np.array([0.5]), np.array([[0.5]])).ends(0) is None


@pytest.mark.parametrize("n", [10, 41, 60])
def test_a_small_share_of_independent_rows_is_held_in_nine_of_ten_samples(n: int) -> None:
    right = np.arange(n + 1)
    found = share_interval(right, np.full(n + 1, n))
    assert found.low + found.high[::-1] == pytest.approx(np.ones(n + 1))
    for share in np.linspace(0.05 / n, 5 / n, 500):
        held = (found.low <= share) & (share <= found.high)
        assert binom.pmf(right, n, share)[held].sum() > 0.89
