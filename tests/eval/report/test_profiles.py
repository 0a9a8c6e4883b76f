"""A model's profile over all datasets, from scores made by hand."""

from dataclasses import replace
from typing import Any

import pytest

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.card import citation_year
from pronominal.errors import InputError
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.profiles import profiles
from pronominal.eval.report.scored import Comparison
from pronominal.eval.runs.record import DatasetRecord, RunRecord, SystemRecord, Times
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Scores


def block(value: float) -> dict[str, Any]:
    ends = [max(0.0, value - 0.05), min(1.0, value + 0.05)]
    return {"n": 90, "accuracy": value, "interval": {"accuracy": ends}}


def comparison(dataset: str, config: str, **systems: dict[str, Any]) -> Comparison:
    record = RunRecord(
        dataset=DatasetRecord(dataset, config, "test", "0" * 64, 90),
        system=SystemRecord("mine", "choosing"),
        checkpoint=None,
        settings={},
        label="mine",
        versions={},
        self_check=(),
        times=Times(""),
        counts={},
        complete=True,
    )
    scores = {label: Scores(one) for label, one in systems.items()}
    rows = (dataset, config, "test", "0" * 64)
    return Comparison(*rows, task_of(dataset), scores, dict.fromkeys(scores, record))


def resolves(**sets: float) -> dict[str, Any]:
    return {"overall": block(0.7), "by_pronoun_set": {s: block(v) for s, v in sets.items()}}


def reuses(**sets: float) -> dict[str, Any]:
    return {**block(0.5), "by_pronoun_set": {s: block(v) for s, v in sets.items()}}


def both() -> list[Comparison]:
    """WinoPron, where guessing gets 50, and RUFF, where it gets 25."""
    return [
        comparison("ruff", "distractors_0", one=reuses(he=0.9, she=0.2, they=0.4, xe=0.27)),
        comparison("winopron", "double", one=resolves(he=0.9, she=0.8, they=0.5, xe=0.4)),
    ]


def test_what_is_resolved_and_not_reused_is_mapped() -> None:
    _, reuse = profiles(both(), {})
    assert [row[2:] for row in reuse.table.rows] == [
        (
            "● resolves it, and keeps using it",
            "◐ resolves it, and does not keep using it",
            "◑ keeps using it, and does not resolve it",
            "○ neither",
        )
    ]


def test_a_profile_has_a_row_for_each_split_in_the_order_of_abilities() -> None:
    profile, _ = profiles(both(), {})
    (first, second) = profile.table.rows
    assert first[:4] == ("one", "resolves", "winopron / double / test", "70.0 [65.0, 75.0]")
    assert second[:3] == ("one", "keeps using", "ruff / distractors_0 / test")
    assert ">90.0<" in profile.panels[0].drawn


def test_one_dataset_is_no_profile() -> None:
    assert [*profiles(both()[:1], {})] == []


def starred(made: Drawing) -> list[str]:
    return [row[2] for row in made.table.rows if row[2].endswith("*")]


@pytest.mark.parametrize(
    ("released", "marked"), [({}, 0), ({"one": "2024-12"}, 0), ({"one": "2025-01-31"}, 2)]
)
def test_data_that_is_older_than_a_model_is_marked(released: dict[str, str], marked: int) -> None:
    profile, _ = profiles(both(), released)
    assert len(starred(profile)) == marked


@pytest.mark.parametrize(
    ("checkpoint", "marked"),
    [("EleutherAI/pythia-70m@main", 1), ("facebook/opt-125m", 0), ("mine/unknown", 0)],
)
def test_models_of_the_papers_have_their_year(checkpoint: str, marked: int) -> None:
    """Pythia is of 2023, OPT of 2022, as WinoNB; WinoPron of 2024."""
    singular = {"by_source": {"all": {"singular": block(0.7)}}}
    compared = [both()[1], comparison("winonb", "generic", one=singular)]
    for one in compared:
        one.runs["one"] = replace(one.runs["one"], checkpoint_name=checkpoint)
    profile, *_ = profiles(compared, {})
    assert starred(profile) == ["winonb / generic / test *"][:marked]
    assert starred(next(profiles(compared, {"one": "2021"}))) == []


@pytest.mark.parametrize("released", [{"two": "2025"}, {"one": "soon"}])
def test_dates_that_are_none_are_refused(released: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(released))):
        [*profiles(both(), released)]


def test_every_published_dataset_says_when_it_was_cited() -> None:
    years = {name: citation_year(name) for name in DATASETS}
    assert years["knowref"] == 2019
    assert {name for name, year in years.items() if year is None} <= {"sample"}
