"""Each kind of score has its chart, and the notes below it say what is in it and no more."""

import re
from importlib.resources import files
from typing import Any

import pytest

from pronominal.eval.report.charts import of_task
from pronominal.eval.report.charts.drawings import Drawer, Drawing
from pronominal.eval.report.charts.grids import grid
from pronominal.eval.report.charts.paired_test_map import paired_test_map
from pronominal.eval.scores import task_of
from pronominal.eval.scores.ruff.task import TASK as RUFF
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.charts import Head, Map, Sign
from pronominal.eval.tables.table import Table
from tests.eval.scores.tables import tables_of

PROMPTED = {"n": 4, "accuracy": 0.5, "sd": 0.1, "lowest": 0.25, "highest": 0.75}
F1 = {"n": 4, "f1": 0.5}
BLOCK = {"n": 9, "accuracy": 0.5, "sd": 0.1}
TEST = {"n": 10, "only_this": 8, "only_other": 0, "p": 0.008, "p_holm": 0.008}
TEST |= {"interval": {"difference": [0.1, 1.0]}, "minimum_detectable_effect": 0.3}


def figures(dataset: str, scores: dict[str, Any]) -> list[Drawing]:
    compared = {system: Scores(one) for system, one in scores.items()}
    return [*of_task.task_drawings(task_of(dataset), compared, 8)]


def curves(split: str, scores: dict[str, dict[str, Any]]) -> list[Drawing]:
    compared = {c: {s: Scores(one) for s, one in found.items()} for c, found in scores.items()}
    assert RUFF.curves is not None
    return [*of_task.curves(RUFF, RUFF.curves, split, compared)]


@pytest.mark.parametrize(
    ("dataset", "score", "name", "drawn"),
    [
        (
            "ruff",
            {"by_form": {"nominative/he": BLOCK, "nominative/xe": BLOCK}},
            "accuracy-by-case-and-pronoun-set",
            2,
        ),
        (
            "ruff",
            {"errors": {"n": 9, "distraction": 0.5, "bias": 0.25, "other": 0.25}},
            "errors",
            3,
        ),
        (
            "winonb",
            {"by_source": {"all": {n: {"n": 4, "accuracy": 0.5} for n in ("singular", "plural")}}},
            "by-source",
            2,
        ),
        (
            "winopron",
            {"prompts": PROMPTED | {"by_prompt": {p: {"n": 4, "accuracy": 0.5} for p in "abc"}}},
            "prompts",
            3,
        ),
        (
            "gap",
            {b: {"n": 4, "f1": 0.5} for b in ("overall", "masculine", "feminine")},
            "f1-by-gender",
            2,
        ),
    ],
)
def test_each_kind_of_score_has_its_chart(
    dataset: str, score: dict[str, Any], name: str, drawn: int
) -> None:
    found = {figure.name: figure for figure in figures(dataset, {"one": score})}
    marks = sum(panel.count("data-value=") for panel, *_ in found[name].panels)
    assert marks == drawn


def test_no_abstention_is_drawn_twice() -> None:
    shares = {"n": 4, "individual": 0.5, "group": 0.25, "neither": 0.25, "both": 0.0}
    choosing = shares | {"accuracy": 0.5, "elsewhere": None, "unresolved": None}
    clusters = choosing | {"elsewhere": 0.125, "unresolved": 0.125}
    scores = {
        system: {"by_source": {"all": {"singular": block, "plural": block}}}
        for system, block in (("choosing", choosing), ("clusters", clusters))
    }
    found = {figure.name: figure for figure in figures("winonb", scores)}["answers"]
    for panel, *_ in found.panels:
        assert sum(map(float, re.findall(r'data-value="([^"]+)"', panel))) == len(scores)
    styles = files("pronominal.eval.report.charts").joinpath("chart.css").read_text()
    assert all(f".{colour} {{" in styles for colour, _ in found.legend)


def test_readings_that_differ_are_drawn() -> None:
    (figure,) = figures("winopron", {"one": {"n": 8, "readings_differ": 2}})
    assert figure.table.rows == (("one", "8", "2"),)


def test_curves_go_over_the_distractors() -> None:
    one = {"accuracy": 0.5, "sd": 0.1, "n": 9, "by_pronoun_set": {"xe": BLOCK}, "by_seed": {}}
    (figure,) = curves("test", {f"distractors_{k}": {"one": one} for k in range(6)})
    assert figure.table.columns == ("System", "Rows", *"012345")
    assert [panel.count("data-value=") for panel, *_ in figure.panels] == [6, 6]
    assert list(curves("test", {"distractors_0": {"one": one}})) == []


