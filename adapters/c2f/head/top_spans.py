"""The top spans of a batch of documents, the best ones that do not cross, and their antecedents."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pronominal.adapters.c2f.head.candidates import CandidateGrid
from pronominal.adapters.c2f.head.units import UnitBatch

BUCKETS = (1, 2, 3, 4, 5, 8, 16, 32, 64)
"""Where the distances of a bucket begin; the first bucket, 0, is before them."""


def top_candidates(batch: UnitBatch, grid: CandidateGrid, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows and columns of the top spans, document after document."""
    rows, columns = grid.inside.nonzero(as_tuple=True)
    of_candidates = scores.index_put(grid.places(batch.kept), scores.new_tensor(torch.inf))[
        rows, columns
    ]
    in_document = torch.bincount(batch.document_of[rows], minlength=len(batch.lengths))
    starts, ends = rows.tolist(), (rows + columns + 1).tolist()
    kept: list[int] = []
    begin = 0
    for first, count, wanted in zip(
        batch.firsts, in_document.tolist(), batch.spans_to_keep, strict=True
    ):
        mine = slice(begin, begin + count)
        ranking = of_candidates[mine].argsort(descending=True, stable=True).tolist()
        own_starts = [start - first for start in starts[mine]]
        own_ends = [end - first for end in ends[mine]]
        kept += [begin + span for span in keep_best(own_starts, own_ends, ranking, wanted)]
        begin += count
    chosen = torch.tensor(kept, dtype=torch.long, device=rows.device)
    return rows[chosen], columns[chosen]


def keep_best(
    starts: Sequence[int], ends: Sequence[int], ranking: Sequence[int], count: int
) -> list[int]:
    """Return which of some half-open spans are kept, ordered by start, then end.

    Spans are taken in the order of their ranking unless they cross one that was taken before:
    one of the two begins inside the other and ends behind it. Nested spans do not cross, nor do
    those that share a border (the greedy rule of Lee et al., 2017, section 5).
    """
    units = max(ends, default=0)
    latest_end = [0] * units
    """Of the top spans that begin at a unit."""
    earliest_start = [units] * (units + 1)
    """Of the top spans that end before a unit."""
    kept: list[int] = []
    for span in ranking:
        if len(kept) == count:
            break
        start, end = starts[span], ends[span]
        if max(latest_end[start + 1 : end], default=0) > end:
            continue
        if min(earliest_start[start + 1 : end], default=units) < start:
            continue
        kept.append(span)
        latest_end[start] = max(latest_end[start], end)
        earliest_start[end] = min(earliest_start[end], start)
    return sorted(kept, key=lambda span: (starts[span], ends[span]))


class TopSpans(NamedTuple):
    """The top spans of D documents one behind the other (T in all), and side by side (K each).

    Attributes:
        starts: first unit of each span among all documents' units, [T].
        ends: unit after the last one, [T].
        slots: which of the T spans is the k-th of each document, [D, K]; 0 behind its last one.
        real: whether there is a k-th span, [D, K].
    """

    starts: Tensor
    ends: Tensor
    slots: Tensor
    real: Tensor

    @classmethod
    def of(cls, starts: Tensor, ends: Tensor, counts: Sequence[int]) -> "TopSpans":
        """Lay out spans, given how many each document has."""
        firsts = accumulate(counts, initial=0)
        device = starts.device
        rows = [
            torch.arange(first, first + count, device=device)
            for first, count in zip(firsts, counts, strict=False)
        ]
        slots = pad_sequence(rows, batch_first=True, padding_value=-1)
        return cls(starts, ends, slots.clamp(min=0), slots >= 0)

    @property
    def earlier(self) -> Tensor:
        """Whether the second span may be the first one's antecedent, [D, K, K]."""
        before = torch.ones(self.slots.shape[1], self.slots.shape[1], device=self.slots.device)
        return before.tril(-1).bool() & self.real.unsqueeze(2) & self.real.unsqueeze(1)


class Antecedents(NamedTuple):
    """The antecedents of each top span that get a fine score.

    Attributes:
        spans: which spans of the same document they are, [D, K, C].
        scores: their coarse scores, [D, K, C]; -inf for fillers.
    """

    spans: Tensor
    scores: Tensor

    @classmethod
    def best(cls, coarse: Tensor, earlier: Tensor, count: int) -> "Antecedents":
        """Take those with the best coarse scores, [D, K, K], best first."""
        allowed = coarse.masked_fill(~earlier, -torch.inf)
        scores, spans = allowed.topk(min(count, coarse.shape[2]), dim=2)
        return cls(spans, scores)

    @classmethod
    def nearest(cls, mention_scores: Tensor, earlier: Tensor, count: int) -> "Antecedents":
        """Take the nearest ones, nearest first; both mention scores, [D, K], are their score."""
        documents, size = mention_scores.shape
        device = mention_scores.device
        offsets = torch.arange(1, min(count, size) + 1, device=device)
        rows = torch.arange(size, device=device).unsqueeze(1) - offsets
        spans = rows.clamp(min=0).expand(documents, -1, -1)
        both = mention_scores.unsqueeze(2) + mention_scores.unsqueeze(1)
        there = (rows >= 0) & earlier.gather(2, spans)
        return cls(spans, both.gather(2, spans).masked_fill(~there, -torch.inf))

    @property
    def real(self) -> Tensor:
        """Whether there is an antecedent at all, [D, K, C]."""
        return self.scores > -torch.inf


def attended(vectors: Tensor, antecedents: Tensor, scores: Tensor) -> Tensor:
    """Return for each span the mean of itself and its antecedents, as likely as each is.

    Args:
        vectors: of the spans, [D, K, S].
        antecedents: which spans, [D, K, C].
        scores: of none, which means the span itself, and of the antecedents, [D, K, 1 + C].
    """
    likely = scores.softmax(2)
    documents, size, _ = vectors.shape
    weights = likely.new_zeros(documents, size, size).scatter_add(2, antecedents, likely[..., 1:])
    return likely[..., :1] * vectors + torch.bmm(weights, vectors)


def distance_buckets(distances: Tensor) -> Tensor:
    """Return the bucket, 0 to 9, of distances that are counted in spans.

    >>> distance_buckets(torch.tensor([0, 4, 5, 7, 8, 63, 64, 4000])).tolist()
    [0, 4, 5, 5, 6, 8, 9, 9]
    """
    return torch.bucketize(distances, torch.tensor(BUCKETS, device=distances.device), right=True)
