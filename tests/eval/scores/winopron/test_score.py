import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal.decisions import BOTH, NONE, Decision
from pronominal.errors import InputError
from pronominal.eval.scores import TASKS, task_of
from pronominal.eval.scores.winopron.score import score, score_choices
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.outcomes import Outcomes, choices_of, ratio
from pronominal.eval.statistics.parts import AGAINST_REST
from pronominal.pronouns import CASES

SETS = ("he", "she", "they", "xe")
Row = dict[str, Any]
Block = dict[str, Any]
System = Callable[[Row], Decision]

SYSTEMS: dict[str, System] = {
    "gold": lambda row: Decision(row["label"]),
    "always_occupation": lambda row: Decision(0),
    "none": lambda row: NONE,
    "gold_but_abstain_on_xe": lambda row: (
        NONE if row["pronoun_set"] == "xe" else Decision(row["label"])
    ),
    "acc_wrong_else_gold": lambda row: Decision(row["label"] ^ (row["case"] == "accusative")),
}


def rows(templates: list[tuple[str, str, int]], sets: tuple[str, ...] = SETS) -> list[Row]:
    """The rows of templates that are given as (pair, case, label)."""
    return [
        {
            "id": f"{pair}-{case}-{label}-{name}",
            "label": label,
            "case": case,
            "pronoun_set": name,
            "template_id": f"{pair}-{case}-{label}",
            "pair_id": pair,
            "occupation": pair.split("-")[0],
            "candidates": [{"start": 0}, {"start": 1}],
        }
        for pair, case, label in templates
        for name in sets
    ]


def winopron(pairs: int = 60) -> list[Row]:
    """The structure of WinoPron: in every case a pair of templates with opposite answers."""
    return rows([(f"{n}-{c}", c, label) for n in range(pairs) for c in CASES for label in (1, 0)])


def winogender(sets: tuple[str, ...] = SETS) -> list[Row]:
    """The structure of Winogender: 60 pairs, in six of which the two cases differ."""
    cases = [("nominative", "possessive" if n < 6 else "nominative") for n in range(60)]
    templates = [(str(n), cases[n][label], label) for n in range(60) for label in (0, 1)]
    return rows(templates, sets)


def scores(table: list[Row], system: System, **options: Any) -> Block:
    result = score(pa.Table.from_pylist(table), [system(row) for row in table], **options)
    json.dumps(result, allow_nan=False)
    return result


def stratum(block: Block, name: str) -> Block:
    """Find the numbers of one of upstream's filters; "None" is the filter that keeps all rows."""
    if name == "None":
        return block.get("overall", block)  # type: ignore[no-any-return]
    short = {"nom": "nominative", "acc": "accusative", "poss": "possessive"}
    strata = {**block["by_case"], **block["by_pronoun_set"]}
    return strata[short.get(name, name)]  # type: ignore[no-any-return]


