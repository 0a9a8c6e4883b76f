"""KnowRef's scores: hand-made systems with known outcomes, original and switched."""

import json
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pronominal import BOTH, NONE, UNFINISHED, Decision
from pronominal.adapters import load
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError
from pronominal.eval.scores.knowref.score import characteristics, paired_units, score
from pronominal.eval.scores.knowref.task import TASK as KNOWREF
from pronominal.eval.statistics.paired_tests import AGAINST, against, paired_tests
from tests.cli.test_main import pronominal
from tests.eval.scores.tables import tables_of

Row = dict[str, Any]


def rows(switched: bool = False) -> list[Row]:
    """Ten rows; the first name is right in six of the originals. One row cannot be switched.

    Row 9 repeats row 8. Ann stands first in the even rows and is candidate 0 in all.
    """
    made = []
    for number in range(10):
        label = int(number >= 6)
        places = [(0, 3), (8, 11)] if number % 2 == 0 else [(8, 11), (0, 3)]
        if switched:
            places.reverse()
        words = 9 + 6 * (number % 3)
        made.append(
            {
                "id": str(number),
                "text": "word " * words,
                "pronoun": {"text": ("he", "She", "them", "xe")[number % 4], "start": 1, "end": 2},
                "candidates": [
                    {"text": name, "start": start, "end": end}
                    for name, (start, end) in zip(("Ann", "Eve"), places, strict=True)
                ],
                "label": 1 - label if switched else label,
                "duplicate_of": "8" if number == 9 else None,
            }
        )
    return made[:9] if switched else made


def first_in_text(row: Row) -> int:
    return int(row["candidates"][1]["start"] < row["candidates"][0]["start"])


SYSTEMS: dict[str, Callable[[Row], Decision]] = {
    "gold": lambda row: Decision(row["label"]),
    "name": lambda row: Decision(0),
    "position": lambda row: Decision(first_in_text(row)),
    "none": lambda row: NONE,
    "both": lambda row: BOTH,
}


def scored(system: str) -> dict[str, Any]:
    answer = SYSTEMS[system]
    original, switched = rows(), rows(switched=True)
    result = score(
        pa.Table.from_pylist(original),
        [answer(row) for row in original],
        switched=(pa.Table.from_pylist(switched), [answer(row) for row in switched]),
    )
    json.dumps(result, allow_nan=False)
    return result


@pytest.mark.parametrize(
    ("system", "accuracy", "changed", "right", "wrong"),
    [
        ("gold", 1.0, 9, 1.0, 0.0),
        ("name", 0.6, 0, 0.0, 0.0),
        ("position", 0.5, 9, 4 / 9, 5 / 9),
        ("none", None, 0, 0.0, 0.0),
    ],
)
def test_consistency_is_the_papers(system, accuracy, changed, right, wrong) -> None:
    scores = scored(system)
    assert scores["task_specific_accuracy"] == accuracy
    consistency = scores["consistency"]
    assert (consistency["pairs"], consistency["changed"]) == (9, changed)
    assert consistency["score"] == changed / 9
    assert consistency["consistently_correct"] == pytest.approx(right)
    assert consistency["consistently_wrong"] == pytest.approx(wrong)


def test_outcomes_are_fractions_of_n() -> None:
    table = pa.Table.from_pylist(rows())
    decisions = [Decision(0)] * 7 + [NONE, BOTH, BOTH]
    scores = score(table, decisions)
    fractions = {key: scores[key] for key in ("both", "none", "incorrect", "correct")}
    assert scores["n"] == 10
    assert fractions == {"both": 0.2, "none": 0.1, "incorrect": 0.1, "correct": 0.6}
    assert scores["task_specific_accuracy"] == pytest.approx(6 / 7)
    assert "consistency" not in scores


def test_abstaining_is_not_changing() -> None:
    assert scored("both")["consistency"]["changed"] == 0
    assert scored("both")["both"] == 1


@pytest.mark.parametrize(
    ("system", "balanced", "first"),
    [("gold", 1.0, 0.5), ("position", 0.5, 1.0), ("name", 0.6, 0.5), ("none", None, None)],
)
def test_the_first_mention_is_the_first_in_the_text(system, balanced, first) -> None:
    scores = scored(system)
    assert scores["balanced_accuracy"] == balanced
    assert scores["first_mention"] == first
    by_mention = scores["by_right_mention"]
    assert [by_mention[name]["n"] for name in ("first", "second", "no_order")] == [5, 5, 0]
    if system == "position":
        accuracies = [by_mention[name]["task_specific_accuracy"] for name in ("first", "second")]
        assert accuracies == [1.0, 0.0]


