"""What is measured of a trained system."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.statistics.intervals import (
    Estimate,
    mean_interval,
    ratio_interval,
    ratio_intervals,
)
from pronominal.eval.statistics.mention_order import MentionOutcomes, mention_outcomes
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.switched_pairs import Answers, PairOutcomes, SwitchedPairs


def answer_figures(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Measure one decision for each row of a table with ``candidates`` and ``label``.

    Returns:
        ``n`` rows; ``accuracy`` (the task-specific one), ``balanced_accuracy`` and
        ``first_mention`` of `MentionOutcomes`, in [0, 1], None where undefined; ``none`` and
        ``both``, the shares of the rows without a choice, which those do not count, and
        ``answered``, that of the others; and the ``interval`` of each, over rows.
    """
    return _figures(rows, decisions, ("accuracy", "first_mention", "answered", "none", "both"))


def outcome_figures(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Measure decisions that may abstain.

    Returns:
        What `answer_figures` returns; ``correct`` and ``incorrect``, the shares of the rows with
        the other outcomes (KnowRef, section 3.3); and ``balanced_correct``, the mean of ``correct``
        where the first and where the second mention is right.
    """
    names = ("accuracy", "first_mention", "answered", "none", "both", "correct", "incorrect")
    return _figures(rows, decisions, names)


def _figures(rows: pa.Table, decisions: Sequence[Decision], names: Sequence[str]) -> dict[str, Any]:
    """Return shares by their names, and the means over which mention is right, with intervals."""
    outcomes = MentionOutcomes(mention_outcomes(rows, decisions)[None])
    shares = outcomes.shares
    shares["accuracy"] = shares.pop("task_specific_accuracy")
    estimates = ratio_intervals({name: shares[name] for name in names})
    halves = {"balanced_accuracy": outcomes.halves, "balanced_correct": outcomes.answer_halves}
    for name, (first, second) in halves.items():
        if name == "balanced_accuracy" or "correct" in names:
            estimates[name] = mean_interval(ratio_interval(*first), ratio_interval(*second))
    return _block(estimates, n=rows.num_rows)


def _block(estimates: Mapping[str, Estimate], **counts: int) -> Block:
    made = estimate_blocks(estimates)[0]
    about = ("interval", "interval_missing")
    return {
        **counts,
        **{name: made[name] for name in estimates},
        **{name: made[name] for name in about if name in made},
    }


@dataclass(frozen=True, slots=True)
class Figures:
    """What is measured of the decisions of one kind of systems.

    Attributes:
        of: takes the rows and a decision for each.
        columns: headings of a card's table, and what `of` returns of each.
    """

    of: Callable[[pa.Table, Sequence[Decision]], Block]
    columns: Mapping[str, str]


CHOICES = Figures(
    answer_figures,
    {
        "answered": "answered",
        "accuracy of the choices": "accuracy",
        "balanced accuracy": "balanced_accuracy",
        "choices of the first mention": "first_mention",
    },
)
"""Of systems that are told the candidates, and abstain where they could not read a row."""

OUTCOMES = Figures(
    outcome_figures,
    {
        **{name: name for name in ("correct", "incorrect", "none", "both", "answered")},
        "task-specific accuracy": "accuracy",
    },
)
"""Of systems that find the candidates themselves, or not."""


def switching_figures(original: Answers, switched: Answers) -> dict[str, Any]:
    """Measure the answers in pairs of an original and its switched version.

    Returns:
        ``pairs``; ``consistency``, ``consistently_correct`` and ``consistently_wrong`` of
        `PairOutcomes`, in [0, 1], None without pairs, and the ``interval`` of each, over pairs.
    """
    outcomes = PairOutcomes(SwitchedPairs.of(original, switched).counts[None])
    shares = {"consistency": outcomes.shares["score"]}
    shares |= {n: outcomes.shares[n] for n in ("consistently_correct", "consistently_wrong")}
    return _block(ratio_intervals(shares), pairs=int(outcomes.pairs.sum()))


def over_seeds(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return mean, standard deviation (n - 1) and values of every number over the seeds.

    There is one nested dict of numbers for each seed, all of the same shape.

    Returns:
        The same shape, with ``{"mean", "sd", "values"}`` instead of each number; `sd` is
        None for one seed, and both are where a seed has None. What is no number is left out, and
        so are intervals, which are each one seed's.
    """
    spreads: dict[str, Any] = {}
    for name in measured[0] if measured else ():
        if name in ("interval", "interval_missing"):
            continue
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
