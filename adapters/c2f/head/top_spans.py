"""The top spans of a batch of documents, and the antecedents that get a fine score."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


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