def test_rows_without_an_order_are_apart() -> None:
    made = rows()
    made[0]["candidates"][1].update(start=-1, end=-1)
    made[1]["candidates"][1].update(made[1]["candidates"][0], text="Eve")
    scores = score(pa.Table.from_pylist(made), [Decision(row["label"]) for row in made])
    assert scores["by_right_mention"]["no_order"]["n"] == 2
    assert (scores["n"], scores["balanced_accuracy"]) == (10, 1.0)


@pytest.mark.parametrize(
    ("division", "sizes"),
    [
        ("by_pronoun_gender", {"masculine": 3, "feminine": 3, "they": 2, "other": 2}),
        ("by_right_mention", {"first": 5, "second": 5, "no_order": 0}),
        ("by_length", {"1-15": 7, "16-20": 0, "21-25": 3, "26+": 0}),
    ],
)
def test_every_division_is_one_of_all_rows(division: str, sizes: dict[str, int]) -> None:
    scores = scored("name")
    assert {name: block["n"] for name, block in scores[division].items()} == sizes
    pairs = [block["pairs"] for block in scores["consistency"][division].values()]
    assert sum(pairs) == 9


ALL_OF_NINE = 9 / (9 + 1.959964**2)
"""Lower end of Wilson's interval of nine of nine."""


@pytest.mark.parametrize(
    ("words", "name"), [(15, "1-15"), (16, "16-20"), (25, "21-25"), (26, "26+")]
)
def test_bins_of_length_include_their_ends(words: int, name: str) -> None:
    row = {**rows()[0], "text": "word " * words}
    scores = score(pa.Table.from_pylist([row]), [Decision(0)])
    assert {bin_: block["n"] for bin_, block in scores["by_length"].items() if block["n"]} == {
        name: 1
    }


def test_a_row_and_its_switched_version_and_repeats_are_one_unit() -> None:
    scores = scored("gold")
    assert scores["intervals"]["units"] == 9
    # as certain as nine sentences, not as the eighteen rows and their repeats
    low = pytest.approx(ALL_OF_NINE)
    assert scores["interval"]["task_specific_accuracy"] == [low, 1]
    low, high = scored("name")["interval"]["correct"]
    assert low < 0.6 < high


def test_paired_tests_are_over_sentences() -> None:
    made, switched = rows(), rows(switched=True)
    items = paired_units(
        pa.Table.from_pylist(made),
        [SYSTEMS["position"](row) for row in made],
        switched=(
            pa.Table.from_pylist(switched),
            [SYSTEMS["position"](row) for row in switched],
        ),
    )
    # nine sentences, of which the last is there twice, and once with a switched version
    assert items["correct"].shape == items["consistently_correct"].shape == (9, 2)
    assert items["correct"].sum(axis=0).tolist() == [5, 10]
    assert items["consistently_correct"].sum(axis=0).tolist() == [4, 9]


def test_a_difference_is_that_of_the_printed_figures() -> None:
    printed, units = {}, {}
    for name in ("position", "name"):
        beside = (rows(switched=True), [SYSTEMS[name](row) for row in rows(switched=True)])
        given = [SYSTEMS[name](row) for row in rows()]
        both = (pa.Table.from_pylist(beside[0]), beside[1])
        printed[name] = scored(name)
        units[name] = paired_units(pa.Table.from_pylist(rows()), given, switched=both)
    for measure, path in (("correct", ()), ("consistently_correct", ("consistency",))):
        one, other = (reduce(getitem, (*path, measure), printed[name]) for name in units)
        tests = paired_tests({name: units[name][measure] for name in units})
        assert tests["position"]["name"].difference == pytest.approx(one - other, abs=1e-12)


def test_a_switched_row_needs_its_original() -> None:
    switched = rows(switched=True)
    switched[3]["id"] = "elsewhere"
    table = pa.Table.from_pylist(rows())
    with pytest.raises(InputError, match="id elsewhere"):
        score(table, [NONE] * 10, switched=(pa.Table.from_pylist(switched), [NONE] * 9))


def test_one_decision_for_each_row() -> None:
    with pytest.raises(InputError, match="9 decisions for 10 rows"):
        score(pa.Table.from_pylist(rows()), [NONE] * 9)


