"""Paired tests: exact p-values, corrected for their number, and counts even without statsmodels."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pronominal.errors import InputError
from pronominal.eval import significance
from pronominal.eval.significance import (
    AGAINST,
    against,
    holm,
    mcnemar,
    paired_test_tables,
    paired_tests,
)


def right(pattern: str) -> np.ndarray:
    """Read a system that is right where its pattern has a 1."""
    return np.array([mark == "1" for mark in pattern])


SYSTEMS = {"a": right("1111100000"), "b": right("1111100000"), "c": right("0000000111")}


@pytest.mark.parametrize(
    ("only_this", "only_other", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (0, 5, 2 / 32), (3, 3, 1.0), (8, 2, 0.109375)],
)
def test_mcnemar_is_the_exact_binomial_test(only_this: int, only_other: int, p: float) -> None:
    assert mcnemar(only_this, only_other) == pytest.approx(p)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_scipys_binomial_test(only_this: int, only_other: int) -> None:
    discordant = only_this + only_other
    expected = binomtest(only_this, discordant).pvalue if discordant else 1.0
    assert mcnemar(only_this, only_other) == pytest.approx(expected)
    assert mcnemar(only_this, only_other) == mcnemar(only_other, only_this)


def test_holm_steps_down() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_lowers_a_value_and_keeps_their_order(values: list[float]) -> None:
    corrected = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, corrected, strict=True))
    for (p, q), (r, s) in itertools.combinations(zip(values, corrected, strict=True), 2):
        assert (p - r) * (q - s) >= 0


def test_systems_that_agree_everywhere_do_not_differ() -> None:
    test = paired_tests(SYSTEMS)["a"]["b"]
    assert (test.n, test.only_this, test.only_other, test.p, test.p_holm) == (10, 0, 0, 1, 1)


def test_both_directions_of_a_pair_are_one_test() -> None:
    tests = paired_tests(SYSTEMS)
    there, back = tests["a"]["c"], tests["c"]["a"]
    assert (there.only_this, there.only_other) == (back.only_other, back.only_this) == (5, 3)
    assert (there.p, there.p_holm) == (back.p, back.p_holm)
    assert there.p_holm == 1.0


def test_every_system_stands_against_every_other_one() -> None:
    blocks = against({"correct": SYSTEMS})
    json.dumps(blocks, allow_nan=False)
    assert {system: set(block["correct"]) for system, block in blocks.items()} == {
        system: set(SYSTEMS) - {system} for system in SYSTEMS
    }


def test_a_table_for_each_measure_and_a_row_for_each_pair() -> None:
    blocks = against({"correct": SYSTEMS, "consistently_correct": SYSTEMS})
    made = paired_test_tables({system: {AGAINST: block} for system, block in blocks.items()})
    assert [len(table.rows) for table in made] == [3, 3]
    assert made[0].rows[0] == ("a – b", "0", "0", "1.000", "1.000")
    assert paired_test_tables({"a": {}, "b": {}}) == []


def test_without_statsmodels_the_counts_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "find_spec", lambda name: None)
    block = against({"correct": SYSTEMS})
    assert block["a"]["correct"]["c"] == {
        **{"n": 10, "only_this": 5, "only_other": 3},
        **{"p": None, "p_holm": None},
    }
    table = paired_test_tables({system: {AGAINST: tests} for system, tests in block.items()})[0]
    assert "pronominal[stats]" in table.notes[-1]


def test_the_test_alone_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "statsmodels.stats.contingency_tables", None)
    with pytest.raises(InputError, match=r"pronominal\[stats\]"):
        mcnemar(3, 1)
