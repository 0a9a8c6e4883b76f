"""Pronominal bias: hand-made systems whose biases are known."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pronominal import NONE, Decision
from pronominal.dataset_scripts.published import read_split
from pronominal.eval.bias import pronominal_bias
from pronominal.eval.winopron import score

DATA = json.loads((Path(__file__).parent / "cases" / "bias.json").read_text())
DECISIONS = {"O": Decision(0), "P": Decision(1), "-": NONE}


def rows(case: dict[str, Any], grammatical: str = "nominative") -> list[dict[str, Any]]:
    """Two sentences for each pair and set: the first one means the occupation."""
    return [
        {
            "pair_id": f"{occupation}-{grammatical}",
            "case": grammatical,
            "occupation": occupation,
            "pronoun_set": name,
            "label": label,
            "decision": DECISIONS[answers[label]],
        }
        for name, pairs in case["answers"].items()
        for occupation, answers in pairs.items()
        for label in (0, 1)
    ]


def bias(rows: list[dict[str, Any]]) -> dict[str, Any]:
    decisions = [row.pop("decision") for row in rows]
    return pronominal_bias(pa.Table.from_pylist(rows), decisions)["by_form"]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["system"])
def test_biases_are_those_of_the_definition(case: dict[str, Any]) -> None:
    found = bias(rows(case))
    keys = ("attempted", "solvable", "positive", "negative", "percentage")
    for name, expected in case["expected"].items():
        assert [found[f"nominative/{name}"][key] for key in keys] == expected


def test_grammatical_cases_do_not_mix() -> None:
    right, biased = DATA["cases"][0], DATA["cases"][1]
    found = bias([*rows(right, "accusative"), *rows(biased)])
    assert found["accusative/he"]["positive"] == []
    assert found["nominative/he"]["positive"] == ["baker"]


def test_pairs_of_two_cases_have_no_common_form() -> None:
    mixed = rows(DATA["cases"][1])
    for row in mixed:
        row["pair_id"] = row["occupation"]
        if row["occupation"] == "baker" and row["label"] == 1:
            row["case"] = "possessive"
    found = bias(mixed)
    assert found["nominative/he"]["n"] == 2
    assert "possessive/he" not in found


def test_scores_hold_it_where_both_entities_are_named(sample: Path) -> None:
    for config, expected in (("double", True), ("single", False)):
        table = read_split(str(sample), config).table
        scores = score(table, [Decision(0)] * table.num_rows, resamples=1)
        assert (scores["bias"] is not None) == expected
