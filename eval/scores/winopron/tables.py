"""The comparison tables of WinoPron, of Winogender in its form, and of the sample."""

from collections.abc import Iterable, Iterator, Mapping

from pronominal.eval.scores.prompts import prompt_tables
from pronominal.eval.scores.winopron.bias_tables import percentage_tables
from pronominal.eval.scores.winopron.occupations import correlation_tables
from pronominal.eval.statistics.paired_tests import paired_test_tables
from pronominal.eval.tables.table import (
    BELOW_CHANCE,
    UNDEFINED,
    VACUOUS,
    Cell,
    Score,
    Table,
    interval_notes,
    percent,
    table,
    with_interval,
)
from pronominal.pronouns import CASES

UNITS = "template pairs (pair_id)"
"""What intervals resample."""

CONSISTENCIES = {"PronounC": "pronoun_consistency", "DisambigC": "disambiguation_consistency"}
"""Heading, as in WinoPron's Table 3 -> block of a score."""


def tables(scores: Mapping[str, Score]) -> list[Table]:
    """Compare systems: how well they resolve pronouns, which ones, how consistently, and biases.

    Values are percentages with one decimal, as in WinoPron's tables 2 and 3; one table with
    everything would not fit 120 columns.

    Args:
        scores: system -> its `score`; with ``readings_differ`` (a number of rows) in a score,
            the first table has a column for it; with ``against``, paired tests come last.
    """
    return [
        _performance(scores),
        _by_form(scores),
        _consistency(scores),
        *percentage_tables(scores),
        *correlation_tables(scores),
        *prompt_tables(scores),
        *paired_test_tables(scores),
    ]


def _performance(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {
        "n": lambda score: f"{score['n']:,}",
        "Accuracy": lambda score: with_interval(score["overall"], "accuracy"),
        "Precision": lambda score: _precision(score["overall"]),
        "Recall": lambda score: percent(score["overall"]["recall"]),
        "F1": lambda score: with_interval(score["overall"], "f1"),
        "None": lambda score: percent(score["overall"]["none"]),
        "Both": lambda score: percent(score["overall"]["both"]),
    }
    notes = ["None, Both: answers that name neither entity, or both; they are not right."]
    if any("readings_differ" in score for score in scores.values()):
        columns["Differ"] = lambda score: str(score.get("readings_differ", UNDEFINED))
        notes.append("Differ: rows that the offset reading and upstream's decide differently.")
    if any(score["overall"]["precision_is_vacuous"] for score in scores.values()):
        notes.append(f"{VACUOUS} Nothing was chosen; precision is 100 by upstream's convention.")
    return table("Performance", columns, scores, [*notes, *interval_notes(scores.values(), UNITS)])


def _by_form(scores: Mapping[str, Score]) -> Table:
    sets = dict.fromkeys(
        name
        for score in scores.values()
        for name, block in score["by_pronoun_set"].items()
        if block["n"]
    )
    columns: dict[str, Cell] = {
        **{case.capitalize(): _accuracy("by_case", case) for case in CASES},
        **{name: _accuracy("by_pronoun_set", name) for name in sets},
    }
    return table("Accuracy by grammatical case and pronoun set", columns, scores, [])


def _consistency(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {}
    for head, name in CONSISTENCIES.items():
        columns[head] = _against_chance(name)
        columns[f"{head} F1"] = _consistency_f1(name)
    notes = [
        "PronounC: right with every pronoun set. DisambigC: right in both sentences of a pair.",
        *_group_notes(scores.values()),
        *interval_notes(scores.values(), UNITS),
    ]
    return table("Consistency (WinoPron, section 4.3)", columns, scores, notes)


def _accuracy(split: str, name: str) -> Cell:
    return lambda score: percent(score[split].get(name, {}).get("accuracy"))


def _against_chance(name: str) -> Cell:
    def cell(score: Score) -> str:
        block = score[name]
        below = block["groups"] and block["score"] < block["chance"]
        return with_interval(block, "score", BELOW_CHANCE if below else "")

    return cell


def _consistency_f1(name: str) -> Cell:
    return lambda score: with_interval(score[name], "f1")


def _precision(block: Score) -> str:
    mark = VACUOUS if block["precision_is_vacuous"] else ""
    return percent(block["precision"]) + mark


def _group_notes(scores: Iterable[Score]) -> Iterator[str]:
    for head, name in CONSISTENCIES.items():
        for block in (score[name] for score in scores):
            if block["groups"]:
                yield f"{head}: chance is {100 * block['chance']:g}; {BELOW_CHANCE} is below."
            if block["left_out"]:
                yield f"{head}: {block['left_out']} groups of one sentence are left out."
