"""Paired tests: differences with intervals, p-values corrected for their number, equivalence."""

import gc
import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from pronominal import BOTH, NONE, Decision
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.evaluation import evaluate_systems
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import TASKS, task_of
from pronominal.eval.scores.gap import score as gap
from pronominal.eval.scores.ruff import score as ruff
from pronominal.eval.scores.winopron.score import paired_units
from pronominal.eval.statistics import paired_tests as testing
from pronominal.eval.statistics.hypothesis_tests import holm, mcnemar, paired_t
from pronominal.eval.statistics.paired_tests import AGAINST, against, differ, paired_tests
from pronominal.eval.statistics.shares import share_scores, unit_shares
from pronominal.eval.tables.paired_tests import paired_test_tables
from tests.eval.evaluated import evaluate_several


def right(pattern: str) -> np.ndarray:
    """Read a system that is right where its pattern has a 1."""
    return np.array([mark == "1" for mark in pattern])


SYSTEMS = {"a": right("1111100000"), "b": right("1111100000"), "c": right("0000000111")}


@pytest.mark.parametrize(
    ("only_this", "only_other", "p"),
    [(0, 0, 1.0), (1, 0, 0.5), (5, 0, 1 / 32), (0, 5, 1 / 32), (3, 3, 1.0), (8, 2, 0.0654297)],
)
def test_mcnemar_counts_half_of_what_is_as_far(only_this: int, only_other: int, p: float) -> None:
    assert mcnemar(only_this, only_other) == pytest.approx(p)


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_mcnemar_is_scipys_binomial_test_less_half_of_the_observed(a: int, b: int) -> None:
    # where both are alike, all that is as far is everything
    expected = 1.0 if a == b else binomtest(a, a + b).pvalue - binom.pmf(a, a + b, 0.5)
    assert mcnemar(a, b) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(a, b) == mcnemar(b, a)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0, 0, 0], 1),
        ([1, 1], None),
        ([1], None),
        ([], 1),
        ([1, 2, 3], 0.0741799),
        ([0.1 + 0.2 - 0.3, 0], 1),
        ([0.6 - 0.4, 0.8 - 0.6], None),
    ],
)
def test_the_t_test_is_scipys_where_it_is_defined(differences: list[float], p: float) -> None:
    found = paired_t(np.array(differences, dtype=np.float64))
    assert found == (p if p is None else pytest.approx(p))


def test_units_of_several_items_are_permuted_whole() -> None:
    shares = {"a": np.array([0.75, 0.5, 1.0]), "b": np.array([0.25, 0.5, 0.5])}
    test = paired_tests(shares)["a"]["b"]
    assert (test.n, test.only_this, test.only_other, test.test) == (3, 2, 0, "permutation")
    assert test.difference == pytest.approx(1 / 3)
    assert test.p == pytest.approx(1 / 4)
    assert test.minimum_detectable_effect > 0
    table = paired_test_tables({"a": {AGAINST: against({"accuracy": shares})["a"]}, "b": {}})[0]
    assert "permutation test of whole units" in table.notes[1]
    assert any("no pair counts as different" in note for note in table.notes)


def test_systems_that_chose_in_other_rows_are_compared_by_their_interval() -> None:
    rows = np.tile([[6.0, 8.0], [7.0, 8.0]], (15, 1))
    fewer = np.tile([[1.0, 2.0], [3.0, 3.0], [0.0, 0.0]], (10, 1))
    systems = {"a": rows, "b": fewer, "c": rows - [1, 0]}
    tests = paired_tests(systems)
    assert [tests["a"][other].test for other in "bc"] == ["interval", "permutation"]
    low, high = tests["a"]["b"].interval["difference"]
    assert (tests["a"]["b"].p < 0.05) == (not low <= 0 <= high)
    found = against({"precision": systems})
    notes = paired_test_tables({name: {AGAINST: block} for name, block in found.items()})[0].notes
    assert any("by the interval of the difference" in note for note in notes)


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


