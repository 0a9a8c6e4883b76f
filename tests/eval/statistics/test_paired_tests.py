"""Paired tests: exact p-values, corrected for their number, and counts even without statsmodels."""

import itertools
import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from pronominal import BOTH, NONE, Decision
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.evaluation import evaluate_all
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import TASKS, task_of
from pronominal.eval.scores.gap import score as gap
from pronominal.eval.scores.ruff import score as ruff
from pronominal.eval.scores.winopron.score import paired_units
from pronominal.eval.statistics import paired_tests as significance
from pronominal.eval.statistics.paired_tests import (
    AGAINST,
    against,
    holm,
    mcnemar,
    paired_t,
    paired_tests,
    permutation,
)
from pronominal.eval.tables.paired_tests import paired_test_tables


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


@given(st.lists(st.sampled_from((-1.0, 0.0, 1.0)), max_size=12))
def test_permuting_single_items_is_mcnemars_test(differences: list[float]) -> None:
    drawn = np.array(differences)
    expected = mcnemar(int((drawn > 0).sum()), int((drawn < 0).sum()))
    assert permutation(drawn) == pytest.approx(expected)
    assert permutation(-drawn) == pytest.approx(expected)


def test_permutation_of_small_samples_is_exact() -> None:
    # of the eight ways to change three signs, only none and all are as far from 0
    assert permutation(np.array([0.25, 0.5, 0.75])) == pytest.approx(2 / 8)
    assert permutation(np.array([0.5, 0.0, -0.5])) == 1


def test_permutation_of_large_samples_is_drawn_with_one_seed() -> None:
    differences = np.linspace(-1, 1.2, 40)
    assert permutation(differences) == permutation(differences)
    assert permutation(np.full(40, 0.25)) == pytest.approx(2 / 10_000)


@pytest.mark.parametrize(
    ("differences", "p"),
    [([0, 0, 0], 1), ([1, 1], None), ([1], None), ([], 1), ([1, 2, 3], 0.0741799)],
)
def test_the_t_test_is_scipys_where_it_is_defined(differences: list[float], p: float) -> None:
    found = paired_t(np.array(differences, dtype=np.float64))
    assert found == (p if p is None else pytest.approx(p))


def test_units_of_several_items_are_permuted_whole() -> None:
    shares = {"a": np.array([0.75, 0.5, 1.0]), "b": np.array([0.25, 0.5, 0.5])}
    test = paired_tests(shares)["a"]["b"]
    assert (test.n, test.only_this, test.only_other, test.test) == (3, 2, 0, "permutation")
    assert test.difference == pytest.approx(1 / 3)
    assert test.p == pytest.approx(2 / 4)
    table = paired_test_tables({"a": {AGAINST: against({"accuracy": shares})["a"]}, "b": {}})[0]
    assert "permutation test of whole units" in table.notes[1]


def test_holm_steps_down() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_holm_is_that_of_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    values = np.random.default_rng(0).choice([*np.linspace(0, 0.06, 9), 0.5, 1.0], 60)
    assert holm(values) == multitest.multipletests(values, method="holm")[1].tolist()


@settings(max_examples=30)
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


def test_known_p_values_are_taken_in_either_direction() -> None:
    known: significance.Known = {}
    first = paired_tests(SYSTEMS, known)
    assert len(known) == 2  # a and b are alike, so that c differs from both in one way
    invented = dict.fromkeys(known, (0.5, None))
    again = paired_tests(dict(reversed(SYSTEMS.items())), invented)
    assert set(invented) == set(known)
    assert {test.p for tests in again.values() for test in tests.values()} == {0.5}
    assert paired_tests(SYSTEMS, known) == first


def test_every_system_stands_against_every_other_one() -> None:
    blocks = against({"correct": SYSTEMS})
    json.dumps(blocks, allow_nan=False)
    assert {system: set(block["correct"]) for system, block in blocks.items()} == {
        system: set(SYSTEMS) - {system} for system in SYSTEMS
    }


