"""All spans of a sentence up to a width, and what lies inside them, as a grid without padding.

Row i of the grid has the spans that begin at unit i, column w for the one that has w + 1
units. What upstream computes in a matrix of spans by units of the document is computed here in
windows of the greatest width: the same sums without the zeros.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pronominal.spans import Span


def rows_at_once(like: Tensor, size: int) -> int:
    """Return how many rows of `size` numbers are computed together; no answer depends on it."""
    return max(1, (1 << (20 if like.device.type == "cpu" else 24)) // max(1, size))


class CandidateGrid(NamedTuple):
    """The candidate spans of documents, one document behind the other.

    Attributes:
        inside: whether the span ends in the sentence that it begins in, [N, W].
        windows: the units from each one on, [N, W]; the last unit fills the places behind it.
    """

    inside: Tensor
    windows: Tensor

    @classmethod
    def of(cls, sentences: Tensor, width: int) -> "CandidateGrid":
        """Enumerate the spans of at most `width` units, given the sentence of each unit, [N]."""
        total = len(sentences)
        first = torch.arange(total, device=sentences.device).unsqueeze(1)
        last = first + torch.arange(width, device=sentences.device)
        windows = last.clamp(max=max(total - 1, 0))
        inside = (last < total) & (sentences[windows] == sentences[first])
        # no column that no span needs: short sentences have short windows
        used = int(inside.any(0).nonzero().max()) + 1 if total else 0
        return cls(inside[:, :used], windows[:, :used])

    @property
    def width(self) -> int:
        """Columns of the grid: the width of the widest span that there is."""
        return self.windows.shape[1]

    def places(self, spans: Sequence[Span]) -> tuple[Tensor, Tensor]:
        """Return rows and columns of those spans that are candidates."""
        inside = [
            span
            for span in spans
            if span.end - span.start <= self.width
            and self.inside[span.start, span.end - span.start - 1]
        ]
        rows, ends = self.windows.new_tensor(inside).reshape(-1, 2).unbind(1)
        return rows, ends - rows - 1

    def attention(self, logits: Tensor) -> Tensor:
        """Return how much each span attends to each of its units, [N, W, W].

        `logits` say how much of a head each unit is, [N].
        """
        width = torch.arange(self.width, device=logits.device)
        behind = width > width.unsqueeze(1)
        window = logits[self.windows].unsqueeze(1)
        return window.masked_fill(behind, -torch.inf).softmax(2)


def window_means(weights: Tensor, windows: Tensor, values: Tensor) -> Tensor:
    """Return the weighted means of each window's vectors, [k, size].

    Args:
        weights: of each unit of each window, [k, W].
        windows: which units these are, [k, W].
        values: a vector for every unit, [N, size].
    """
    at_once = rows_at_once(values, windows.shape[1] * values.shape[1])
    parts = zip(torch.split(weights, at_once), torch.split(windows, at_once), strict=True)
    means = [torch.bmm(weight.unsqueeze(1), values[window]).squeeze(1) for weight, window in parts]
    return torch.cat(means)
