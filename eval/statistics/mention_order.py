"""Which candidate is mentioned first, and how answers follow it.

On KnowRef the first mention is right in 55 % of the training rows and in 47 % of the test, so that
accuracy alone is partly a matter of how often a system answers with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.arrow_numbers import numbers
from pronominal.decisions import Decision
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import (
    OUTCOMES,
    RIGHT,
    WRONG,
    Counts,
    IntArray,
    Outcomes,
    Share,
    choices_of,
    outcome_counts,
)

FIRST, SECOND, NO_ORDER = range(3)
"""Which mention is right; there is no order where a mention has no place or both have the same."""

RIGHT_MENTIONS = ("first", "second", "no_order")


def right_mentions(rows: pa.Table) -> Strata:
    """Divide rows by which mention is right, in the order of the text and not of the candidates."""
    mentions = pc.list_flatten(rows["candidates"])
    starts = numbers(pc.struct_field(mentions, "start")).reshape(-1, 2)
    labels = numbers(rows["label"])
    one, other = starts.T
    ordered = (starts.min(axis=1) >= 0) & (one != other) & (labels < 2)
    right_first = np.where(labels == 0, one < other, other < one)
    codes = np.where(ordered, np.where(right_first, FIRST, SECOND), NO_ORDER)
    return Strata(RIGHT_MENTIONS, codes.astype(np.int64))


def mention_outcomes(rows: pa.Table, decisions: Sequence[Decision]) -> IntArray:
    """Count the outcome of each row's answer, apart by which mention is right.

    Returns:
        Shape ``[rows, 3, OUTCOMES]``: one 1 in each row; see `MentionOutcomes`.
    """
    outcomes = outcome_counts(numbers(rows["label"]), choices_of(decisions).reshape(-1, 1))
    counts: IntArray = np.zeros((rows.num_rows, len(RIGHT_MENTIONS), OUTCOMES), dtype=np.int64)
    counts[np.arange(rows.num_rows), right_mentions(rows).codes] = outcomes
    return counts


@dataclass(frozen=True, slots=True)
class MentionOutcomes:
    """Counts of outcomes by which mention is right, for one set of answers or many at once.

    Every property has the shape of `counts` without its last two axes.

    Attributes:
        counts: shape ``[..., 3, OUTCOMES]``, indexed by `FIRST` .. `NO_ORDER` and by the outcomes
            of `pronominal.eval.statistics.outcomes`.
    """

    counts: Counts

    @property
    def shares(self) -> dict[str, Share]:
        """The ratios by their names, as part and whole (KnowRef, section 3.3).

        ``correct``, ``incorrect``, ``none``, ``both``, ``unfinished`` and ``answered`` are of all
        answers.
        ``task_specific_accuracy`` is the share of right choices among the choices, and
        ``first_mention`` that of the first mention among the choices where there is an order.
        """
        total = Outcomes(self.counts.sum(axis=-2))
        shares = total.shares
        right, wrong = self.counts[..., RIGHT], self.counts[..., WRONG]
        first = right[..., FIRST] + wrong[..., SECOND]
        return {
            "correct": shares["accuracy"],
            "incorrect": (total.fp, total.n),
            **{name: shares[name] for name in ("none", "both", "unfinished", "answered")},
            "task_specific_accuracy": shares["precision"],
            "first_mention": (first, first + right[..., SECOND] + wrong[..., FIRST]),
        }

    @property
    def halves(self) -> tuple[Share, Share]:
        """Right choices among those where the first, and where the second mention is right.

        The mean of the two ratios is the balanced accuracy: a fixed position has 0.5, however
        often it is right.
        """
        right = self.counts[..., RIGHT]
        return self._halves(right + self.counts[..., WRONG])

    @property
    def answer_halves(self) -> tuple[Share, Share]:
        """Right choices among all answers where the first, and where the second is right."""
        return self._halves(self.counts.sum(axis=-1))

    def _halves(self, whole: Counts) -> tuple[Share, Share]:
        right = self.counts[..., RIGHT]
        first, second = ((right[..., one], whole[..., one]) for one in (FIRST, SECOND))
        return first, second
