"""What pronominal bias chance gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.eval.scores.winopron.bias_chance import (
    TOO_FEW_BIASED,
    Ending,
    direction_p,
    expected_percentages,
    forms_differ,
    overlap,
)


@pytest.mark.parametrize(
    ("sets", "right", "percent"),
    [(4, 0.5, 42.3), (4, 0.7, 39.1), (4, 0.9, 17.9), (3, 0.5, 37.8), (3, 0.8, 29.2), (4, 1, 0)],
)
def test_a_coin_shows_bias(sets: int, right: float, percent: float) -> None:
    """2p(1-p)(1-(1-p²)^(k-1)) / (1-(1-p²)^k), of k sets and a coin that is right with p."""
    ending = Ending(right, 1 - right)
    found = expected_percentages({str(name): (ending, ending) for name in range(sets)})
    assert [*found.values()] == pytest.approx([percent / 100] * sets, abs=5e-4)


def test_nothing_is_expected_where_nothing_is_solved() -> None:
    silent = Ending(0.0, 0.0)
    assert expected_percentages({"he": (silent, silent)}) == {"he": None}


def test_a_set_that_alone_is_biased_is_found_and_alike_sets_are_not() -> None:
    attempted = np.ones((40, 4), np.bool_)
    alone = np.zeros_like(attempted)
    alone[:20, 0] = True
    assert forms_differ(attempted, alone) == pytest.approx(1 / 2000)
    alike = np.tile(np.arange(40)[:, None] % 2 == 0, 4)
    assert forms_differ(attempted, alike) == 1
    assert forms_differ(attempted[:0], alike[:0]) is None


def test_signs_are_tested_as_a_coin() -> None:
    assert direction_p(0, 0) is None
    assert direction_p(3, 3) == 1
    assert direction_p(6, 0) == direction_p(0, 6) == pytest.approx(1 / 2**6)


def form(positive: int, negative: int, solvable: int = 60) -> dict[str, object]:
    names = [str(number) for number in range(solvable)]
    signs = {"positive": names[:positive], "negative": names[positive : positive + negative]}
    return signs | {"solvable_occupations": names}


@pytest.mark.parametrize(
    ("biased", "unsigned", "signed"), [(6, 0.06, 0.04), (18, 0.18, 0.11), (42, 0.54, 0.32)]
)
def test_the_index_of_unrelated_forms_is_not_0(biased: int, unsigned: float, signed: float) -> None:
    one = form(round(0.2 * biased), biased - round(0.2 * biased))
    found = overlap(one, one)
    assert found["unsigned"]["expected"] == pytest.approx(unsigned, abs=5e-3)
    assert found["signed"]["expected"] == pytest.approx(signed, abs=5e-3)
    assert found["signed"]["jaccard"] == found["signed"]["corrected"] == 1


def test_opposite_signs_are_less_alike_than_none() -> None:
    """One occupation agrees in both; in the second one another has the opposite sign."""
    names = [str(number) for number in range(40)]
    one = {"positive": names[:3], "negative": names[3:9], "solvable_occupations": names}
    rest = {"negative": names[20:23], "solvable_occupations": names}
    alike = overlap(one, rest | {"positive": [names[0], names[30], names[31]]})
    mixed = overlap(one, rest | {"positive": [names[0], names[30], names[4]]})
    assert alike["signed"]["jaccard"] == mixed["signed"]["jaccard"]
    assert alike["signed"]["p_more"] < mixed["signed"]["p_more"]
    assert alike["unsigned"]["p_more"] > mixed["unsigned"]["p_more"]


SIGNS = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(SIGNS, SIGNS)
def test_overlaps_have_the_chance_of_shuffled_occupations(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    first, second = form(*one, solvable=8), form(*other, solvable=8)
    found = overlap(first, second)["signed"]
    if sum(one) + sum(other) == 0:
        assert found["jaccard"] is None
        return
    if None not in (found["p_more"], found["p_less"]):
        assert found["p_more"] + found["p_less"] == pytest.approx(1)
    names, generator = np.arange(8), np.random.default_rng(0)
    signs = [np.repeat([1, -1, 0], (*of_it, 8 - sum(of_it))) for of_it in (one, other)]
    drawn = []
    for _ in range(300):
        shuffled = signs[1][generator.permutation(names)]
        common = int(((signs[0] == shuffled) & (shuffled != 0)).sum())
        drawn.append(common / (sum(one) + sum(other) - common))
    error = np.std(drawn) / np.sqrt(len(drawn))
    assert found["expected"] == pytest.approx(np.mean(drawn), abs=5 * error + 1e-9)


def test_small_sets_are_not_tested_for_having_nothing_in_common() -> None:
    few, many = form(2, 0, solvable=60), form(20, 20, solvable=60)
    of_few, of_many = (overlap(one, one)["unsigned"] for one in (few, many))
    # two sets of two of sixty have nothing in common in 93 % of cases
    assert of_few["p_less"] is None
    assert of_few["p_missing"] == {"p_less": TOO_FEW_BIASED}
    assert of_few["p_more"] < 0.001
    assert of_many["p_less"] == pytest.approx(1)
    assert "p_missing" not in of_many
