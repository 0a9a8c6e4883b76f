"""Accuracy over prompts as tables."""

from collections.abc import Mapping
from typing import Any

from pronominal.eval.tables.table import Cell, Table, percent, table

TITLES = {
    "prompts": "Accuracy over prompts: what models write",
    "chains": "Accuracy over prompts: what chains of thought name",
    "multiple_choice": "Accuracy over prompts: the likeliest of the options offered",
}
"""The questions that models were asked, which do not compare with each other."""


def prompt_tables(scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Compare systems that were prompted: one table for each question they were asked.

    Args:
        scores: system -> scores with what `prompt_scores` returns, or without it.
    """
    found = []
    for kind, title in TITLES.items():
        asked = {system: score[kind] for system, score in scores.items() if kind in score}
        if asked:
            columns: dict[str, Cell] = {"prompts": lambda block: str(len(block["by_prompt"]))}
            columns |= {name: _percent(name) for name in ("accuracy", "sd", "lowest", "highest")}
            found.append(table(title, columns, asked, ["sd: over the prompts."]))
    return found


def _percent(name: str) -> Cell:
    return lambda block: percent(block[name])
