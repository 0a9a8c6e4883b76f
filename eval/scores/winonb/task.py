"""The task of WinoNB: whether *they* is a group or an individual."""

from collections.abc import Iterator, Mapping
from typing import Any

from pronominal.eval.scores.winonb.answers import clustered_pronouns, schemas_of, units
from pronominal.eval.scores.winonb.hypothesis_tests import across_systems
from pronominal.eval.scores.winonb.score import paired_units, score
from pronominal.eval.scores.winonb.tables import PLACES, tables
from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.ability import SINGULAR_THEY, Ability
from pronominal.eval.tables.charts import Bars, Chart, Dots
from pronominal.eval.tables.comparison import division_table, parts_of
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import Table
from pronominal.eval.task import Answered, Companion, Task

ALL = ("by_source", "all")
"""Where the scores of all sources are."""

DIVISIONS = {"source": "by_source", "association": "by_association", "name": "by_name"}

SINGULAR, PLURAL = (
    Measure(
        number,
        f"{number.capitalize()} they",
        (*ALL, number, "accuracy"),
        metric="accuracy",
        divisions={part: (key, "*", number, "accuracy") for part, key in DIVISIONS.items()},
        card_divisions=("source",),
        title=f"Accuracy on {number} they",
    )
    for number in ("singular", "plural")
)

ANSWERED = Measure(
    "answered",
    "Answered",
    (*ALL, "singular", "answered"),
    direction=None,
    metric="share",
    title="Rows with singular they and one answer",
    note="Answered: rows with singular they that were resolved to the individual or the group.",
)

CORRECT = Measure(
    "correct",
    "Correct",
    ("overall", "correct"),
    in_table=False,
    title="Rows with singular or plural they that are right",
)

UNFINISHED = Measure(
    "unfinished",
    "Unfinished",
    (*ALL, "singular", "unfinished"),
    direction=None,
    metric="share",
    only_if_any=True,
    title="Rows with singular they where the model was cut off before it answered",
)

GENERIC = Measure(
    "generic_singular",
    "Generic they",
    ("generic", *ALL, "singular", "accuracy"),
    divisions={"source": ("generic", "by_source", "*", "singular", "accuracy")},
    note="Generic they: singular they where the individual is someone.",
)

RATIOS = (
    Measure(
        "less_likely_than_plural",
        "Less likely than plural",
        ("ratios", "less_likely_than_plural"),
        direction="less",
        in_table=False,
    ),
    Measure(
        "generic_to_personal",
        "Generic / personal",
        ("ratios", "generic_to_personal"),
        unit="ratio",
        direction=None,
        in_table=False,
    ),
)


def _score(answered: Answered) -> Mapping[str, Any]:
    return score(
        *answered.pair,
        clustered=clustered_pronouns(answered.table, answered.given()),
        generic=answered.companion("generic"),
        **answered.options,
    )


def _tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    numbers = {" si.": SINGULAR, " pl.": PLURAL}
    notes = ["si.: singular they; pl.: plural they; ge.: singular generic they."]
    title = "WinoNB: accuracy by source"
    yield from division_table(title, {**numbers, " ge.": GENERIC}, {"source": ""}, scores, notes)
    if any(one["by_name"] for one in scores.values()):
        title = "WinoNB: accuracy by the names' association"
        yield from division_table(title, numbers, {"association": ""}, scores)
    title = "WinoNB: accuracy on singular they by name"
    yield from division_table(title, {"": SINGULAR}, {"name": ""}, scores)
    yield from tables(scores)


def _charts(scores: Mapping[str, Scores]) -> Iterator[Chart]:
    for kind in ("source", "association"):
        panels: dict[str, dict[str, Keys]] = {}
        for series, measure in (("singular", SINGULAR), ("plural", PLURAL)):
            for (name,), path in parts_of(measure, kind, scores.values()):
                panels.setdefault(name, {})[series] = path
        if kind == "source":
            for (name,), path in parts_of(GENERIC, kind, scores.values()):
                panels.setdefault(name, {})["generic singular"] = path
        yield Dots(f"by-{kind}", f"Accuracy on each kind of they, by {kind}", panels)
    numbers = {m.key: m.path[:-1] for m in (SINGULAR, PLURAL) if any(map(m.of, scores.values()))}
    divided = {"neither": ("elsewhere", "unresolved")}
    yield Bars("answers", "Where the answers went", numbers, PLACES, divided)


TASK = Task(
    name="winonb",
    score=_score,
    measures=(SINGULAR, ANSWERED, UNFINISHED, PLURAL, GENERIC, CORRECT, *RATIOS),
    columns=("source", "number", "association", "individual"),
    headline="singular",
    title="Pronoun resolution",
    units="schemas, each with all its names and the rows that repeat its sentence",
    units_of=lambda rows: units(rows, schemas_of(rows)),
    paired_units=lambda answered: paired_units(
        *answered.pair, generic=answered.companion("generic")
    ),
    companions=(
        Companion(
            "generic",
            "personal",
            "generic",
            meaning="The same system's predictions of the config 'generic'.",
        ),
    ),
    summary=(
        SummaryColumn(PLURAL, heading="plural"),
        SummaryColumn(GENERIC, heading="generic"),
        SummaryColumn(SINGULAR, division="association", group="singular by name"),
    ),
    tables=_tables,
    charts=_charts,
    parts="association",
    ability=Ability(SINGULAR_THEY, all_rows="they"),
    across_systems=across_systems,
)
