"""The scores of GAP (Webster et al., 2018), as its official scorer counts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.statistics.intervals import Estimate, quotient_interval, ratio_intervals
from pronominal.eval.statistics.outcomes import Counts, IntArray, Share
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.units import Units

BLOCKS = ("overall", "masculine", "feminine")

COUNTS = ("n", "missing", "tp", "fp", "tn", "fn", "correct", "unfinished")
"""Of rows, of rows without an answer, of questions by outcome, and of rows with both questions
right and of rows that were cut off, which are shown as shares."""

NEITHER = 2
"""The label of rows whose pronoun is neither A nor B."""


def score(
    rows: pa.Table,
    decisions: Sequence[Decision | None],
    *,
    allow_missing: bool = False,
) -> Block:
    """Score one decision for each row.

    Each row asks two questions, whether the pronoun is A and whether it is B. ``none`` says no to
    both, ``both`` says yes to both (gap_scorer.py).

    Args:
        rows: a published split with ``label`` (2 is *neither*) and ``gender``.
        decisions: in the order of the rows; None where a system gave no answer at all.
        allow_missing: score rows without an answer as the official scorer does, which counts a
            false negative for A and one for B, even where the right answer is no.

    Returns:
        ``n``; ``overall``, ``masculine`` and ``feminine``: ``n`` (rows), ``missing`` (rows without
        an answer), ``unfinished``, the share of rows whose answer was cut off, which count as those
        without one, ``answered``, the share of the others, ``correct``, the share of rows with both
        questions right, ``tp``, ``fp``, ``tn`` and ``fn``
        (questions), ``precision``, ``recall`` and ``f1`` in [0, 1], 0 where undefined, as the
        official scorer has it; ``bias``, feminine F1 / masculine F1, None if either is 0.
        Intervals sum over rows.

    Raises:
        InputError: the number of decisions is not the number of rows, or one is missing.
    """
    if len(decisions) != rows.num_rows or (None in decisions and not allow_missing):
        there = len(decisions) - sum(decision is None for decision in decisions)
        cure = "give one decision for each row, or allow missing ones"
        raise InputError(f"there are {there} decisions for {rows.num_rows} rows", cure=cure)
    # each row's counts of a block in a line of their own: [blocks, rows]
    questions = _Questions(np.moveaxis(_counts(rows, decisions), 0, 1))
    return {
        **dict(zip(BLOCKS, _blocks(questions), strict=True)),
        **estimate_blocks({"bias": _bias(questions)}, n=[rows.num_rows])[0],
        "intervals": Units.rows(rows.num_rows).block(),
    }


def paired_units(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, PairedUnits]:
    """Return the items that paired tests between systems compare.

    Returns:
        ``correct``: the rows of which both questions got the right answer, shape ``[rows]``;
        ``f1``: what each row contributes to both sums of F1, shape ``[rows, 2]``.
    """
    answers = [NEITHER if d.abstained == "none" else d.choice for d in decisions]
    labels = rows["label"].to_pylist()
    part, whole = _Questions(np.moveaxis(_counts(rows, decisions), 0, 1)).shares["f1"]
    return {
        "correct": np.array([a == b for a, b in zip(answers, labels, strict=True)], np.bool_),
        "f1": np.stack([part[0], whole[0]], axis=-1).astype(np.float64),
    }


@dataclass(frozen=True, slots=True)
class _Questions:
    """Counts of rows, shape ``[blocks, rows, len(COUNTS)]``."""

    counts: Counts

    def __getitem__(self, name: str) -> Counts:
        return self.counts[..., COUNTS.index(name)]

    @property
    def shares(self) -> dict[str, Share]:
        """The ratios by their names, as part and whole."""
        tp, fp, fn = self["tp"], self["fp"], self["fn"]
        return {
            "f1": (2 * tp, 2 * tp + fp + fn),
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "answered": (self["n"] - self["missing"] - self["unfinished"], self["n"]),
            "correct": (self["correct"], self["n"]),
            "unfinished": (self["unfinished"], self["n"]),
        }


def _bias(questions: _Questions) -> Estimate:
    """Return feminine F1 / masculine F1, of one place; no row is in both."""
    part, whole = questions.shares["f1"]
    feminine, masculine = (
        (part[[place]], whole[[place]]) for place in map(BLOCKS.index, ("feminine", "masculine"))
    )
    bias = quotient_interval(feminine, masculine)
    return bias if part[1:].sum(axis=1).all() else bias.undefined()


def _blocks(questions: _Questions) -> list[Block]:
    shares = ratio_intervals(questions.shares)
    official: dict[str, Any] = {
        name: np.nan_to_num(shares[name].estimate) for name in ("precision", "recall", "f1")
    }
    return estimate_blocks(
        shares, **{name: questions[name].sum(axis=1) for name in COUNTS[:-2]}, **official
    )


def _counts(rows: pa.Table, decisions: Sequence[Decision | None]) -> IntArray:
    """Count the questions of each row, for each block that it is in.

    Returns:
        Shape ``[rows, len(BLOCKS), len(COUNTS)]``.
    """
    counts: IntArray = np.zeros((rows.num_rows, len(BLOCKS), len(COUNTS)), dtype=np.int64)
    columns = zip(rows["label"].to_pylist(), rows["gender"].to_pylist(), decisions, strict=True)
    for number, (label, gender, decision) in enumerate(columns):
        counts[number, [0, BLOCKS.index(gender)]] = _counted(label, decision)
    return counts


def _counted(label: int, decision: Decision | None) -> list[int]:
    counts = dict.fromkeys(COUNTS, 0) | {"n": 1}
    if decision is None or decision.abstained == "unfinished":
        lost = "missing" if decision is None else "unfinished"
        return [*(counts | {lost: 1, "fn": 2}).values()]
    for candidate in (0, 1):
        yes = decision.choice == candidate or decision.abstained == "both"
        counts[("t" if yes == (label == candidate) else "f") + "np"[yes]] += 1
    counts["correct"] = int(counts["tp"] + counts["tn"] == 2)
    return [*counts.values()]
