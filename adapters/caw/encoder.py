"""The encoder: windows of subwords in, one contextual vector for each subword out."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pronominal.adapters.words.length_batches import length_batches

FRAME = 2
"""Positions of a window that its opening and its closing special token take."""


class Encoder(nn.Module):
    """A transformer that reads windows apart from each other, many at a time.

    Windows of similar length go together, between the tokens of `frame`. Padding is masked, so that
    a window's vectors do not depend on the others but for rounding (about 1e-6).
    """

    def __init__(
        self, transformer: nn.Module, *, frame: tuple[int, int], padding: int, batch_size: int
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.frame = frame
        self.padding = padding
        self.batch_size = batch_size

    @property
    def config(self) -> Any:
        """The transformer's config."""
        return self.transformer.config

    def forward(self, windows: Sequence[Sequence[int]]) -> Tensor:
        """Return the last hidden states of all subwords, in order, as [subwords, hidden]."""
        states = [torch.empty(0)] * len(windows)
        lengths = [len(window) for window in windows]
        for batch in length_batches(lengths, most=self.batch_size):
            hidden = self._encode([windows[index] for index in batch])
            for row, index in enumerate(batch):
                states[index] = hidden[row, 1 : 1 + len(windows[index])]
        return torch.cat(states)

    def _encode(self, windows: Sequence[Sequence[int]]) -> Tensor:
        opening, closing = self.frame
        rows = [torch.tensor([opening, *window, closing]) for window in windows]
        ids = pad_sequence(rows, batch_first=True, padding_value=self.padding)
        ids = ids.to(next(self.transformer.parameters()).device)
        output = self.transformer(ids, attention_mask=(ids != self.padding).long())
        hidden: Tensor = output.last_hidden_state
        return hidden