def test_both_directions_of_a_pair_have_one_interval() -> None:
    tests = paired_tests(SYSTEMS, margin=0.9)
    there, back = tests["a"]["c"], tests["c"]["a"]
    low, high = there.interval["difference"]
    assert back.interval["difference"] == [-high, -low]
    assert there.equivalence["margin"] == back.equivalence["margin"] == 0.9
    assert there.reversed.reversed == there


def test_equivalence_is_an_interval_within_the_margin() -> None:
    alike = {"a": np.ones(180), "b": np.ones(180)}
    found = [paired_tests(alike, margin=margin)["a"]["b"] for margin in (0.005, 0.02)]
    assert [test.equivalence["equivalent"] for test in found] == [False, True]
    (low, high), outer = found[0].equivalence["interval"]["difference"], found[0].interval
    assert outer["difference"][0] < low < high < outer["difference"][1]
    assert "equivalence" not in paired_tests(alike)["a"]["b"].to_json()


def test_a_ratio_that_divides_by_nothing_says_so() -> None:
    chose, nothing = np.array([[1.0, 1.0]] * 20), np.zeros((20, 2))
    tests = paired_tests({"a": chose, "b": nothing, "c": chose * [0, 1]}, margin=0.1)
    block = tests["a"]["b"].to_json()
    assert (block["difference"], block["p"], block["p_holm"]) == (None, None, None)
    assert block["interval"] == {"difference": None}
    assert block["interval_missing"] == {"difference": "one of the two has nothing to divide by"}
    assert not block["equivalence"]["equivalent"]
    # the one pair that can be compared is corrected for nothing else
    assert tests["a"]["c"].p == tests["a"]["c"].p_holm < 0.001


def test_one_unit_has_no_interval_and_says_why() -> None:
    block = paired_tests({"a": np.array([0.5]), "b": np.array([1.0])})["a"]["b"].to_json()
    assert block["interval_missing"] == {"difference": "there are fewer than two units"}
    assert (block["difference"], block["minimum_detectable_effect"]) == (-0.5, None)


def test_only_the_named_pairs_are_tested_and_corrected_for() -> None:
    generator = np.random.default_rng(0)
    units = {name: generator.random(60) for name in "abcd"}
    tests = paired_tests(units, [("a", "b"), ("a", "c")])
    assert {name: set(others) for name, others in tests.items()} == {
        **{"a": {"b", "c"}, "b": {"a"}, "c": {"a"}, "d": set()}
    }
    everything = paired_tests(units)["a"]["b"]
    assert everything.p == tests["a"]["b"].p
    assert everything.minimum_detectable_effect > tests["a"]["b"].minimum_detectable_effect


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
    systems, n, first, second, difference, p, corrected, visible = made[0].rows[0]
    assert (systems, n, first, second, p, corrected) == ("a – b", "10", "0", "0", "1.000", "1.000")
    assert (difference, visible) == ("+0.0 [-22.6, +22.6]", "37.7")
    assert paired_test_tables({"a": {}, "b": {}}) == []


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
    assert found["accuracy"].tolist() == [[3, 4], [4, 4]]
    assert found["f1"].tolist() == [[6, 8], [8, 8]]
    assert found["pronoun_consistency"].tolist() == [[2, 4], [4, 4]]
    assert found["disambiguation_consistency"].tolist() == [[2, 4], [4, 4]]
    # without the second sentence there is no pair to tell apart
    first = table.filter(pa.compute.equal(table["label"], 0))
    single = paired_units(first, [Decision(0)] * 4)
    assert single["disambiguation_consistency"].tolist() == []
    both = {"a": single["disambiguation_consistency"], "b": single["disambiguation_consistency"]}
    assert paired_tests(both)["a"]["b"].p is None


def test_gaps_units_are_rows_with_both_questions_right() -> None:
    rows = pa.table({"label": [0, 1, 2, 2], "gender": ["feminine", "masculine"] * 2})
    found = gap.paired_units(rows, [Decision(0), Decision(0), NONE, BOTH])
    assert found["correct"].tolist() == [True, False, True, False]
    # twice the true positives, and these with what is wrong or missing
    assert found["f1"].tolist() == [[2, 2], [0, 2], [0, 0], [0, 2]]


