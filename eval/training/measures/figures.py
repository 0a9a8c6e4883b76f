"""What is measured of a trained system."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.statistics.mention_order import (
    FIRST,
    SECOND,
    MentionOutcomes,
    mention_outcomes,
)
from pronominal.eval.statistics.outcomes import (
    BOTH,
    NONE,
    RIGHT,
    WRONG,
    FloatArray,
    Outcomes,
    ratio,
)
from pronominal.eval.statistics.switched_pairs import Answers, PairOutcomes, SwitchedPairs


def answer_figures(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Measure one decision for each row of a table with ``candidates`` and ``label``.

    Returns:
        ``n`` rows; ``accuracy`` (the task-specific one), ``balanced_accuracy`` and
        ``first_mention`` of `MentionOutcomes`, in [0, 1], None where undefined; ``none`` and
        ``both``, the shares of the rows without a choice, which those do not count.
    """
    counts = mention_outcomes(rows, decisions).sum(axis=0)
    outcomes = MentionOutcomes(counts)
    shares = {name: ratio(*share) for name, share in outcomes.shares.items()}
    halves = [ratio(*half) for half in outcomes.halves]
    return {
        "n": rows.num_rows,
        "accuracy": _fraction(shares["task_specific_accuracy"]),
        "balanced_accuracy": _fraction(np.mean(halves)),
        "first_mention": _fraction(shares["first_mention"]),
        **_shares(counts, {"none": NONE, "both": BOTH}),
    }


def outcome_figures(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Measure decisions that may abstain.

    Returns:
        What `answer_figures` returns; ``correct`` and ``incorrect``, the shares of the rows with
        the other outcomes (KnowRef, section 3.3); and ``balanced_correct``, the mean of ``correct``
        where the first and where the second mention is right.
    """
    counts = mention_outcomes(rows, decisions).sum(axis=0)
    halves = ratio(*Outcomes(counts[[FIRST, SECOND]]).shares["accuracy"])
    return {
        **answer_figures(rows, decisions),
        **_shares(counts, {"correct": RIGHT, "incorrect": WRONG}),
        "balanced_correct": _fraction(halves.mean()),
    }


@dataclass(frozen=True, slots=True)
class Figures:
    """What is measured of the decisions of one kind of systems.

    Attributes:
        of: takes the rows and a decision for each.
        columns: headings of a card's table, and how each is made of what `of` returns.
    """

    of: Callable[[pa.Table, Sequence[Decision]], dict[str, Any]]
    columns: Mapping[str, Callable[[Mapping[str, Any]], float | None]]


def _without_choice(measured: Mapping[str, Any]) -> float | None:
    # earlier versions did not write these shares down
    known = measured.get("none") is not None
    return measured["none"] + measured["both"] if known else None


CHOICES = Figures(
    answer_figures,
    {
        "without a choice": _without_choice,
        "accuracy of the choices": lambda measured: measured.get("accuracy"),
        "balanced accuracy": lambda measured: measured.get("balanced_accuracy"),
        "choices of the first mention": lambda measured: measured.get("first_mention"),
    },
)
"""Of systems that are told the candidates, and abstain where they could not read a row."""

OUTCOMES = Figures(
    outcome_figures,
    {
        "correct": itemgetter("correct"),
        "incorrect": itemgetter("incorrect"),
        "none": itemgetter("none"),
        "both": itemgetter("both"),
        "task-specific accuracy": itemgetter("accuracy"),
    },
)
"""Of systems that find the candidates themselves, or not."""


def switching_figures(original: Answers, switched: Answers) -> dict[str, Any]:
    """Measure the answers in pairs of an original and its switched version.

    Returns:
        ``pairs``; ``consistency``, ``consistently_correct`` and ``consistently_wrong`` of
        `PairOutcomes`, in [0, 1], None without pairs.
    """
    outcomes = PairOutcomes(SwitchedPairs.of(original, switched).counts.sum(axis=0))
    shares = {name: _fraction(ratio(*share)) for name, share in outcomes.shares.items()}
    return {
        "pairs": int(outcomes.pairs),
        "consistency": shares["score"],
        "consistently_correct": shares["consistently_correct"],
        "consistently_wrong": shares["consistently_wrong"],
    }


def over_seeds(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return mean, standard deviation (n - 1) and values of every number over the seeds.

    There is one nested dict of numbers for each seed, all of the same shape.

    Returns:
        The same shape, with ``{"mean", "sd", "values"}`` instead of each number; `sd` is
        None for one seed, and both are where a seed has None. What is no number is left out.
    """
    spreads: dict[str, Any] = {}
    for name in measured[0] if measured else ():
        values = [one.get(name) for one in measured]
        if all(isinstance(value, Mapping) for value in values):
            spreads[name] = over_seeds([value for value in values if isinstance(value, Mapping)])
        elif all(value is None or _is_number(value) for value in values):
            numbers = [float(value) for value in values if value is not None]
            complete = len(numbers) == len(values)
            spreads[name] = {
                "mean": statistics.fmean(numbers) if complete else None,
                "sd": statistics.stdev(numbers) if complete and len(numbers) > 1 else None,
                "values": values,
            }
    return spreads


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _shares(counts: FloatArray, outcomes: Mapping[str, int]) -> dict[str, float | None]:
    total = counts.sum(axis=0)
    return {name: _fraction(ratio(total[one], total.sum())) for name, one in outcomes.items()}


def _fraction(value: FloatArray | np.floating[Any]) -> float | None:
    return None if math.isnan(value) else float(value)
