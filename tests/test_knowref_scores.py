"""KnowRef's scores: hand-made systems with known outcomes, original and switched."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pronominal import BOTH, NONE, Decision
from pronominal.eval.knowref import score, tables

Row = dict[str, Any]


def rows(switched: bool = False) -> list[Row]:
    """Ten rows; the first name is right in six of the originals. One row cannot be switched."""
    made = []
    for number in range(10):
        label = int(number >= 6)
        candidates = [{"text": "Ann", "start": 0}, {"text": "Eve", "start": 9}]
        if switched:
            candidates = [{"text": "Ann", "start": 9}, {"text": "Eve", "start": 0}]
        made.append(
            {
                "id": str(number),
                "candidates": candidates,
                "label": 1 - label if switched else label,
            }
        )
    return made[:9] if switched else made


SYSTEMS: dict[str, Callable[[Row], Decision]] = {
    "gold": lambda row: Decision(row["label"]),
    "name": lambda row: Decision(0),
    "position": lambda row: Decision(int(row["candidates"][0]["start"] > 0)),
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
        resamples=50,
    )
    json.dumps(result, allow_nan=False)
    return result


@pytest.mark.parametrize(
    ("system", "accuracy", "changed", "right", "wrong"),
    [
        ("gold", 1.0, 9, 1.0, 0.0),
        ("name", 0.6, 0, 0.0, 0.0),
        ("position", 0.6, 9, 6 / 9, 3 / 9),
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
    scores = score(table, decisions, resamples=10)
    fractions = {key: scores[key] for key in ("both", "none", "incorrect", "correct")}
    assert scores["n"] == 10
    assert fractions == {"both": 0.2, "none": 0.1, "incorrect": 0.1, "correct": 0.6}
    assert scores["task_specific_accuracy"] == pytest.approx(6 / 7)
    assert "consistency" not in scores


def test_abstaining_is_not_changing() -> None:
    assert scored("both")["consistency"]["changed"] == 0
    assert scored("both")["both"] == 1


def test_tables_show_consistency_where_it_is() -> None:
    compared = tables({"gold": scored("gold"), "name": scored("name")})
    assert [table.columns[0] for table in compared] == ["System", "System"]
    assert compared[1].rows[0][2].startswith("100.0")
    assert len(tables({"gold": score(pa.Table.from_pylist(rows()), [NONE] * 10)})) == 1