def test_rows_that_nobody_has_labelled_are_not_scored() -> None:
    unlabelled = [{**row, "label": -1} if n in (3, 7) else row for n, row in enumerate(rows())]
    first = unlabelled[3]["id"]
    with pytest.raises(InputError, match=f"2 of 10 rows have no label, the first one is {first}"):
        score(pa.Table.from_pylist(unlabelled), [NONE] * 10)


def test_tables_show_consistency_where_it_is() -> None:
    compared = tables_of(KNOWREF, {"gold": scored("gold"), "name": scored("name")})
    assert {table.columns[0] for table in compared} == {"System"}
    headline, _, consistency, divisions = compared
    # right in both leads, and no accuracy stands without the share answered
    shown = ("Right in both", "Correct", "Answered", "Task-specific accuracy")
    assert headline.columns[2:] == shown
    assert headline.rows[0][2].startswith("100.0")
    assert consistency.rows[0][2].startswith("100.0")
    assert "Words 16-20" not in divisions.columns
    alone = tables_of(KNOWREF, {"gold": score(pa.Table.from_pylist(rows()), [NONE] * 10)})
    # without an answer there is no accuracy of any kind of row
    *_, by_kind = alone
    assert not any(column.endswith("acc.") for column in by_kind.columns)


def test_tables_show_paired_tests_where_they_are() -> None:
    table, gold = pa.Table.from_pylist(rows()), [SYSTEMS["gold"](row) for row in rows()]
    items = {
        "gold": paired_units(table, gold)["correct"],
        "none": paired_units(table, [NONE] * 10)["correct"],
    }
    tests = against({"correct": items})
    scores = {name: scored(name) | {AGAINST: tests[name]} for name in items}
    assert tables_of(KNOWREF, scores)[-1].rows == (
        ("gold – none", "9", "9", "0", "+100.0 [+47.5, +100.0]", "0.002", "0.002", "35.8"),
    )


@pytest.mark.parametrize(
    ("system", "accuracy"), [("first-mention", 0.4664), ("last-mention", 0.5336)]
)
def test_a_fixed_position_is_fully_consistent_on_the_real_test(knowref, system, accuracy) -> None:
    answers = {}
    for config in ("original", "switched"):
        split = read_split(str(knowref), config)
        choices = load(system).choose(split.instances())
        answers[config] = (split.table, [from_probabilities(one) for one in choices])
    scores = score(*answers["original"], switched=answers["switched"])
    assert (scores["consistency"]["pairs"], scores["consistency"]["score"]) == (1265, 1.0)
    assert scores["consistency"]["consistently_correct"] == pytest.approx(accuracy, abs=1e-4)
    assert scores["balanced_accuracy"] == 0.5
    assert scores["first_mention"] == float(system == "first-mention")
    assert scores["intervals"]["units"] == 1269 - 22


def test_the_real_test_is_what_the_papers_table_2_is_about(knowref: Path) -> None:
    found = characteristics(read_split(str(knowref), "original").table)
    assert found == pytest.approx(
        {"masculine": 642 / 1220, "feminine": 578 / 1220, "first": 590 / 1265, "second": 675 / 1265}
    )


def test_evaluate_gives_consistency_and_paired_tests_at_once(knowref: Path, tmp_path: Path) -> None:
    command = ["evaluate", "--dataset", knowref, "--out", tmp_path / "runs", "--json"]
    command += ["--system", "first-mention", "--system", "last-mention"]
    for _ in range(2):  # the second time both runs are there
        scores = json.loads(pronominal(*command).stdout)
        assert scores["last-mention"]["consistency"]["score"] == 1
        tests = scores["first-mention"][AGAINST]
        assert {measure: set(block) for measure, block in tests.items()} == {
            "correct": {"last-mention"},
            "consistently_correct": {"last-mention"},
        }
    runs = sorted(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir())
    assert runs == [
        f"knowref.{config}.test.{system}"
        for config in ("original", "switched")
        for system in ("first-mention", "last-mention")
    ]
    assert len([*(tmp_path / "runs").glob("*/score.json")]) == 2


def test_unfinished_answers_are_counted_apart() -> None:
    table = pa.Table.from_pylist(rows())
    found = score(table, [UNFINISHED, *(Decision(0) for _ in range(9))])
    assert (found["unfinished"], found["none"], found["answered"]) == (0.1, 0, 0.9)
    assert found["interval"]["unfinished"] is not None
    assert any("Unfinished" in one.columns for one in tables_of(KNOWREF, {"a": found}))
