"""Pronominal bias: hand-made systems whose biases are known."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pronominal import NONE, Decision
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.scores.winopron.bias import between_systems, jaccard_index, pronominal_bias
from pronominal.eval.scores.winopron.bias_tables import bias_map, percentage_tables
from pronominal.eval.scores.winopron.score import score
from tests.conftest import ROOT

DATA = json.loads((ROOT / "tests" / "cases" / "bias.json").read_text())
SYSTEMS = json.loads((ROOT / "tests" / "cases" / "bias_systems.json").read_text())
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
        scores = score(table, [Decision(0)] * table.num_rows)
        assert (scores["bias"] is not None) == expected


def form(positive: str = "", negative: str = "") -> dict[str, list[str]]:
    return {"positive": positive.split(), "negative": negative.split()}


@pytest.mark.parametrize(
    ("one", "other", "index"),
    [
        (form("baker smith"), form("baker"), 1 / 2),
        (form("baker", "smith pilot"), form("baker", "pilot cook"), 2 / 4),
        (form("baker"), form(negative="baker"), 0.0),
        (form("baker"), form(), 0.0),
        (form(), form(), None),
    ],
    ids=["subset", "both signs", "opposite signs", "one empty", "both empty"],
)
def test_jaccard_index_is_of_signed_occupations(
    one: dict[str, list[str]], other: dict[str, list[str]], index: float | None
) -> None:
    assert jaccard_index(one, other) == jaccard_index(other, one) == index


def test_cases_of_one_set_are_compared_in_the_order_of_the_paper() -> None:
    right, biased = DATA["cases"][:2]
    decided = [*rows(biased), *rows(biased, "possessive"), *rows(right, "accusative")]
    decisions = [row.pop("decision") for row in decided]
    found = pronominal_bias(pa.Table.from_pylist(decided), decisions)["between_cases"]
    assert found == {
        f"{cases}/{name}": index
        for cases, index in (
            ("nominative-accusative", 0.0),
            ("nominative-possessive", 1.0),
            ("accusative-possessive", 0.0),
        )
        for name in ("he", "xe")
    }


def test_systems_are_compared_form_by_form() -> None:
    ones, others = (
        {"by_form": {"nominative/he": form("baker"), f"accusative/{name}": form("smith")}}
        for name in ("he", "she")
    )
    assert between_systems(ones, others)["between_systems"] == {"nominative/he": 1.0}


def test_tables_show_the_percentage_with_its_n() -> None:
    scores = {}
    for system, case in zip(("right", "biased"), DATA["cases"], strict=False):
        decided = rows(case)
        decisions = [row.pop("decision") for row in decided]
        scores[system] = {"bias": pronominal_bias(pa.Table.from_pylist(decided), decisions)}
    overall, percentages, by_chance, *_ = percentage_tables(scores)
    assert overall.columns == ("System", "Pairs", "Attempted", "Solvable", "Biased", "By chance")
    assert overall.rows[1][:4] == ("biased", "6", "6", "6")
    assert overall.rows[1][4].startswith("33.3‡ [")
    assert percentages.columns == ("System", "Case", "he", "xe")
    assert percentages.rows == (
        ("right", "nominative", *["0.0‡ [0.0, 56.1] (3)"] * 2),
        ("biased", "nominative", *["33.3‡ [1.7, 79.2] (3)"] * 2),
    )
    assert percentages.notes[-1].startswith("‡ Of fewer")
    assert by_chance.columns[-2:] == ("Forms differ, p", "Signs, p")
    assert by_chance.rows[0][2:4] == ("0.0", "0.0")  # a perfect system has no bias by chance
    (mapped,) = bias_map(scores)
    assert ("biased", "nominative/xe", "3", "3", "–", "smith") in mapped.table.rows
    assert [*percentage_tables({"single": {"bias": None}})] == []


def bias_of(system: str) -> dict[str, Any]:
    answers = next(one["answers"] for one in SYSTEMS["systems"] if one["system"] == system)
    decided = []
    for form, by_occupation in answers.items():
        grammatical, name = form.split("/")
        decided += rows({"answers": {name: by_occupation}}, grammatical)
    decisions = [row.pop("decision") for row in decided]
    return pronominal_bias(pa.Table.from_pylist(decided), decisions)


@pytest.mark.parametrize("case", SYSTEMS["systems"], ids=lambda case: case["system"])
def test_systems_of_known_bias_have_it_in_the_forms_they_have_it_in(case: dict[str, Any]) -> None:
    found = bias_of(case["system"])
    keys = ("attempted", "solvable", "positive", "negative", "percentage")
    by_form = {name: [form[key] for key in keys] for name, form in found["by_form"].items()}
    assert by_form == case["by_form"]
    assert found["between_cases"] == case["between_cases"]


@pytest.mark.parametrize("case", SYSTEMS["between"], ids=lambda case: " / ".join(case["systems"]))
def test_systems_of_known_bias_have_a_known_similarity(case: dict[str, Any]) -> None:
    one, other = map(bias_of, case["systems"])
    assert between_systems(one, other)["between_systems"] == case["expected"]
    assert between_systems(other, one)["between_systems"] == case["expected"]


def test_cases_with_no_occupation_in_common_are_left_out_of_the_table() -> None:
    found = bias_of(SYSTEMS["systems"][0]["system"])
    none = {"jaccard": 0.0, "expected": 0.1, "corrected": -0.1, "p_more": 1.0, "p_less": 0.4}
    kinds = {"some": none | {"jaccard": 0.5}, "few": none | {"p_less": 0.01}, "none": none}
    found["between_cases_by_chance"] = {
        name: {"eligible": 20, "signed": one, "unsigned": one} for name, one in kinds.items()
    }
    (table,) = (
        one for one in percentage_tables({"a": {"bias": found}}) if "in common" in one.title
    )
    assert [row[1] for row in table.rows] == ["some", "some", "few", "few"]
    assert table.notes[-1] == "Left out: 2 rows with none in common, no fewer than by chance."