def test_a_table_for_each_measure_and_a_row_for_each_pair() -> None:
    done: list[int] = []
    blocks = against({"correct": SYSTEMS, "consistently_correct": SYSTEMS}, progress=done.append)
    assert done == [1, 2]
    made = paired_test_tables({system: {AGAINST: block} for system, block in blocks.items()})
    assert [len(table.rows) for table in made] == [3, 3]
    assert made[0].rows[0] == ("a – b", "10", "0", "0", "+0.0", "1.000", "1.000", "1.000")
    assert paired_test_tables({"a": {}, "b": {}}) == []


def test_without_statsmodels_the_counts_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "find_spec", lambda name: None)
    block = against({"correct": SYSTEMS})
    assert block["a"]["correct"]["c"] == {
        **{"n": 10, "only_this": 5, "only_other": 3, "difference": pytest.approx(0.2)},
        **{"test": "mcnemar", "p": None, "p_holm": None, "p_t": None},
    }
    table = paired_test_tables({system: {AGAINST: tests} for system, tests in block.items()})[0]
    assert "pronominal[stats]" in table.notes[-1]


def test_the_test_alone_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "statsmodels.stats.contingency_tables", None)
    with pytest.raises(InputError, match=r"pronominal\[stats\]"):
        mcnemar(3, 1)


def templates(cases: tuple[str, ...] = ("nominative", "accusative")) -> pa.Table:
    """Two sentences and two pronoun sets for each case, one template pair about one occupation."""
    return pa.Table.from_pylist(
        [
            {"label": label, "case": case, "pronoun_set": name, "pair_id": case,
             "occupation": case, "template_id": f"{case}-{label}"}
            for case in cases for label in (0, 1) for name in ("he", "xe")
        ]
    )  # fmt: skip


def test_winoprons_units_are_occupations() -> None:
    table = templates()
    # nominative: he right twice, xe on the first sentence only; accusative: all right
    decisions = [Decision(c) for c in (0, 0, 1, 0, 0, 0, 1, 1)]
    found = paired_units(table, decisions)
    assert found["accuracy"].tolist() == [0.75, 1]
    assert found["pronoun_consistency"].tolist() == [0.5, 1]
    assert found["disambiguation_consistency"].tolist() == [0.5, 1]
    # without the second sentence there is no pair to tell apart
    first = table.filter(pa.compute.equal(table["label"], 0))
    single = paired_units(first, [Decision(0)] * 4)
    assert single["disambiguation_consistency"].tolist() == []
    both = {"a": single["disambiguation_consistency"], "b": single["disambiguation_consistency"]}
    assert paired_tests(both)["a"]["b"].p == 1


def test_gaps_units_are_rows_with_both_questions_right() -> None:
    rows = pa.table({"label": [0, 1, 2, 2]})
    assert gap.paired_units(rows, [Decision(0), Decision(0), NONE, BOTH])["correct"].tolist() == [
        *(True, False),
        *(True, False),
    ]


def test_ruffs_units_are_occupations() -> None:
    rows = pa.Table.from_pylist(
        [
            {"label": label, "occupation": occupation, "participant": "guest", "case": "nominative"}
            for occupation in ("baker", "pilot")
            for label in (0, 3)
        ]
    )
    found = ruff.paired_units(rows, [Decision(0), Decision(1), NONE, Decision(3)])
    assert found["accuracy"].tolist() == [0.5, 0.5]
    nothing = pa.compute.subtract(pa.compute.multiply(rows["label"], 0), 1)
    assert ruff.paired_units(rows.set_column(0, "label", nothing), [NONE] * 4) == {}


def test_every_dataset_says_what_to_compare() -> None:
    assert all(task_of(name).paired_units is not None for name in TASKS)


def test_a_system_against_itself_is_no_error(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    asked = [SystemSettings(label, "first-mention") for label in ("one", "other")]
    scores = evaluate_all(split, asked, tmp_path, "offsets", lambda name, n: nullcontext(print))
    assert {test["other"]["p"] for test in scores["one"][AGAINST].values()} == {1}
    shown = [table.title for table in task_of("sample").comparison_tables(scores)]
    assert "Paired tests: accuracy" in shown
