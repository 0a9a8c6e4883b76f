"""The task of WinoPron, of Winogender in its form, and of the sample: which entity is meant."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.building.sources import Sources
from pronominal.eval.scores.winopron.bias_tables import bias_map, bias_remarks, percentage_tables
from pronominal.eval.scores.winopron.by_occupation import occupation_remarks
from pronominal.eval.scores.winopron.occupations import correlation_tables, read_occupations
from pronominal.eval.scores.winopron.score import paired_units, score, score_choices
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.ability import RESOLVES, Ability
from pronominal.eval.tables.comparison import division_table, measure_table
from pronominal.eval.tables.findings import listed
from pronominal.eval.tables.measure import Measure, abstention_measures
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import Table, percent_of, table
from pronominal.eval.task import Answered, Task
from pronominal.settings import Option

DIVISIONS = {"case": "by_case", "pronoun_set": "by_pronoun_set", "case/pronoun_set": "by_form"}
"""Kind of part -> where the scores have its parts."""


def _by_part(name: str) -> dict[str, tuple[str, ...]]:
    """Return where a number of answers is for each part of the divisions."""
    return {part: (key, "*", name) for part, key in DIVISIONS.items()}


def _consistency(key: str, paper: str, right: str) -> tuple[Measure, Measure]:
    """Return the share of a consistency's groups that are right as a whole, and its F1."""
    heading = key.replace("_", " ").capitalize()
    divisions = {part: (key, DIVISIONS[part], "*", "score") for part in ("case", "pronoun_set")}
    share = Measure(
        key,
        heading,
        (key, "score"),
        chance=(key, "chance"),
        guessed_where="bias",
        metric="consistency",
        divisions=divisions,
        in_table=False,
        in_charts=True,
        note=f"{heading} ({paper}): right {right}.",
    )
    return share, Measure(f"{key}_f1", f"{heading} F1", (key, "f1"), in_table=False)


EXPECTED = {
    "independent": "if independent",
    "least": "at least",
    "most": "at most",
}
"""What a consistency is seen against -> its heading; see `Groups.expectations`."""


CONSISTENCIES = (
    *_consistency("pronoun_consistency", "PronounC", "with every pronoun set"),
    *_consistency("disambiguation_consistency", "DisambigC", "in both sentences of a pair"),
)
"""Of WinoPron's Table 3."""

UNITS = "occupations"

ACCURACY = Measure(
    "accuracy",
    "Accuracy",
    ("overall", "accuracy"),
    chance=0.5,
    guessed_where="bias",
    metric="accuracy",
    divisions=_by_part("accuracy"),
    in_charts=True,
    chart_divisions=("case/pronoun_set", "case", "pronoun_set"),
)

ANSWERED, *ABSTENTIONS = abstention_measures(
    "overall",
    divided=_by_part,
    note="None, Both: answers that name neither entity, or both; they are not right.",
)

BIAS = Measure(
    "bias",
    "Biased pairs",
    ("bias", "overall", "percentage"),
    direction=None,
    in_table=False,
    title="Biased template pairs, of the solvable ones",
)

MEASURES = (
    ACCURACY,
    ANSWERED,
    Measure("precision", "Precision", ("overall", "precision"), metric="precision"),
    Measure("recall", "Recall", ("overall", "recall"), metric="recall"),
    Measure(
        "f1",
        "F1",
        ("overall", "f1"),
        metric="f1",
        divisions=_by_part("f1"),
        card_divisions=("case", "pronoun_set"),
    ),
    *ABSTENTIONS,
    *CONSISTENCIES,
    BIAS,
)


def _score(answered: Answered) -> Mapping[str, Any]:
    options = dict(answered.options)
    return score(*answered.pair, occupations=options.pop("sources", None), **options)


