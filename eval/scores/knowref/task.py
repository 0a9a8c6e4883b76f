"""The task of KnowRef and of rows in its form: which of two people is meant."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pronominal.eval.scores.knowref.score import paired_units, refuse_unlabelled, score, units
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.ability import NAMES, Ability
from pronominal.eval.tables.charts import Bars
from pronominal.eval.tables.comparison import division_table, measure_table
from pronominal.eval.tables.measure import Measure, abstention_measures
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import Table, percent
from pronominal.eval.task import Companion, Task

UNITS = "sentences, each with its switched version and the rows that repeat it"

PARTS = {"pronoun_gender": "Pronoun ", "right_mention": "Right mention ", "length": "Words "}
"""Kind of part -> what its columns are called; the scores have it as ``by_PART``."""


def _by_part(*path: str) -> dict[str, tuple[str, ...]]:
    """Return where a number is for each part, the last of the keys being its own."""
    names = dict.fromkeys(PARTS, "*") | {"right_mention": "first|second"}
    return {part: (*path[:-1], f"by_{part}", name, path[-1]) for part, name in names.items()}


CORRECT = Measure(
    "correct",
    "Correct",
    ("correct",),
    divisions=_by_part("correct"),
    in_charts=True,
    chart_divisions=tuple(PARTS),
    note="Correct: share of all rows; those without an answer are not correct.",
)

ANSWERED, *ABSTENTIONS = abstention_measures(in_charts=True)

ACCURACY = Measure(
    "task_specific_accuracy",
    "Task-specific accuracy",
    ("task_specific_accuracy",),
    chance=0.5,
    metric="accuracy",
    divisions=_by_part("task_specific_accuracy"),
    in_charts=True,
    note="Task-specific accuracy: correct / (correct + incorrect), of the answered rows alone.",
    answered=ANSWERED,
)

RIGHT_IN_BOTH = Measure(
    "consistently_correct",
    "Right in both",
    ("consistency", "consistently_correct"),
    chance=0.25,
    metric="accuracy",
    divisions=_by_part("consistency", "consistently_correct"),
    in_charts=True,
    note="Right in both: share of the pairs of an original and its switched version.",
    title="Right in both versions",
)

OUTCOMES = (
    Measure("incorrect", "Incorrect", ("incorrect",), direction="less", in_table=False),
    *(replace(measure, in_table=False, in_charts=False) for measure in ABSTENTIONS),
    Measure(
        "balanced_accuracy",
        "Balanced accuracy",
        ("balanced_accuracy",),
        in_table=False,
        note="Balanced accuracy: mean over rows whose first, and whose second mention is right.",
    ),
    Measure(
        "first_mention",
        "First mention",
        ("first_mention",),
        direction=None,
        in_table=False,
        note="First mention: share of the choices that are the first mention.",
    ),
)
"""Of the paper's Table 3, and how answers follow the order of the mentions."""

CONSISTENCY = (
    Measure(
        "consistency",
        "Consistency",
        ("consistency", "score"),
        direction=None,
        metric="consistency",
        divisions=_by_part("consistency", "score"),
        in_table=False,
        in_charts=True,
        title="Consistency under switched names",
        note="Consistency alone is won by ignoring the sentence: a fixed position scores 100.",
    ),
    Measure(
        "consistency_decided",
        "Of decided pairs",
        ("consistency", "score_decided"),
        direction=None,
        in_table=False,
        title="Consistency of pairs with a choice in both versions",
        note="Of decided pairs: consistency where there is a choice in both versions.",
    ),
    Measure(
        "consistency_any_change",
        "Any change",
        ("consistency", "score_any_change"),
        direction=None,
        in_table=False,
        title="Consistency, abstentions counted as changes",
        note="Any change: consistency where abstaining in one version only counts as a change.",
    ),
    Measure(
        "consistently_wrong",
        "Wrong in both",
        ("consistency", "consistently_wrong"),
        direction="less",
        in_table=False,
    ),
    Measure(
        "switched_accuracy",
        "Switched accuracy",
        ("switched", "task_specific_accuracy"),
        in_table=False,
    ),
)
"""Of the paper's Table 4: what becomes of answers when the candidates change places."""


def _tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    for table in measure_table("Outcomes", (CORRECT, *OUTCOMES), UNITS, scores):
        first = dict.fromkeys(_first_is_right(one) for one in scores.values())
        note = f"The first mention is right in {', '.join(first)} of the rows."
        yield Table(table.title, table.columns, table.rows, (*table.notes, note))
    title = "Consistency under antecedent switching"
    yield from measure_table(
        title, (CONSISTENCY[0], RIGHT_IN_BOTH, *CONSISTENCY[1:]), UNITS, scores
    )
    title = "Correct, and accuracy of the answered rows (acc.), by kind of row"
    yield from division_table(title, {"": CORRECT, " acc.": ACCURACY}, PARTS, scores)


def _first_is_right(scores: Scores) -> str:
    first, second = (scores["by_right_mention"][name]["n"] for name in ("first", "second"))
    return f"{percent(first / (first + second) if first + second else None)} %"


def _charts(scores: Mapping[str, Scores]) -> Iterator[Bars]:
    versions: dict[str, tuple[str, ...]] = {"original": ()}
    if any("switched" in one for one in scores.values()):
        versions["switched"] = ("switched",)
    parts = ("correct", "incorrect", "none", "both", "unfinished")
    yield Bars("outcomes", "What the answers were", versions, parts)


TASK = Task(
    name="knowref",
    score=lambda answered: score(
        *answered.pair, switched=answered.companion("switched"), **answered.options
    ),
    measures=(RIGHT_IN_BOTH, CORRECT, ANSWERED, ACCURACY, *OUTCOMES, *CONSISTENCY),
    headline="consistently_correct",
    title="Pronoun resolution",
    units=UNITS,
    units_of=units,
    paired_units=lambda answered: paired_units(
        *answered.pair, switched=answered.companion("switched")
    ),
    companions=(
        Companion(
            "switched",
            "original",
            "switched",
            meaning="Predictions of the same rows in the config 'switched'.",
        ),
    ),
    summary=(
        SummaryColumn(CORRECT, heading="of all", group="correct"),
        SummaryColumn(ACCURACY, heading="of answered", group="correct"),
        SummaryColumn(CORRECT, division="pronoun_gender", group="correct by pronoun"),
        SummaryColumn(CONSISTENCY[0]),
    ),
    tables=_tables,
    charts=_charts,
    consistency="consistency",
    parts="pronoun_gender",
    ability=Ability(NAMES, "pronoun_gender", {"masculine": "he", "feminine": "she"}),
    refuse=lambda split: refuse_unlabelled(split.table),
)
