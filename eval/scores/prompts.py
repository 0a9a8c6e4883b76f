"""Accuracy over prompts: the mean, and the range that hangs on how a model is asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import predictions_file, read_lines
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.outcomes import (
    CHOSE_BOTH,
    CHOSE_NONE,
    NOTHING_RIGHT,
    IntArray,
    right_choices,
)
from pronominal.eval.tables.table import UNDEFINED, Cell, Score, Table, percent, table

ASKED = {"prompts": "answers", "chains": "chain_answers", "multiple_choice": "likeliest"}
"""What models were asked -> where predictions have the answers: what was written after a prompt,
what its chain of thought named, and which of the offered options was the likeliest."""

TITLES = {
    "prompts": "Accuracy over prompts: what models write",
    "chains": "Accuracy over prompts: what chains of thought name",
    "multiple_choice": "Accuracy over prompts: the likeliest of the options offered",
}
"""The questions that models were asked, which do not compare with each other."""

CODES = {"none": CHOSE_NONE, "both": CHOSE_BOTH}


def prompt_scores(split: Split, predictions: Path) -> dict[str, Any]:
    """Score the answers to each prompt, for models that were prompted; nothing for other systems.

    Args:
        split: the rows.
        predictions: a file whose lines have ``answers`` or ``likeliest``, or the folder of such a
            run.

    Returns:
        The keys of `ASKED` that there are answers to, each with ``n`` (rows),
        ``accuracy`` (mean over prompts, as the papers report), ``sd`` over them (sample standard
        deviation), ``lowest`` and ``highest``, and ``by_prompt``, each with ``n``, ``accuracy``,
        ``none`` and ``both``. Of template datasets also ``every_answer``, their scores over all
        answers to all prompts together, as WinoPron's authors count them. Nothing where no row has
        a right answer, as in RUFF's ``no_context``.

    Raises:
        InputError: a line has no answer to one of the first line's prompts.
    """
    column = split.table["options" if "options" in split.table.column_names else "candidates"]
    right = right_choices(split.table["label"].to_numpy(), len(column[0]))
    if (right == NOTHING_RIGHT).all():
        return {}
    _, given = next(read_lines(predictions), (0, {}))
    found = {}
    for name, key in ASKED.items():
        if given.get(key) and isinstance(given[key], dict):
            prompts = [*given[key]]
            choices = _choices(split, predictions, key, prompts)
            found[name] = _scores(split, right, choices, prompts)
    return found


def prompt_tables(scores: Mapping[str, Score]) -> list[Table]:
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
    return lambda block: UNDEFINED if block[name] is None else percent(block[name])


def _choices(split: Split, predictions: Path, key: str, prompts: list[str]) -> IntArray:
    """Return what was chosen, [rows, prompts]: an index or an abstention."""
    places = {name: row for row, name in enumerate(split.table["id"].to_pylist())}
    choices = np.full((len(places), len(prompts)), CHOSE_NONE)
    for number, line in read_lines(predictions):
        answers = line[key] if isinstance(line.get(key), dict) else {}
        codes = [_code(answers.get(prompt)) for prompt in prompts]
        if None in codes:
            raise InputError(
                f"{line['id']} has no answer to the prompt {prompts[codes.index(None)]}",
                cure=f'write an index, "none" or "both" for each prompt into "{key}"',
                file=predictions_file(predictions),
                row=f"line {number}",
            )
        choices[places[line["id"]]] = codes
    return choices


def _code(answer: object) -> int | None:
    if isinstance(answer, str):
        return CODES.get(answer)
    return answer if isinstance(answer, int) else None


def _scores(
    split: Split, right_choice: IntArray, choices: IntArray, prompts: list[str]
) -> dict[str, Any]:
    right = (choices == right_choice[:, None]).mean(axis=0)
    found = {
        "n": len(choices),
        "accuracy": float(right.mean()),
        "sd": float(right.std(ddof=1)) if len(prompts) > 1 else None,
        "lowest": float(right.min()),
        "highest": float(right.max()),
        "by_prompt": {
            prompt: {
                "n": len(choices),
                "accuracy": float(right[column]),
                "none": float((choices[:, column] == CHOSE_NONE).mean()),
                "both": float((choices[:, column] == CHOSE_BOTH).mean()),
            }
            for column, prompt in enumerate(prompts)
        },
    }
    if {"template_id", "pair_id", "case"} <= {*split.table.column_names}:
        from pronominal.eval.scores.winopron.score import score_choices

        sentences = Sentences.of(split.table)
        found["every_answer"] = score_choices(sentences, choices, resamples=0)
    return found
