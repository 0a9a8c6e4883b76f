"""Which candidate is mentioned first, and how answers follow it.

On KnowRef the first mention is right in 55 % of the training rows and in 47 % of the test, so that
accuracy alone is partly a matter of how often a system answers with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import (
    RIGHT,
    WRONG,
    Counts,
    FloatArray,
    IntArray,
    Outcomes,
    choices_of,
    outcome_counts,
    ratio,
)

FIRST, SECOND, NO_ORDER = range(3)
"""Which mention is right; there is no order where a mention has no place or both have the same."""

RIGHT_MENTIONS = ("first", "second", "no_order")


def right_mentions(rows: pa.Table) -> Strata:
    """Divide rows by which mention is right, in the order of the text and not of the candidates."""
    codes = []
    for candidates, label in zip(
        rows["candidates"].to_pylist(), rows["label"].to_pylist(), strict=True
    ):
        starts = [candidate["start"] for candidate in candidates]
        ordered = min(starts) >= 0 and starts[0] != starts[1] and label < len(starts)
        codes.append((FIRST if starts[label] == min(starts) else SECOND) if ordered else NO_ORDER)
    return Strata(RIGHT_MENTIONS, np.array(codes, dtype=np.int64))


def mention_outcomes(rows: pa.Table, decisions: Sequence[Decision]) -> IntArray:
    """Count the outcome of each row's answer, apart by which mention is right.

    Returns:
        Shape ``[rows, 3, 4]``: one 1 in each row; see `MentionOutcomes`.
    """
    outcomes = outcome_counts(rows["label"].to_numpy(), choices_of(decisions).reshape(-1, 1))
    counts: IntArray = np.zeros((rows.num_rows, len(RIGHT_MENTIONS), 4), dtype=np.int64)
    counts[np.arange(rows.num_rows), right_mentions(rows).codes] = outcomes
    return counts


@dataclass(frozen=True, slots=True)
class MentionOutcomes:
    """Counts of outcomes by which mention is right, for one set of answers or many at once.

    Every property has the shape of `counts` without its last two axes; ratios are in [0, 1], and
    NaN where undefined.

    Attributes:
        counts: shape ``[..., 3, 4]``, indexed by `FIRST` .. `NO_ORDER` and by the outcomes of
            `pronominal.eval.statistics.outcomes`.
    """

    counts: Counts

    @property
    def total(self) -> Outcomes:
        """The outcomes, whichever mention is right."""
        return Outcomes(self.counts.sum(axis=-2))

    @property
    def task_specific_accuracy(self) -> FloatArray:
        """Share of right choices among the choices (KnowRef, section 3.3)."""
        return _accuracy(self.counts.sum(axis=-2))

    @property
    def balanced_accuracy(self) -> FloatArray:
        """Mean of the task-specific accuracies where the first and where the second is right.

        A fixed position has 0.5, however often it is right.
        """
        by_mention = _accuracy(self.counts)
        return (by_mention[..., FIRST] + by_mention[..., SECOND]) / 2

    @property
    def first_mention(self) -> FloatArray:
        """Share of the choices that are the first mention, where there is an order."""
        right, wrong = self.counts[..., RIGHT], self.counts[..., WRONG]
        first = right[..., FIRST] + wrong[..., SECOND]
        return ratio(first, first + right[..., SECOND] + wrong[..., FIRST])


def _accuracy(counts: Counts) -> FloatArray:
    return ratio(counts[..., RIGHT], counts[..., RIGHT] + counts[..., WRONG])