SEED = {"seed": 3}


def test_a_difference_is_that_of_the_printed_figures(sample: Path, tmp_path: Path) -> None:
    asked = [SystemSettings("random", "random"), SystemSettings("again", "random", None, SEED)]
    split = read_split(str(sample), "double")
    scores = evaluate_several(split, asked, tmp_path)
    tests = scores["random"][AGAINST]
    for measure in task_of("sample").measures:
        if measure.key in tests:
            figures = [measure.of(scores[label]).value for label in ("random", "again")]
            found = tests[measure.key]["again"]["difference"]
            assert found == pytest.approx(figures[0] - figures[1], abs=1e-12), measure.key
    assert {"accuracy", "precision", "f1", "pronoun_consistency", "bias"} <= tests.keys()
    titles = [table.title for table in task_of("sample").comparison_tables(scores)]
    assert "Paired tests: bias" in titles


def test_what_cannot_be_seen_has_no_smallest_visible_difference() -> None:
    some, nothing = np.tile([1, 1], (3, 1)), np.zeros((3, 2), int)
    tests = against({"precision": {"a": some, "b": some * [0, 1], "c": nothing}})
    table = paired_test_tables({name: {AGAINST: tests[name]} for name in "abc"})[0]
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert tests["a"]["precision"]["b"]["minimum_detectable_effect"] > 1
    assert cells["Visible from"] == "none"
    assert any("all tests of this measure, 1 in" in note for note in table.notes)


@pytest.mark.parametrize(("units", "equivalent"), [(9, False), (10, True)])
def test_few_units_show_no_equivalence(units: int, equivalent: bool) -> None:
    alike = {"a": np.full(units, 0.5), "b": np.full(units, 0.5)}
    found = paired_tests(alike, margin=0.5)["a"]["b"].equivalence
    assert found is not None
    assert found["equivalent"] is equivalent


@pytest.mark.parametrize(("answered", "tested"), [(2, False), (9, False), (10, True)])
def test_a_precision_of_few_answers_gives_no_verdict(answered: int, tested: bool) -> None:
    seldom, always = np.zeros((24, 2), int), np.ones((24, 2), int)
    seldom[:answered], always[12:, 0] = 1, 0
    systems = {"seldom": seldom, "always": always}
    test = paired_tests(systems, margin=0.9)["seldom"]["always"]
    assert test.difference == 0.5
    assert (test.p is not None) is tested
    assert (test.interval["difference"] is not None) is tested
    assert (test.minimum_detectable_effect is not None) is tested
    assert ("fewer than 10 units" in test.interval_missing.get("difference", "")) is not tested
    shown = paired_test_tables({"a": {AGAINST: {"precision": {"b": test.to_json()}}}, "b": {}})[0]
    assert any("No interval for Difference" in note for note in shown.notes) is not tested


ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.booleans(), st.booleans()), min_size=1, max_size=30
)


@given(ROWS)
def test_of_unequal_units_a_difference_is_that_of_the_shares(
    rows: list[tuple[str, bool, bool]],
) -> None:
    units = [unit for unit, _, _ in rows]
    given = {"a": np.array([one for _, one, _ in rows]), "b": np.array([two for *_, two in rows])}
    figures = [share_scores(right, units)["accuracy"] for right in given.values()]
    test = paired_tests({name: unit_shares(one, units) for name, one in given.items()})["a"]["b"]
    assert test.difference == pytest.approx(figures[0] - figures[1], abs=1e-12)


