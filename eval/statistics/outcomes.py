"""What became of each answer: counts that add, and the ratios that derive from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.errors import InputError

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Counts = npt.NDArray[Any]
"""Counts of outcomes, ``[..., OUTCOMES]``; the last axis is indexed by `RIGHT` .. `UNFINISHED`."""

Share = tuple[Counts, Counts]
"""A part and what it is a part of, in one shape."""

RIGHT, WRONG, NONE, BOTH, UNFINISHED = range(5)
"""The outcomes of an answer: a choice is right or wrong, an abstention none, both or unfinished."""

OUTCOMES = UNFINISHED + 1

CHOSE_NONE, CHOSE_BOTH, CHOSE_UNFINISHED = -1, -2, -4
"""Abstentions among choices, beside the candidates' indices 0, 1, ..."""

ABSTENTIONS: dict[str, int] = {
    "none": CHOSE_NONE,
    "both": CHOSE_BOTH,
    "unfinished": CHOSE_UNFINISHED,
}
"""Abstention -> its code among choices."""

ROUNDING = 1e-9
"""Shares that are nearer to each other are equal."""

NOTHING_RIGHT = -3
"""What is right where a row has no label: a code that no choice has."""


def choices_of(decisions: Sequence[Decision]) -> IntArray:
    """Return decisions as integers, shape ``[len(decisions)]``: an index or an abstention."""
    abstentions = {None: 0} | ABSTENTIONS
    # rows share the few decisions that there are
    different = dict(zip(map(id, decisions), decisions, strict=True)).items()
    codes = {
        place: abstentions[d.abstained] if d.choice is None else d.choice for place, d in different
    }
    return np.fromiter(map(codes.__getitem__, map(id, decisions)), np.int64, len(decisions))


def refuse_other_number(rows: pa.Table, decisions: Sequence[Decision]) -> None:
    """Raise `InputError` unless there is one decision for each row."""
    if len(decisions) != rows.num_rows:
        cause = f"there are {len(decisions)} decisions for {rows.num_rows} rows"
        raise InputError(cause, cure="give one decision for each row")


def right_choices(labels: IntArray, candidates: int) -> IntArray:
    """Return what is right of each row in the codes of `choices_of`, shape ``[rows]``.

    Args:
        labels: index of the right candidate; `candidates` stands for GAP's *neither*, which is the
            abstention, and -1 for a row of which no answer is right, as RUFF's without context.
        candidates: number of candidates, or of options, of each row.
    """
    known = np.where(labels == candidates, CHOSE_NONE, labels)
    return np.where(labels < 0, NOTHING_RIGHT, known)


def outcome_counts(labels: IntArray, choices: IntArray) -> IntArray:
    """Count the outcomes of each row's answers, such as those to several prompts.

    Args:
        labels: index of the right candidate, shape ``[rows]``.
        choices: what was chosen, shape ``[rows, answers]``.

    Returns:
        Shape ``[rows, OUTCOMES]``; each row adds up to the number of answers.
    """
    codes = np.where(choices == labels[:, None], RIGHT, WRONG)
    codes[choices == CHOSE_NONE] = NONE
    codes[choices == CHOSE_BOTH] = BOTH
    codes[choices == CHOSE_UNFINISHED] = UNFINISHED
    places = np.arange(len(labels))[:, None] * OUTCOMES + codes
    counts = np.bincount(places.ravel(), minlength=len(labels) * OUTCOMES)
    return counts.reshape(-1, OUTCOMES)


def sum_by(codes: IntArray, size: int, counts: IntArray) -> IntArray:
    """Add up the rows of ``[rows, columns]`` that share a code in ``[0, size)``: one row a code."""
    columns = counts.shape[1]
    places = codes[:, None] * columns + np.arange(columns)
    sums = np.bincount(places.ravel(), weights=counts.ravel(), minlength=size * columns)
    return sums.astype(np.int64).reshape(size, columns)


def parts_by(codes: IntArray, right: BoolArray, kept: BoolArray) -> IntArray:
    """Return how many of each code's kept rows are right, and how many are kept, ``[codes, 2]``."""
    size = int(codes.max(initial=-1)) + 1
    counts = [np.bincount(codes[rows], minlength=size) for rows in (right & kept, kept)]
    return np.stack(counts, axis=-1)


def ratio(part: Counts, whole: Counts) -> FloatArray:
    """Divide; NaN where there is nothing to divide by."""
    undefined: FloatArray = np.full(np.shape(part), np.nan)
    np.divide(part, whole, out=undefined, where=np.asarray(whole) != 0)
    return undefined


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Counts of outcomes and WinoPron's ratios, for one set of answers or many at once.

    A positive is an answer that names an entity: an abstention is a false negative (the right
    entity was not found) but no false positive (compute_performance.py). Every property has the
    shape of `counts` without its last axis.

    Attributes:
        counts: counts of outcomes, shape ``[..., OUTCOMES]``.
    """

    counts: Counts

    @property
    def n(self) -> Counts:
        """Number of answers."""
        return self.counts.sum(axis=-1)  # type: ignore[no-any-return]

    @property
    def tp(self) -> Counts:
        """Answers that name the right entity."""
        return self.counts[..., RIGHT]

    @property
    def fp(self) -> Counts:
        """Answers that name the other entity."""
        return self.counts[..., WRONG]

    @property
    def fn(self) -> Counts:
        """Answers that do not name the right entity."""
        return self.n - self.tp

    @property
    def tn(self) -> Counts:
        """Answers that do not name the other entity."""
        return self.n - self.fp

    @property
    def precision_is_vacuous(self) -> BoolArray:
        """Whether there are answers but no choice among them; upstream's precision is 1 then."""
        return np.asarray((self.n > 0) & (self.tp + self.fp == 0))

    @property
    def shares(self) -> dict[str, Share]:
        """The ratios by their names: accuracy, precision and their like, as part and whole.

        Every row has one right entity, so that recall is accuracy; abstentions are not right. F1
        is the harmonic mean of precision and recall, 0 where both are.
        """
        n, chosen = self.n, self.tp + self.fp
        return {
            "accuracy": (self.tp, n),
            "answered": (chosen, n),
            "none": (self.counts[..., NONE], n),
            "both": (self.counts[..., BOTH], n),
            "unfinished": (self.counts[..., UNFINISHED], n),
            "precision": (self.tp, chosen),
            "recall": (self.tp, n),
            "f1": (2 * self.tp, n + chosen),
        }
