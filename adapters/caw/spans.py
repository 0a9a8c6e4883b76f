"""Which span a word is the head of."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pronominal.spans import Span

CELLS_AT_ONCE = 8192
"""How many pairs of a head and a candidate are scored at once; it bounds memory only."""

FARTHEST = 63
"""The largest distance with an embedding of its own."""

BEYOND = 127
"""The embedding of all larger distances."""

POSITION_SIZE = 64
"""Size of a position's embedding; upstream's first layer takes no other."""


class Head(NamedTuple):
    """A word whose span is wanted; words are rows of a batch's table.

    Attributes:
        word: the head word.
        start: first word of its sentence.
        end: behind the last word of its sentence.
        width: words of the longest sentence with a head in this document.
    """

    word: int
    start: int
    end: int
    width: int


class SpanPredictor(nn.Module):
    """Finds first and last word of a head's span among the words of its sentence (``sp``)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.ffnn = nn.Sequential(
            nn.Linear(2 * size + POSITION_SIZE, size),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(size, 256),
            nn.ReLU(),
            nn.Dropout(0.3),
            nn.Linear(256, 64),
        )
        self.conv = nn.Sequential(nn.Conv1d(64, 4, 3, 1, 1), nn.Conv1d(4, 2, 3, 1, 1))
        self.emb = nn.Embedding(BEYOND + 1, POSITION_SIZE)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """Score every word of each head's sentence as first and as last word of its span.

        Upstream pads the sentences of one document's heads to the longest with zero vectors before
        it scores them, and the convolutions read two words far into that padding. The same number
        of such vectors follows each sentence here, and nothing behind them, in any batch.

        Args:
            words: [words, hidden].
            heads: rows of `Head`, [heads, 4].

        Returns:
            [heads, widest, 2], from the sentence's first word on; meaningless behind its last.
        """
        _, for_candidate, *_ = self._first_layer()
        # a word is multiplied once as a candidate, and not once for each head
        as_candidate = words @ for_candidate.T
        widest = int(heads[:, 3].max())
        scores = []
        for rows in torch.split(heads, max(1, CELLS_AT_ONCE // widest)):
            part = self._score(rows, words, as_candidate)
            scores.append(nn.functional.pad(part, (0, 0, 0, widest - part.shape[1])))
        return torch.cat(scores)

    def _first_layer(self) -> tuple[Tensor, ...]:
        """Return its weights for the head, the candidate and their distance, and its bias."""
        first: Any = self.ffnn[0]
        size = (first.in_features - POSITION_SIZE) // 2
        return *torch.split(first.weight, [size, size, POSITION_SIZE], dim=1), first.bias

    def _score(self, heads: Tensor, words: Tensor, as_candidate: Tensor) -> Tensor:
        word, start, end, width = (column[:, None] for column in heads.unbind(1))
        offset = torch.arange(int(width.max()), device=heads.device)
        candidate = (start + offset).clamp(max=len(words) - 1)
        distance = word - candidate
        position = torch.where(distance.abs() <= FARTHEST, distance + FARTHEST, BEYOND)
        for_head, _, for_position, bias = self._first_layer()
        layer = (words[word] @ for_head.T) + as_candidate[candidate]
        layer += (self.emb.weight @ for_position.T)[position]
        outside = start + offset >= end
        layer = layer.masked_fill(outside[:, :, None], 0) + bias
        for part in list(self.ffnn)[1:]:
            layer = part(layer)
        channels = layer.transpose(1, 2)
        for convolution in self.conv:
            channels = convolution(channels * (offset < width)[:, None])
        return channels.transpose(1, 2)


def best_spans(scores: Tensor, heads: Tensor) -> list[Span]:
    """Choose the best start not behind each head and the best end not before it.

    `scores` are [heads, widest, 2], from `SpanPredictor`; `heads` rows of `Head`, [heads, 4]; spans
    are half-open ranges of rows of the batch's table of words.
    """
    word, start, end, _ = (column[:, None] for column in heads.unbind(1))
    candidate = start + torch.arange(scores.shape[1], device=scores.device)
    too_late, too_early = candidate > word, (candidate < word) | (candidate >= end)
    first = scores[:, :, 0].masked_fill(too_late, -torch.inf).argmax(1) + heads[:, 1]
    last = scores[:, :, 1].masked_fill(too_early, -torch.inf).argmax(1) + heads[:, 1]
    return [Span(*span) for span in zip(first.tolist(), (last + 1).tolist(), strict=True)]
