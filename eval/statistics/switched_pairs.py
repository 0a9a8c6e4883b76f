"""What becomes of a system's answers when the candidates change places (KnowRef, section 4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import Counts, IntArray, Share

Answers = tuple[pa.Table, Sequence[Decision]]
"""A published split and one decision for each of its rows."""


@dataclass(frozen=True, slots=True)
class SwitchedPairs:
    """The rows that exist as they are and switched.

    Attributes:
        rows: index of each pair's row in the original table, shape ``[pairs]``.
        counts: shape ``[pairs, 6]``: 1; whether the chosen candidate's string changed, which an
            abstention on either side did not; whether both answers are right; whether both are
            wrong choices; whether both are choices; whether one alone is.
    """

    rows: IntArray
    counts: IntArray

    @classmethod
    def of(cls, original: Answers, switched: Answers) -> "SwitchedPairs":
        """Bring the answers to both versions together by the rows' ids."""
        places = {name: row for row, name in enumerate(original[0]["id"].to_pylist())}
        before, after = _chosen(*original), _chosen(*switched)
        rows, counts = [], []
        for name, (to, right) in zip(switched[0]["id"].to_pylist(), after, strict=True):
            if name not in places:
                cause, cure = "the switched row has no original", "give both configs of one build"
                raise InputError(cause, cure=cure, row=f"id {name}")
            start, was_right = before[places[name]]
            chosen = start is not None and to is not None
            changed, both_wrong = chosen and start != to, chosen and not (right or was_right)
            one_alone = (start is None) != (to is None)
            rows.append(places[name])
            counts.append((1, changed, right and was_right, both_wrong, chosen, one_alone))
        return cls(np.array(rows, dtype=np.int64), np.array(counts, dtype=np.int64).reshape(-1, 6))

    @property
    def both_right(self) -> npt.NDArray[np.bool_]:
        """Whether both answers are right, shape ``[pairs]``."""
        return self.counts[:, 2] > 0

    def strata(self, strata: Strata) -> Strata:
        """Divide the pairs as a division of the original rows does."""
        return Strata(strata.names, strata.codes[self.rows])


@dataclass(frozen=True, slots=True)
class PairOutcomes:
    """Sums of `SwitchedPairs.counts`.

    Attributes:
        counts: shape ``[..., 6]``.
    """

    counts: Counts

    @property
    def pairs(self) -> Counts:
        """Number of pairs."""
        return self.counts[..., 0]

    @property
    def changed(self) -> Counts:
        """Number of pairs whose answer changed."""
        return self.counts[..., 1]

    @property
    def decided(self) -> Counts:
        """Number of pairs with a choice in both versions."""
        return self.counts[..., 4]

    @property
    def shares(self) -> dict[str, Share]:
        """The ratios by their names, as part and whole.

        Consistency is the share of changed pairs: ``score`` of all pairs, ``score_decided`` of
        those with a choice in both versions; ``score_any_change`` counts a choice that became an
        abstention, or one that was one, as a change. ``consistently_correct`` and
        ``consistently_wrong``: right, or a wrong choice, in both versions.
        """
        return {
            "score": (self.changed, self.pairs),
            "score_decided": (self.changed, self.decided),
            "score_any_change": (self.changed + self.counts[..., 5], self.pairs),
            "consistently_correct": (self.counts[..., 2], self.pairs),
            "consistently_wrong": (self.counts[..., 3], self.pairs),
        }


def _chosen(rows: pa.Table, decisions: Sequence[Decision]) -> list[tuple[str | None, bool]]:
    """Return which candidate each decision chose, None in abstention, and whether it is right."""
    columns = zip(rows["candidates"].to_pylist(), rows["label"].to_pylist(), decisions, strict=True)
    return [
        (None, False) if d.choice is None else (candidates[d.choice]["text"], d.choice == label)
        for candidates, label, d in columns
    ]
