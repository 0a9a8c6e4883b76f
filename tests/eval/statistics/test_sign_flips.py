"""The paired permutation test: exact for few units, drawn once for all pairs of many."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.eval.statistics import sign_flips
from pronominal.eval.statistics.hypothesis_tests import mcnemar
from pronominal.eval.statistics.sign_flips import sign_flip_p_values

DIFFERENCES = st.lists(st.sampled_from((-1.0, -0.5, 0.0, 0.25, 1.0)), min_size=1, max_size=10)


def p_value(differences: list[float] | np.ndarray, **settings: int) -> float:
    """Test a system with these shares more than another one, whose units are of one size."""
    parts = np.array([differences, np.zeros(len(differences))])
    return float(sign_flip_p_values(parts, [(0, 1)], **settings)[0])


def by_every_sign(differences: list[float]) -> float:
    observed = abs(sum(differences))
    found = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    if observed == 0:
        return 1.0
    return float(np.mean([1.0 if one > observed else 0.5 * (one == observed) for one in found]))


@given(DIFFERENCES)
def test_few_units_are_tested_with_every_change_of_sign(differences: list[float]) -> None:
    expected = by_every_sign(differences)
    assert p_value(differences) == pytest.approx(expected)
    assert p_value([-one for one in differences]) == pytest.approx(expected)


@given(st.lists(st.sampled_from((-1.0, 0.0, 1.0)), min_size=1, max_size=14))
def test_single_items_are_tested_as_by_mcnemar(differences: list[float]) -> None:
    expected = mcnemar(differences.count(1.0), differences.count(-1.0))
    assert p_value(differences) == pytest.approx(expected)


def test_drawn_signs_come_close_to_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    differences = generator.integers(-3, 5, 14) / 4
    exact = p_value(differences)
    monkeypatch.setattr(sign_flips, "ENUMERATED", 0)
    # four standard errors of a share of so many draws
    assert p_value(differences) == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 99_999))


def test_a_p_value_depends_on_its_two_systems_alone() -> None:
    parts = np.random.default_rng(0).integers(0, 9, (5, 60)) / 8
    pairs = [*itertools.combinations(range(5), 2)]
    together = sign_flip_p_values(parts, pairs)
    alone = [sign_flip_p_values(parts[[a, b]], [(0, 1)])[0] for a, b in pairs]
    back = sign_flip_p_values(parts, [(b, a) for a, b in pairs])
    assert together.tolist() == pytest.approx(alone, rel=1e-12)
    assert together.tolist() == pytest.approx(back.tolist(), rel=1e-12)


def test_blocks_hold_all_the_signs_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for block in (64, 2**21):
        monkeypatch.setattr(sign_flips, "BLOCK", block)
        kept = [*sign_flips._kept(30, 1001)]
        assert sum(one.shape[1] for one in kept) == 1001
        assert all(np.isin(one, (0, 1)).all() for one in kept)


def test_the_smallest_p_survives_the_correction_for_forty_systems() -> None:
    assert p_value(np.full(40, 0.25)) * 780 < 0.05


def test_whole_numbers_and_fractions_have_the_same_p_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = np.random.default_rng(29)
    # the last differ by more than 8 bits hold, and two systems are alike
    parts = np.concatenate([draw.integers(0, 4, (6, 40)), draw.integers(0, 90, (3, 40))]) / 3.1
    parts[4] = parts[1]
    pairs = [*itertools.combinations(range(9), 2)]
    assert sign_flips._step(parts) is not None
    by_numbers = sign_flip_p_values(parts, pairs, resamples=2_000)
    monkeypatch.setattr(sign_flips, "_step", lambda parts: None)
    assert sign_flip_p_values(parts, pairs, resamples=2_000).tolist() == by_numbers.tolist()


def test_parts_of_several_sizes_are_no_whole_numbers() -> None:
    assert sign_flips._step(np.array([[1.0, 2.5, 0.3]])) is None


def test_counts_are_whole_numbers_where_no_unit_has_a_single_row() -> None:
    assert sign_flips._step(np.array([[4.0, 7.0], [0.0, 8.0]]) / 8) == 0.125
    assert sign_flips._step(np.array([[2 / 3, 1.0], [0.0, 5 / 3]])) == pytest.approx(1 / 3)


def test_systems_with_the_same_units_are_tested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = np.random.default_rng(7).integers(0, 9, (3, 40)) / 8
    twice = parts[[0, 1, 2, 1, 0]]
    pairs = [*itertools.combinations(range(5), 2)]
    tested: list[tuple[int, int]] = []
    counts = sign_flips._extreme_counts

    def listening(values: np.ndarray, asked: list[tuple[int, int]], resamples: int) -> np.ndarray:
        tested.extend(asked)
        return counts(values, asked, resamples)

    monkeypatch.setattr(sign_flips, "_extreme_counts", listening)
    found = dict(zip(pairs, sign_flip_p_values(twice, pairs, resamples=999), strict=True))
    alone = sign_flip_p_values(parts[:2], [(0, 1)], resamples=999)[0]
    assert tested == [(0, 1), (0, 2), (1, 2), (0, 1)]
    assert found[0, 4] == found[1, 3] == 1
    assert found[0, 1] == found[0, 3] == found[3, 4] == alone
