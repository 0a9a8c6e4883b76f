"""Sentences side by side, as recurrent layers read them."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class TimeMajor(NamedTuple):
    """Sentences side by side: first the first words of all, then all second words, and so on.

    Sentences are ordered by falling length, so that the ones that go on are always the first.

    Attributes:
        active: how many sentences have a word at each step.
        rows: for each direction, the row of the table of words that is read at each place;
            [2, words]. The second direction reads every sentence from its end.
        places: for each direction, the place at which each row is read; [2, words].
    """

    active: list[int]
    rows: Tensor
    places: Tensor

    @classmethod
    def of(cls, lengths: Sequence[int], device: torch.device) -> "TimeMajor":
        """Arrange sentences of these lengths, whose words follow each other in the table."""
        length = torch.tensor(lengths, device=device)
        first = length.cumsum(0) - length
        order = length.argsort(descending=True, stable=True)
        step = torch.arange(max(lengths, default=0), device=device).unsqueeze(1)
        there = step < length[order]
        forward = (first[order] + step)[there]
        backward = (first[order] + length[order] - 1 - step)[there]
        rows = torch.stack([forward, backward])
        return cls(there.sum(1).tolist(), rows, rows.argsort(dim=1))

    def arranged(self, words: Sequence[Tensor]) -> Tensor:
        """Arrange what each direction reads, two of [words, size], as [2, places, size]."""
        pairs = zip(words, self.rows, strict=True)
        return torch.stack([table.index_select(0, rows) for table, rows in pairs])

    def restored(self, states: Tensor) -> list[Tensor]:
        """Undo the arrangement: [2, places, size] to two of [words, size]."""
        pairs = zip(states, self.places, strict=True)
        return [state.index_select(0, places) for state, places in pairs]
