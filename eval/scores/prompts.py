"""Accuracy over prompts: the mean, and the range that depends on how a model is asked."""

from pathlib import Path
from typing import Any

import numpy as np

from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import predictions_file, read_predictions
from pronominal.eval.statistics.outcomes import (
    CHOSE_BOTH,
    CHOSE_NONE,
    NOTHING_RIGHT,
    IntArray,
    right_choices,
)
from pronominal.eval.tables.prompt_questions import PROMPT_QUESTIONS
from pronominal.eval.task import ScoreChoices

CODES = {"none": CHOSE_NONE, "both": CHOSE_BOTH}


def prompt_scores(
    split: Split, predictions: Path, score_choices: ScoreChoices | None = None
) -> dict[str, Any]:
    """Score the answers to each prompt, for models that were prompted; nothing for other systems.

    Args:
        split: the rows.
        predictions: a file whose lines have ``answers`` or ``likeliest``, or the folder of such a
            run.
        score_choices: scores all answers to all prompts together; see `pronominal.eval.task.Task`.

    Returns:
        The keys of `PROMPT_QUESTIONS` that there are answers to, each with ``n`` (rows),
        ``accuracy`` (mean over prompts, as the papers report), ``sd`` over them (sample standard
        deviation), ``lowest`` and ``highest``, and ``by_prompt``, each with ``n``, ``accuracy``,
        ``none`` and ``both``. With `score_choices` also ``every_answer``, what it gave, as
        WinoPron's authors count. Nothing where no row has
        a right answer, as in RUFF's ``no_context``.

    Raises:
        InputError: a line has no answer to one of the first line's prompts.
    """
    right = right_choices(split.table["label"].to_numpy(), len(split.choices[0]))
    if (right == NOTHING_RIGHT).all():
        return {}
    _, first = next(read_predictions(predictions), (0, None))
    found = {}
    for question in PROMPT_QUESTIONS:
        given = None if first is None else first.given.get(question.answers)
        if given and isinstance(given, dict):
            prompts = [*given]
            choices = _choices(split, predictions, question.answers, prompts)
            found[question.key] = _scores(right, choices, prompts)
            if score_choices is not None:
                found[question.key]["every_answer"] = score_choices(split, choices)
    return found


def _choices(split: Split, predictions: Path, key: str, prompts: list[str]) -> IntArray:
    """Return what was chosen, [rows, prompts]: an index or an abstention."""
    places = {name: row for row, name in enumerate(split.table["id"].to_pylist())}
    choices = np.full((len(places), len(prompts)), CHOSE_NONE)
    for number, prediction in read_predictions(predictions):
        given = prediction.given.get(key)
        answers = given if isinstance(given, dict) else {}
        codes = [_code(answers.get(prompt)) for prompt in prompts]
        if None in codes:
            cause = f"{prediction.id} has no answer to the prompt {prompts[codes.index(None)]}"
            cure = f'write an index, "none" or "both" for each prompt into "{key}"'
            file = predictions_file(predictions)
            raise InputError(cause, cure=cure, file=file, row=f"line {number}")
        choices[places[prediction.id]] = codes
    return choices


def _code(answer: object) -> int | None:
    if isinstance(answer, str):
        return CODES.get(answer)
    return answer if isinstance(answer, int) else None


def _scores(right_choice: IntArray, choices: IntArray, prompts: list[str]) -> dict[str, Any]:
    right = (choices == right_choice[:, None]).mean(axis=0)
    return {
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
