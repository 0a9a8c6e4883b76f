"""The task of RUFF: which form of a pronoun goes on with a person who was introduced with it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.scores.ruff.samples import answered_split, margins_of, samples_of
from pronominal.eval.scores.ruff.score import paired_units, score, units
from pronominal.eval.scores.ruff.tables import tables
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.ability import REUSES, Ability
from pronominal.eval.tables.charts import Bars, Curves
from pronominal.eval.tables.comparison import division_table, spread_notes
from pronominal.eval.tables.measure import Measure, abstention_measures
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import Table
from pronominal.eval.task import Answered, Companion, Task

SCORED = ("label", "pronoun_set", "distractor_set", "case", "occupation")
"""The columns that scores are counted by."""

DIVISIONS = {"case": "by_case", "pronoun_set": "by_pronoun_set", "case/pronoun_set": "by_form"}

ACCURACY = Measure(
    "accuracy",
    "Accuracy",
    ("accuracy",),
    chance=0.25,
    metric="accuracy",
    divisions={part: (key, "*", "accuracy") for part, key in DIVISIONS.items()},
    in_charts=True,
    chart_divisions=("case/pronoun_set", "case", "pronoun_set"),
    note="People reach 99.8 on RUFF as published (its section 3.3). n counts a row once in each "
    "sample that has it.",
)

MEASURES = (
    ACCURACY,
    Measure(
        "sd",
        "sd",
        ("sd",),
        direction=None,
        metric="standard_deviation",
        in_table=False,
        title="Standard deviation of the accuracy over seeds",
    ),
    Measure(
        "context_free",
        "Without context",
        ("context_free", "n"),
        unit="count",
        direction=None,
        in_table=False,
    ),
    *abstention_measures(),
    Measure("accuracy_on_all_rows", "All rows", ("test", "accuracy"), chance=0.25),
    *(
        Measure(f"errors_{reason}", reason.capitalize(), ("errors", reason), direction=None,
                in_table=False)
        for reason in ("distraction", "bias", "other")
    ),
)  # fmt: skip


def _score(answered: Answered) -> Mapping[str, Any]:
    return score(
        _rows(answered.split),
        answered.decisions,  # type: ignore[arg-type]
        samples=samples_of(answered.split),
        context_free=answered.companion("context_free"),
        margins=None if answered.predictions is None else margins_of(answered.predictions),
    )


def _paired_units(answered: Answered) -> Mapping[str, PairedUnits]:
    samples = samples_of(answered.split)
    return paired_units(_rows(answered.split), answered.decisions, samples=samples)  # type: ignore[arg-type]


def _rows(split: Split) -> pa.Table:
    """Return what the scores need of rows; their options only where no form is right."""
    rows = split.columns(SCORED)
    return split.table if (numbers(rows["label"]) == -1).all() else rows


def _tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    title = "RUFF: accuracy by pronoun set and grammatical case"
    divisions = {"pronoun_set": "", "case": ""}
    notes = [*spread_notes(scores)]
    yield from division_table(title, {"": ACCURACY}, divisions, scores, notes)
    yield from tables(scores)


def _charts(scores: Mapping[str, Scores]) -> Iterator[Bars]:
    if any("errors" in one for one in scores.values()):
        title = "Why answers are wrong, in percent of the unambiguous errors"
        yield Bars("errors", title, {"errors": ("errors",)}, ("distraction", "bias", "other"))


TASK = Task(
    name="ruff",
    score=_score,
    measures=MEASURES,
    headline="accuracy",
    title="Pronoun fidelity",
    hub_task="fill-mask",
    units="occupations",
    units_of=units,
    paired_units=_paired_units,
    companions=(
        Companion(
            "context_free",
            "distractors_*",
            "no_context",
            "test",
            meaning="The same system's predictions of the config 'no_context'.",
        ),
    ),
    summary=(
        SummaryColumn(ACCURACY, division="pronoun_set", group="by pronoun set"),
        SummaryColumn(
            ACCURACY,
            division="case",
            group="by case",
            short={"nominative": "nom.", "accusative": "acc.", "possessive": "poss."},
        ),
    ),
    tables=_tables,
    charts=_charts,
    curves=Curves(
        "distractors",
        "Accuracy over the number of distractors",
        lambda config: config.removeprefix("distractors_") if "distractors_" in config else None,
        "pronoun_set",
    ),
    parts="pronoun_set",
    ability=Ability(REUSES, "pronoun_set"),
    answered_split=answered_split,
)