@pytest.mark.parametrize("config", ["double", "single"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_reference_of_the_upstream_scorer(goldens: Path, system: str, config: str) -> None:
    path = goldens / "data" / "winopron_scorer_reference.json"
    expected = json.loads(path.read_text(encoding="utf-8"))[f"{config}/{system}"]
    result = scores(winopron(), SYSTEMS[system])
    groupings = {
        "None": (result, "accuracy"),
        "template": (result["pronoun_consistency"], "score"),
        "coref_dir": (result["disambiguation_consistency"], "score"),
    }
    assert len(expected) == 24
    for key, numbers in expected.items():
        grouping, name = key.split("/")
        block, accuracy = groupings[grouping]
        names = {"p": "precision", "r": "recall", "acc": accuracy}
        ours = {short: stratum(block, name)[names.get(short, short)] for short in numbers}
        assert ours == pytest.approx(numbers, abs=1e-6), key


@pytest.mark.parametrize(
    ("system", "accuracy", "pronoun", "disambiguation"),
    [
        ("gold", 1, 1, 1),
        ("always_occupation", 0.5, 0.5, 0),
        ("none", 0, 0, 0),
        ("gold_but_abstain_on_xe", 0.75, 0, 0.75),
        ("acc_wrong_else_gold", 2 / 3, 2 / 3, 2 / 3),
    ],
)
def test_systems_with_known_scores(
    system: str, accuracy: float, pronoun: float, disambiguation: float
) -> None:
    result = scores(winopron(pairs=5), SYSTEMS[system])
    assert result["overall"]["accuracy"] == pytest.approx(accuracy)
    assert result["pronoun_consistency"]["score"] == pytest.approx(pronoun)
    assert result["disambiguation_consistency"]["score"] == pytest.approx(disambiguation)


def test_abstentions_are_no_false_positives() -> None:
    table = rows([("p", "nominative", 0), ("p", "nominative", 1)], ("he", "she"))
    answers = iter([Decision(0), Decision(1), NONE, BOTH])
    overall = scores(table, lambda row: next(answers))["overall"]
    assert (overall["tp"], overall["fp"], overall["fn"], overall["tn"]) == (1, 1, 3, 3)
    assert (overall["none"], overall["both"]) == (0.25, 0.25)
    assert (overall["precision"], overall["recall"]) == (0.5, 0.25)
    assert overall["f1"] == pytest.approx(1 / 3)


def test_precision_without_choices_is_marked() -> None:
    result = scores(winopron(pairs=2), SYSTEMS["gold_but_abstain_on_xe"])
    xe = result["by_pronoun_set"]["xe"]
    assert (xe["precision"], xe["precision_is_vacuous"], xe["f1"]) == (1.0, True, 0.0)
    assert not result["overall"]["precision_is_vacuous"]
    assert result["pronoun_consistency"]["precision_is_vacuous"]


@pytest.mark.parametrize(("sets", "left_out", "groups"), [(SETS, 48, 216), (SETS[:3], 36, 162)])
def test_groups_of_one_sentence_are_left_out(
    sets: tuple[str, ...], left_out: int, groups: int
) -> None:
    table = winogender(sets)
    block = scores(table, SYSTEMS["always_occupation"])["disambiguation_consistency"]
    assert (block["left_out"], block["groups"], block["n"]) == (left_out, groups, 2 * groups)
    assert (block["score"], block["chance"]) == (0, 0.25)
    block = scores(table, SYSTEMS["always_occupation"], upstream_groups=True)
    block = block["disambiguation_consistency"]
    assert (block["left_out"], block["groups"], block["n"]) == (0, left_out + groups, len(table))
    # half of the groups of one sentence have the occupation as answer
    assert block["score"] == pytest.approx(0.05)
    assert block["consistent"] == left_out / 2
    assert block["chance"] == pytest.approx((left_out * 0.5 + 2 * groups * 0.25) / len(table))


@pytest.mark.parametrize(
    ("sets", "chance"), [(SETS, 0.0625), (SETS[:3], 0.125), (SETS[:2], 0.25), (SETS[:1], None)]
)
def test_chance_of_pronoun_consistency(sets: tuple[str, ...], chance: float | None) -> None:
    block = scores(winogender(sets), SYSTEMS["gold"])["pronoun_consistency"]
    assert block["chance"] == chance
    assert block["by_pronoun_set"]["he"]["chance"] == chance
    assert block["left_out"] == (0 if chance else 120)


def test_a_set_without_rows_is_undefined() -> None:
    result = scores(winogender(SETS[:3]), SYSTEMS["gold"])
    empty = result["by_pronoun_set"]["xe"]
    undefined = {"accuracy", "answered", "precision", "recall", "f1"}
    undefined |= {"none", "both", "unfinished"}
    assert {name for name, value in empty.items() if value is None} == undefined
    assert empty["n"] == 0
    assert empty["interval"] == dict.fromkeys(undefined)
    assert {*empty["interval_missing"]} == undefined
    assert not empty["precision_is_vacuous"]
    assert result["by_case"]["accusative"]["n"] == 0


def test_an_empty_table_is_undefined() -> None:
    empty = pa.Table.from_pylist(winopron(1)).slice(0, 0)
    result = score(empty, [])
    json.dumps(result, allow_nan=False)
    assert result["overall"]["accuracy"] is None
    assert result["pronoun_consistency"]["score"] is None


def test_sets_of_the_user_come_last() -> None:
    table = rows([("p", "nominative", 0), ("p", "nominative", 1)], ("ze", *SETS))
    result = scores(table, SYSTEMS["gold_but_abstain_on_xe"])
    assert list(result["by_pronoun_set"]) == [*SETS, "ze"]
    assert result["by_pronoun_set"]["ze"]["accuracy"] == 1
    assert result["pronoun_consistency"]["chance"] == 0.5**5


def test_the_minimum_runs_over_prompts() -> None:
    table = pa.Table.from_pylist(winopron(pairs=2))
    choices = np.tile(table["label"].to_numpy()[:, None], 30)
    choices[0, 17] = choices_of([NONE])[0]
    result = score_choices(Sentences.of(table), choices)
    pronoun, disambiguation = result["pronoun_consistency"], result["disambiguation_consistency"]
    assert result["n"] == result["overall"]["n"] == table.num_rows * 30
    assert result["overall"]["fn"] == 1
    assert pronoun["groups"] - pronoun["consistent"] == 1
    assert pronoun["fn"] == 4 * 30
    assert disambiguation["fn"] == 2 * 30
    assert pronoun["fp"] == disambiguation["fp"] == 0
    # what a coin gets of all answers together depends on how alike the prompts are
    assert (pronoun["chance"], disambiguation["chance"]) == (None, None)
    alone = pronoun["over_answers"]
    assert alone["chance"] == 0.0625
    groups, prompts = 12, 30
    assert alone["mean"] == pytest.approx(1 - 1 / (groups * prompts))


def test_every_row_needs_a_decision() -> None:
    with pytest.raises(InputError, match="1 decisions for 24 rows"):
        score(pa.Table.from_pylist(winopron(pairs=1)), [NONE])


def test_unknown_case_names_the_row() -> None:
    table = [*winopron(pairs=1), *rows([("p", "nominativ", 0)])]
    with pytest.raises(InputError, match=r"id p-nominativ-0-he.*did you mean 'nominative'"):
        scores(table, SYSTEMS["gold"])


@pytest.mark.parametrize("dataset", TASKS)
def test_tasks_are_found_by_a_datasets_name(dataset: str) -> None:
    task = task_of(dataset)
    assert task.headline_measure in task.measures
    keys = [measure.key for measure in task.measures]
    assert len({*keys}) == len(keys)


def test_an_unknown_dataset_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'winopron'"):
        task_of("winpron")


# ---- the vectorised numbers against a plain loop over the rows


def plain_outcomes(labels: list[int], choices: list[int]) -> Block:
    """WinoPron's counts of single answers, one after the other."""
    counts = {"n": 0, "tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for label, choice in zip(labels, choices, strict=True):
        right, wrong = choice == label, choice == 1 - label
        counts["n"] += 1
        counts["tp" if right else "fn"] += 1
        counts["fp" if wrong else "tn"] += 1
    return counts


def plain_groups(table: list[Row], answers: list[list[int]], key: Callable[[Row], Any]) -> Block:
    """The counts of group minima by brute force, for every filter; groups of one are left out."""
    groups: dict[Any, list[int]] = {}
    for index, row in enumerate(table):
        groups.setdefault(key(row), []).append(index)
    filters: dict[str, Callable[[Row], bool]] = {"None": lambda row: True}
    filters |= {case: lambda row, case=case: row["case"] == case for case in CASES}
    filters |= {name: lambda row, name=name: row["pronoun_set"] == name for name in SETS}
    result = {}
    for name, wanted in filters.items():
        counts = dict.fromkeys(("n", "tp", "fp", "fn", "tn", "groups", "consistent", "left_out"), 0)
        for members in groups.values():
            selected = [i for i in members if wanted(table[i])]
            if len(members) == 1:
                counts["left_out"] += bool(selected)
                continue
            pairs = [(table[i]["label"], choice) for i in members for choice in answers[i]]
            tp = min(choice == label for label, choice in pairs)
            tn = min(choice != 1 - label for label, choice in pairs)
            size = sum(len(answers[i]) for i in selected)
            counts["n"] += size
            counts["tp" if tp else "fn"] += size
            counts["tn" if tn else "fp"] += size
            counts["groups"] += bool(selected)
            counts["consistent"] += bool(selected) and tp
        result[name] = counts
    return result


@st.composite
def answered(draw: st.DrawFn) -> tuple[list[Row], list[list[int]]]:
    """Rows of any structure with one to three answers each, -1 and -2 being abstentions."""
    template = st.tuples(st.sampled_from("abc"), st.sampled_from(CASES), st.integers(0, 1))
    templates = draw(st.lists(template, min_size=1, max_size=8, unique=True))
    table = draw(st.permutations(rows(templates)))
    table = table[: draw(st.integers(1, len(table)))]
    answer = st.lists(st.integers(-2, 1), min_size=(k := draw(st.integers(1, 3))), max_size=k)
    return table, draw(st.lists(answer, min_size=len(table), max_size=len(table)))


@settings(max_examples=60)
@given(answered())
def test_counts_and_groups_equal_plain_loops(example: tuple[list[Row], list[list[int]]]) -> None:
    table, answers = example
    sentences = Sentences.of(pa.Table.from_pylist(table))
    result = score_choices(sentences, np.array(answers))
    for name in ("None", *CASES, *SETS):
        flat = [
            (row["label"], choice)
            for row, choices in zip(table, answers, strict=True)
            for choice in choices
            if name in ("None", row["case"], row["pronoun_set"])
        ]
        block = stratum(result, name)
        expected = plain_outcomes([label for label, _ in flat], [choice for _, choice in flat])
        assert {key: block[key] for key in expected} == expected
        if flat:
            assert block["none"] == sum(choice == -1 for _, choice in flat) / len(flat)
            assert block["both"] == sum(choice == -2 for _, choice in flat) / len(flat)
    keys: dict[str, Callable[[Row], Any]] = {
        "pronoun_consistency": lambda row: row["template_id"],
        "disambiguation_consistency": lambda row: (
            row["pair_id"],
            row["case"],
            row["pronoun_set"],
        ),
    }
    for name, key in keys.items():
        for filtered, grouped in plain_groups(table, answers, key).items():
            block = stratum(result[name], filtered)
            assert {k: block[k] for k in grouped} == grouped


@given(st.lists(st.integers(0, 50), min_size=5, max_size=5))
def test_ratios_derive_from_counts(counts: list[int]) -> None:
    right, wrong, unfinished = *counts[:2], counts[4]
    outcomes = Outcomes(np.array(counts))
    n = sum(counts)
    assert (outcomes.n, outcomes.tp, outcomes.fp) == (n, right, wrong)
    assert (outcomes.fn, outcomes.tn) == (n - right, n - wrong)
    shares = {name: ratio(*share) for name, share in outcomes.shares.items()}
    assert n == 0 or shares["unfinished"] == unfinished / n
    if n == 0:
        assert np.isnan([*shares.values()]).all()
        return
    precision = right / (right + wrong) if right + wrong else np.nan
    recall = right / n
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    assert (shares["accuracy"], shares["recall"]) == (recall, recall)
    assert shares["precision"] == pytest.approx(precision, nan_ok=True)
    assert shares["f1"] == pytest.approx(f1)
    assert outcomes.precision_is_vacuous == (right + wrong == 0)


def test_forms_are_those_of_the_data_and_add_up_to_cases_and_sets() -> None:
    result = scores(winopron(), SYSTEMS["gold_but_abstain_on_xe"])
    forms = result["by_form"]
    assert list(forms) == [f"{case}/{name}" for case in CASES for name in SETS]
    assert {name: block["accuracy"] for name, block in forms.items() if block["accuracy"] < 1} == {
        f"{case}/xe": 0 for case in CASES
    }
    for name in SETS:
        block = result["by_pronoun_set"][name]
        assert block["n"] == sum(forms[f"{case}/{name}"]["n"] for case in CASES)
        # a form is not compared with the other forms
        assert set(block) == {*forms[f"nominative/{name}"], AGAINST_REST}
    original = scores(winogender(("he", "she", "they")), SYSTEMS["gold"])
    assert list(original["by_form"]) == [
        f"{case}/{name}" for case in ("nominative", "possessive") for name in SETS[:3]
    ]