def _tables(scores: Mapping[str, Scores]) -> Iterator[Table]:
    title = "Accuracy by grammatical case, and by pronoun set"
    yield from division_table(title, {"": ACCURACY}, {"case": "", "pronoun_set": ""}, scores)
    title = "Consistency (WinoPron, section 4.3)"
    for made in measure_table(title, CONSISTENCIES, UNITS, scores):
        yield replace(made, notes=(*made.notes, *_left_out(scores)))
    yield from _expectations(scores)
    yield from percentage_tables(scores)
    yield from correlation_tables(scores)


def _expectations(scores: Mapping[str, Scores]) -> Iterator[Table]:
    """Show what consistencies the systems' accuracies leave room for."""
    columns = {
        f"{measure.heading.removesuffix(' consistency')}, {heading}": percent_of(name, measure.key)
        for measure in CONSISTENCIES[::2]
        for name, heading in EXPECTED.items()
    }
    notes = [
        "If independent: the product of a system's own accuracies, on each pronoun set or on each "
        "ending of a sentence; at least, at most: what these accuracies leave room for.",
        f"No interval for {', '.join(EXPECTED.values())}: they follow from the accuracies above.",
    ]
    if any(
        one[m.key].get("independent") is not None
        for one in scores.values()
        for m in CONSISTENCIES[::2]
    ):
        yield table("What consistency can be expected", columns, scores, notes)


def _left_out(scores: Mapping[str, Scores]) -> list[str]:
    counts = {
        m.heading: one[m.key]["left_out"] for one in scores.values() for m in CONSISTENCIES[::2]
    }
    return [f"{name}: {n} groups of one sentence are left out." for name, n in counts.items() if n]


def _remarks(scores: Mapping[str, Scores]) -> Iterator[str]:
    yield from _consistent_without_reading(scores)
    yield from bias_remarks(scores)
    yield from occupation_remarks(scores)


def _consistent_without_reading(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say which systems are consistent because they choose alike whatever the sentence says."""
    sets, pairs = CONSISTENCIES[::2]
    alike = [
        label
        for label, one in scores.items()
        if sets.ends_in(one)[0] > (sets.chance_in(one) or 1)
        and pairs.ends_in(one)[1] < (pairs.chance_in(one) or 0)
    ]
    if alike:
        seldom = "both sentences of a pair are seldom right"
        yield f"{sets.name} of {listed(alike)} is no sign of reading: {seldom}."


ONE_NAMED = (
    "These sentences name one entity only: a system that chooses between candidates can be right "
    "without reading, so compare only those that find mentions in the text. Guessing has no level."
)
"""What has to be known of such rows, as those of the config ``single``."""


def _notes(scores: Mapping[str, Scores]) -> Iterator[str]:
    """Say what figures mean where sentences name one entity, which is where nothing is biased."""
    if any("bias" in one and one["bias"] is None for one in scores.values()):
        yield ONE_NAMED


TASK = Task(
    name="winopron",
    score=_score,
    measures=MEASURES,
    columns=("occupation", "case", "pronoun_set", "template_id", "pair_id"),
    headline="accuracy",
    title="Pronoun resolution",
    units=UNITS,
    units_of=lambda rows: Sentences.of(rows).units,
    paired_units=lambda answered: paired_units(*answered.pair),
    options=(
        Option(
            "sources",
            Path,
            "Winogender's upstream files, to correlate with occupation statistics.",
            read=lambda folder: read_occupations(Sources(folder)),
        ),
        Option(
            "upstream_groups",
            bool,
            "Count groups of one sentence too, as the upstream scorer does.",
        ),
    ),
    summary=(
        SummaryColumn(ACCURACY, division="pronoun_set", group="by pronoun set"),
        *(
            SummaryColumn(measure, heading=over, group="consistent")
            for measure, over in zip(CONSISTENCIES[::2], ("sets", "pairs"), strict=True)
        ),
    ),
    remarks=_remarks,
    notes=_notes,
    tables=_tables,
    charts=bias_map,
    consistency="pronoun_consistency",
    parts="pronoun_set",
    ability=Ability(RESOLVES, "pronoun_set"),
    score_choices=lambda split, choices: score_choices(Sentences.of(split.table), choices),
)
