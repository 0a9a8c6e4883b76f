"""The comparison tables of KnowRef."""

from collections.abc import Mapping

from pronominal.eval.statistics.paired_tests import paired_test_tables
from pronominal.eval.tables.table import (
    Cell,
    Score,
    Table,
    interval_notes,
    percent,
    table,
    with_interval,
)

UNITS = "sentences, each with its switched version and the rows that repeat it"
"""What intervals resample."""

DIVISIONS = {
    "by_pronoun_gender": "Pronoun",
    "by_right_mention": "Right mention",
    "by_length": "Words",
}
"""Division of a score -> how its columns are called."""


def tables(scores: Mapping[str, Score]) -> list[Table]:
    """Compare systems as the paper's Tables 3 and 4 do, in percent, and by kinds of rows.

    Args:
        scores: system -> its `score`; with ``against`` in the scores, paired tests come last.
    """
    switched = {system: score for system, score in scores.items() if "consistency" in score}
    made = [_headline(scores), _outcomes(scores)]
    if switched:
        made.append(_consistency(switched))
    return [*made, _divisions(scores), *paired_test_tables(scores)]


def _headline(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {
        "n": lambda score: f"{score['n']:,}",
        "Task-specific accuracy": lambda score: with_interval(score, "task_specific_accuracy"),
    }
    notes = ["Task-specific accuracy: correct / (correct + incorrect)."]
    if any("consistency" in score for score in scores.values()):
        columns["Right in both"] = _consistently_correct
        notes.append("Right in both: pairs of an original and its switched version; n is rows.")
    return table("KnowRef", columns, scores, [*notes, *interval_notes(scores.values(), UNITS)])


def _outcomes(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {
        "Correct": lambda score: percent(score["correct"]),
        "Incorrect": lambda score: percent(score["incorrect"]),
        "None": lambda score: percent(score["none"]),
        "Both": lambda score: percent(score["both"]),
        "Balanced accuracy": lambda score: with_interval(score, "balanced_accuracy"),
        "First mention": lambda score: percent(score["first_mention"]),
    }
    notes = [
        "Balanced accuracy: mean over rows whose first, and whose second mention is right.",
        "First mention: share of the choices; the first mention is right in "
        + ", ".join(dict.fromkeys(map(_first_right, scores.values())))
        + ".",
    ]
    return table("Outcomes", columns, scores, notes)


def _consistency(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {
        "Pairs": lambda score: f"{score['consistency']['pairs']:,}",
        "Consistency": lambda score: with_interval(score["consistency"], "score"),
        "Right in both": _consistently_correct,
        "Wrong in both": lambda score: percent(score["consistency"]["consistently_wrong"]),
        "Switched accuracy": lambda score: percent(score["switched"]["task_specific_accuracy"]),
    }
    notes = ["Consistency alone is won by ignoring the sentence: a fixed position scores 100."]
    return table("Consistency under antecedent switching", columns, scores, notes)


def _divisions(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {}
    for division, heading in DIVISIONS.items():
        blocks = [score[division] for score in scores.values()]
        for name in dict.fromkeys(name for block in blocks for name in block):
            if name != "no_order" and any(block.get(name, {}).get("n") for block in blocks):
                columns[f"{heading} {name}"] = _accuracy(division, name)
    return table("Task-specific accuracy by kind of row", columns, scores, [])


def _accuracy(division: str, name: str) -> Cell:
    return lambda score: percent(score[division].get(name, {}).get("task_specific_accuracy"))


def _consistently_correct(score: Score) -> str:
    block = score.get("consistency")
    return with_interval(block, "consistently_correct") if block else percent(None)


def _first_right(score: Score) -> str:
    first, second = (score["by_right_mention"][name]["n"] for name in ("first", "second"))
    return f"{percent(first / (first + second) if first + second else None)} % of the rows"
