"""Accuracy over prompts: the mean, and the range that depends on how a model is asked."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import predictions_file, read_predictions
from pronominal.eval.statistics.crossed import LEAST, Crossed
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.intervals import ratio_interval
from pronominal.eval.statistics.outcomes import (
    ABSTENTIONS,
    CHOSE_NONE,
    CHOSE_UNFINISHED,
    NOTHING_RIGHT,
    BoolArray,
    IntArray,
    right_choices,
)
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.units import Units
from pronominal.eval.tables.prompt_questions import PROMPT_QUESTIONS
from pronominal.eval.task import ScoreChoices

FEW_PROMPTS = f"fewer than {LEAST} prompts do not tell how far others lie"
RANKED = "it is one prompt's; see by_prompt"
"""Why figures over prompts have no interval."""


def prompt_scores(
    split: Split,
    predictions: Path,
    score_choices: ScoreChoices | None = None,
    units_of: Callable[[pa.Table], Units] | None = None,
) -> Block:
    """Score the answers to each prompt, for models that were prompted; nothing for other systems.

    Args:
        split: the rows.
        predictions: a file whose lines have ``answers`` or ``likeliest``, or the folder of such a
            run.
        score_choices: scores all answers to all prompts together; see `pronominal.eval.task.Task`.
        units_of: takes the rows; returns the units that stand or fall together.

    Returns:
        The keys of `PROMPT_QUESTIONS` that there are answers to, each with ``n`` (rows),
        ``accuracy`` (mean over prompts, as the papers report) with its interval for other units and
        other prompts (`Crossed.interval`), ``sd`` over them (sample standard deviation),
        ``lowest``, ``median`` and ``highest``; ``spread``, how far prompts and units vary
        (`Crossed.components`); and ``by_prompt``, each with ``n``, ``accuracy``, ``answered``,
        ``none``, ``both`` and ``unfinished``; ``unfinished``, the share of all answers to all
        prompts that were cut off. Prompts called ``3-forward`` and ``3-backward`` are two orders of
        one, and intervals take them for one prompt. With `score_choices` also ``every_answer``,
        what it gave, as WinoPron's authors count. Nothing where no row has a right answer, as in
        RUFF's ``no_context``.

    Raises:
        InputError: a line has no answer to one of the first line's prompts.
    """
    _, first = next(read_predictions(predictions), (0, None))
    if first is None or not any(question.answers in first.given for question in PROMPT_QUESTIONS):
        return {}
    right = right_choices(numbers(split.table["label"]), len(split.choices[0]))
    if (right == NOTHING_RIGHT).all():
        return {}
    units = Units.rows(split.num_rows) if units_of is None else units_of(split.table)
    found: Block = {}
    for question in PROMPT_QUESTIONS:
        given = first.given.get(question.answers)
        if given and isinstance(given, dict):
            prompts = [*given]
            choices = _choices(split, predictions, question.answers, prompts)
            found[question.key] = _scores(right, choices, prompts, units)
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
            words = " or ".join(f'"{word}"' for word in ABSTENTIONS)
            cure = f'write an index, {words} for each prompt into "{key}"'
            file = predictions_file(predictions)
            raise InputError(cause, cure=cure, file=file, row=f"line {number}")
        choices[places[prediction.id]] = codes
    return choices


def _code(answer: object) -> int | None:
    if isinstance(answer, str):
        return ABSTENTIONS.get(answer)
    return answer if isinstance(answer, int) else None


def _scores(right_choice: IntArray, choices: IntArray, prompts: list[str], units: Units) -> Block:
    right = choices == right_choice[:, None]
    crossed = _crossed(right, prompts, units)
    cut = (choices == CHOSE_UNFINISHED).sum(axis=1)
    shares = {
        "accuracy": crossed.interval(),
        "unfinished": ratio_interval(*_by_unit(units, cut, len(prompts))),
    }
    found = estimate_blocks(shares, FEW_PROMPTS, n=[len(choices)])[0]
    by_prompt = right.mean(axis=0)
    ranked = {"lowest": by_prompt.min(), "median": np.median(by_prompt), "highest": by_prompt.max()}
    found["interval"] |= dict.fromkeys(ranked)
    found["interval_missing"] = found.get("interval_missing", {}) | dict.fromkeys(ranked, RANKED)
    return found | {
        # the mean over prompts, to the last digit
        "accuracy": float(by_prompt.mean()),
        "sd": float(by_prompt.std(ddof=1)) if len(prompts) > 1 else None,
        **{name: float(value) for name, value in ranked.items()},
        "spread": crossed.components(),
        "by_prompt": dict(zip(prompts, _by_prompt(right, choices, units), strict=True)),
    }


def _by_unit(units: Units, counted: IntArray, answers: int) -> tuple[IntArray, IntArray]:
    """Return by unit how many of its rows' answers are counted, of how many, ``[1, units]``."""
    summed = np.bincount(units.codes, weights=counted, minlength=units.size)
    return summed[None], answers * np.bincount(units.codes, minlength=units.size)[None]


def _crossed(right: BoolArray, prompts: Sequence[str], units: Units) -> Crossed:
    """Count rows by unit and by prompt, the orders of a prompt's options being one prompt."""
    numbers = Strata.of([prompt.partition("-")[0] for prompt in prompts])
    part = np.zeros((units.size, len(numbers.names)))
    whole = np.zeros_like(part)
    for column, number in enumerate(numbers.codes.tolist()):
        part[:, number] += np.bincount(units.codes, weights=right[:, column], minlength=units.size)
        whole[:, number] += np.bincount(units.codes, minlength=units.size)
    return Crossed(part, whole)


def _by_prompt(right: BoolArray, choices: IntArray, units: Units) -> list[Block]:
    outcomes = {
        "accuracy": right,
        "answered": choices >= 0,
        **{name: choices == code for name, code in ABSTENTIONS.items()},
    }
    counts = np.stack([*outcomes.values()], axis=-1).astype(np.int64)
    # each prompt's counts by unit: [prompts, units, outcomes]
    sums = np.moveaxis(units.sums(counts, Strata.whole(len(right)))[0], 0, 1)
    rows = np.broadcast_to(np.bincount(units.codes, minlength=units.size), sums.shape[:2])
    shares = {name: ratio_interval(sums[..., i], rows) for i, name in enumerate(outcomes)}
    return estimate_blocks(shares, n=[len(right)] * len(sums))
