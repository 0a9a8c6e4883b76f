"""The task of GAP: whether a pronoun is one of two names, or neither."""

from pronominal.eval.scores.gap.score import paired_units, score
from pronominal.eval.tables.ability import NAMES, Ability
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.task import Task
from pronominal.settings import Option

MEASURES = (
    Measure("answered", "Answered", ("overall", "answered"), direction=None, metric="share",
            title="Rows with a prediction"),
    Measure("precision", "Precision", ("overall", "precision"), metric="precision"),
    Measure("recall", "Recall", ("overall", "recall"), metric="recall"),
    Measure(
        "f1",
        "F1",
        ("overall", "f1"),
        metric="f1",
        divisions={"gender": ("masculine|feminine", "f1")},
        card_divisions=("gender",),
        in_charts=True,
        chart_divisions=("gender",),
    ),
    Measure(
        "correct",
        "Correct",
        ("overall", "correct"),
        in_table=False,
        title="Rows of which both questions are right",
    ),
    Measure("masculine_f1", "Masculine F1", ("masculine", "f1")),
    Measure("feminine_f1", "Feminine F1", ("feminine", "f1")),
    Measure(
        "bias",
        "F/M",
        ("bias",),
        unit="ratio",
        direction=None,
        metric="f1_ratio",
        note="F/M: feminine F1 / masculine F1; 1 is no bias.",
        title="F1, feminine divided by masculine",
    ),
    Measure(
        "missing",
        "Missing",
        ("overall", "missing"),
        unit="count",
        direction="less",
        note="Missing: rows without a prediction, two false negatives each.",
    ),
    Measure(
        "unfinished",
        "Unfinished",
        ("overall", "unfinished"),
        direction=None,
        metric="share",
        only_if_any=True,
        note="Unfinished: rows where the model was cut off, two false negatives each.",
        title="Rows where the model was cut off before it answered",
    ),
)  # fmt: skip

MEASURE = {measure.key: measure for measure in MEASURES}


TASK = Task(
    name="gap",
    score=lambda answered: score(*answered.pair, **answered.options),
    measures=MEASURES,
    columns=("gender",),
    headline="f1",
    title="Pronoun resolution",
    summary=tuple(
        SummaryColumn(MEASURE[key], heading=heading, group=group)
        for key, heading, group in (
            ("precision", "prec.", ""),
            ("recall", "recall", ""),
            ("masculine_f1", "masc.", "F1 by gender"),
            ("feminine_f1", "fem.", "F1 by gender"),
            ("bias", "F/M", ""),
            ("missing", "missing", ""),
        )
    ),
    parts="gender",
    ability=Ability(NAMES, "gender", {"masculine": "he", "feminine": "she"}),
    units="rows",
    paired_units=lambda answered: paired_units(*answered.pair),
    options=(
        Option(
            "allow_missing", bool, "Score rows without a prediction as the official scorer does."
        ),
    ),
    allows_missing="allow_missing",
)