def test_many_systems_can_be_told_apart() -> None:
    one = {"accuracy": 0.5, "sd": None, "n": 9, "by_pronoun_set": {}, "by_seed": {}}
    systems = {f"system {number}": one for number in range(32)}
    (figure,) = curves("test", {f"distractors_{k}": systems for k in range(2)})
    marks = re.findall(r'd="([^"]+)"[^>]* class="(mark s\d)"', figure.panels[0].drawn)
    assert len(set(marks)) == len(systems)


def test_one_sample_has_no_deviation_to_explain() -> None:
    one = {"accuracy": 0.5, "sd": None, "n": 9, "by_pronoun_set": {}, "by_seed": {"13": {}}}
    (figure,) = curves("seed_13", {f"distractors_{k}": {"one": one} for k in range(2)})
    assert not any("deviation" in note for note in figure.table.notes)


@pytest.mark.parametrize(("sd", "said"), [(None, False), (0.1, True)])
def test_the_table_of_accuracies_explains_deviations_where_there_are_any(
    sd: float | None, said: bool
) -> None:
    one = {"n": 9, "accuracy": 0.5, "sd": sd, "none": 0.0, "both": 0.0}
    (table,) = tables_of(RUFF, {"one": one | {"by_pronoun_set": {}, "by_case": {}}})
    assert any("standard deviation" in note for note in table.notes) == said


def test_parts_of_a_whole_have_no_interval_to_explain() -> None:
    drawn = {"unit": "id", "units": 9, "resamples": 20, "level": 0.95, "seed": 0}
    score = {"n": 9, "task_specific_accuracy": 0.5, "correct": 0.5, "incorrect": 0.5}
    score |= {"none": 0.0, "both": 0.0, "bootstrap": drawn}
    outcomes = next(one for one in figures("knowref", {"one": score}) if one.name == "outcomes")
    assert outcomes.table.notes == ("n = 9.",)
    assert "resamples" not in outcomes.panels[0][1]


@pytest.mark.parametrize(
    ("p", "signs"), [(0.008, ("▲", "▼")), (0.5, ("≈", "≈")), (None, ("?", "?"))]
)
def test_matrix_says_who_is_better(p: float | None, signs: tuple[str, str]) -> None:
    test = TEST | {"p": p, "p_holm": p, "test": "mcnemar", "difference": 0.9}
    other = test | {"only_this": 0, "only_other": 8, "difference": -0.9}
    scores = {"a": {"against": {"correct": {"b": test}}}}
    scores["b"] = {"against": {"correct": {"a": other}}}
    compared = {system: Scores(one) for system, one in scores.items()}
    (figure,) = Drawer(compared, "rows").drawings(*paired_test_map(compared))
    drawn = figure.panels[0].drawn
    assert re.findall(r"<text[^>]*>([▲▼≈?])<", drawn) == list(signs)
    assert "n = 10" in drawn


def test_a_map_of_many_systems_is_written_in_few_bytes() -> None:
    names = [f"system-{number:02}" for number in range(20)]
    cells = [Sign("≈", "none", "as told") for _ in names]
    drawn = grid("accuracy", [Head(n, system=n) for n in names], dict.fromkeys(names, cells), 26.0)
    assert drawn.count("as told") == len(names) ** 2
    assert len(drawn) < 150 * len(names) ** 2  # it was 230


def test_rows_of_a_map_about_systems_are_not_hidden_with_a_system() -> None:
    signs = {"nurse": [Sign("+", "positive", "chosen too often")]}
    grids = {"a": ([Head("he")], signs)}
    table = Table("Bias", ("System",), ())
    for about, rows in ((True, 0), (False, 1)):
        (figure,) = Drawer({}, "rows").drawings(Map("bias", grids, {}, table, about_systems=about))
        assert figure.panels[0].drawn.count('data-system="nurse"') == rows


def test_units_of_several_rows_are_right_more_often() -> None:
    item = TEST | {"difference": 0.9, "test": "mcnemar"}
    unit = item | {"test": "permutation"}
    scores = {
        one: {"against": {"correct": {other: item}, "accuracy": {other: unit}}}
        for one, other in (("a", "b"), ("b", "a"))
    }
    compared = {system: Scores(one) for system, one in scores.items()}
    (figure,) = Drawer(compared, "rows").drawings(*paired_test_map(compared))
    items, units = (panel.drawn for panel in figure.panels)
    assert "a alone right: 8, b alone: 0, n = 10; difference +90.0" in items
    assert (
        "Units with a more often right: 8, with b: 0, n = 10; difference +90.0 [+10.0, +100.0]; "
        in units
    )
    of_one = [note for note in figure.table.notes if note.startswith("Of accuracy: ")]
    assert any("permutation test" in note for note in of_one)
    assert "Each measure is corrected by itself." in figure.table.notes