@settings(max_examples=25)
@given(ROWS, st.data())
def test_ruffs_difference_is_that_of_its_accuracies(
    rows: list[tuple[str, bool, bool]], data: st.DataObject
) -> None:
    about = {"label": 0, "participant": "guest", "case": "nominative", "pronoun_set": "he"}
    made = [{**about, "occupation": name, "distractor_set": None} for name, _, _ in rows]
    table, places = pa.Table.from_pylist(made), st.integers(0, len(rows) - 1)
    drawn = st.lists(places, min_size=1, unique=True).map(np.array)
    samples = data.draw(st.one_of(st.none(), st.fixed_dictionaries({13: drawn, 17: drawn})))
    given = {
        name: [Decision(0 if row[place] else 1) for row in rows]
        for name, place in (("a", 1), ("b", 2))
    }
    figures = [ruff.score(table, one, samples=samples)["accuracy"] for one in given.values()]
    units = {
        name: ruff.paired_units(table, one, samples=samples)["accuracy"]
        for name, one in given.items()
    }
    difference = paired_tests(units)["a"]["b"].difference
    assert difference == pytest.approx(figures[0] - figures[1], abs=1e-12)


def test_ruffs_units_are_occupations() -> None:
    about = {"participant": "guest", "case": "nominative", "pronoun_set": "he"}
    about |= {"distractor_set": None}
    rows = pa.Table.from_pylist(
        [
            {"label": label, "occupation": occupation, **about}
            for occupation in ("baker", "pilot")
            for label in (0, 3)
        ]
    )
    found = ruff.paired_units(rows, [Decision(0), Decision(1), NONE, Decision(3)])
    assert found["accuracy"].tolist() == [[1, 2], [1, 2]]
    nothing = pa.compute.subtract(pa.compute.multiply(rows["label"], 0), 1)
    assert ruff.paired_units(rows.set_column(0, "label", nothing), [NONE] * 4) == {}


def test_every_dataset_says_what_to_compare() -> None:
    assert all(task_of(name).paired_units is not None for name in TASKS)


def test_a_system_against_itself_is_no_error(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    asked = [SystemSettings(label, "first-mention") for label in ("one", "other")]
    done = evaluate_systems(split, asked, tmp_path)
    scores = {label: one.scores for label, one in done.items()}
    tests = {name: test["other"]["p"] for name, test in scores["one"][AGAINST].items()}
    assert tests.pop("bias") is None  # who ignores the pronoun solves no pair
    assert {*tests.values()} == {1}
    shown = [table.title for table in task_of("sample").comparison_tables(scores)]
    assert "Paired tests: accuracy" in shown


def test_a_verdict_needs_an_interval_without_0() -> None:
    found = {"n": 60, "difference": 0.012, "p_holm": 0.008}
    assert not differ(found | {"interval": {"difference": [-0.074, 0.099]}})
    assert differ(found | {"interval": {"difference": [0.002, 0.099]}})


def test_measures_that_count_alike_are_tested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(2)
    right = {name: np.stack([draw.integers(0, 7, 20), np.full(20, 7)], axis=-1) for name in "abc"}
    measures = {
        "accuracy": right,
        "f1": {name: 2 * one for name, one in right.items()},
        "precision": right | {"a": 2 * right["a"]},
        "items": dict(SYSTEMS),
        "item_f1": {
            name: np.stack([2 * s, np.full(10, 2)], axis=-1) for name, s in SYSTEMS.items()
        },
    }
    alone = {measure: against({measure: units}) for measure, units in measures.items()}
    tested: list[int] = []
    told = lambda *given: tested.append(1) or paired_tests(*given)  # noqa: E731
    monkeypatch.setattr(testing, "paired_tests", told)
    found = against(measures)
    # of systems whose wholes differ, and of single items, the others' tests say nothing
    assert len(tested) == 4
    assert found == {
        name: {measure: one[name][measure] for measure, one in alone.items()} for name in "abc"
    }


def test_measures_of_which_nothing_counts_are_compared_in_silence() -> None:
    nothing = dict.fromkeys("ab", np.zeros((4, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert against({"bias": nothing})["a"]["bias"]["b"]["difference"] is None


def test_looking_for_cycles_goes_on_after_the_tests() -> None:
    was_enabled = gc.isenabled()
    gc.enable()
    against({"accuracy": SYSTEMS})
    enabled_after = gc.isenabled()
    if not was_enabled:
        gc.disable()
    assert enabled_after
