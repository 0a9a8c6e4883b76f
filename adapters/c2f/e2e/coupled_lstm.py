"""The recurrent layers of E2E: bidirectional LSTMs whose input gate decides the forget gate too.

The cell is that of kentonl/e2e-coref's ``CustomLSTMCell``: no peepholes, no forget gate of its own
(c' = (1 - i) c + i tanh(j)), learned initial states; no library's LSTM expresses it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pronominal.adapters.c2f.head.initialisation import glorot


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


class CoupledLSTM(nn.Module):
    """One bidirectional layer, over all sentences of a batch at once.

    The input's share of the gates is one matrix product for all words and both directions; each
    time step is one batched product for all sentences that have a word there.

    Args:
        inputs: size of the input vectors.
        size: of the states in each direction.
        dropout: share of the recurrent state that training hides; the same entries at all steps
            of a sentence.

    Attributes:
        weights: [2, inputs + size, 3 * size], forward and backward; the rows are input and state,
            the columns input gate, candidate, output gate.
        bias: [2, 3 * size].
        initial_cell: [2, size].
        initial_hidden: [2, size].
    """

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.inputs = inputs
        self.size = size
        self.dropout = dropout
        self.weights = nn.Parameter(torch.empty(2, inputs + size, 3 * size))
        self.bias = nn.Parameter(torch.empty(2, 3 * size))
        self.initial_cell = nn.Parameter(torch.empty(2, size))
        self.initial_hidden = nn.Parameter(torch.empty(2, size))

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all parameters anew: blocks of the matrices orthogonal, the rest by Glorot's rule.

        Upstream's blocks are products of two random orthogonal matrices, which are distributed as
        one is. TensorFlow counts a bias's entries as fan-in and as fan-out.
        """
        for gate in self.weights.chunk(3, dim=2):
            for direction in gate:
                nn.init.orthogonal_(direction)
        glorot(self.bias, 3 * self.size, 3 * self.size)
        for start in (self.initial_cell, self.initial_hidden):
            glorot(start, 1, self.size)

    def forward(self, words: Tensor, order: TimeMajor) -> Tensor:
        """Return the states of all words, [words, 2 * size], forward before backward."""
        both = self.weights[:, : self.inputs].transpose(0, 1).flatten(1)
        gates = torch.addmm(self.bias.flatten(), words, both).view(-1, 2, 3 * self.size)
        states = self._run(order.arranged(gates.unbind(1)), order.active)
        return torch.cat(order.restored(states), dim=1)

    def _run(self, gates: Tensor, active: list[int]) -> Tensor:
        """Run both directions over time; [2, places, size], in the order of `gates`."""
        recurrent = self.weights[:, self.inputs :]
        sentences = active[0] if active else 0
        shape = (2, sentences, self.size)
        cell = self.initial_cell.unsqueeze(1).expand(shape)
        hidden = self.initial_hidden.unsqueeze(1).expand(shape)
        kept = functional.dropout(gates.new_ones(shape), self.dropout, self.training)
        states = []
        for now in torch.split(gates, active, dim=1):
            going_on = now.shape[1]
            state = hidden[:, :going_on]
            if self.training:
                state = state * kept[:, :going_on]
            i, j, o = torch.baddbmm(now, state, recurrent).chunk(3, dim=2)
            cell = torch.lerp(cell[:, :going_on], j.tanh(), i.sigmoid())
            hidden = cell.tanh() * o.sigmoid()
            states.append(hidden)
        return torch.cat(states, dim=1) if states else gates[:, :, : self.size]


class HighwayLSTM(nn.Module):
    """Bidirectional layers on top of each other; all but the first may let their input pass."""

    def __init__(self, inputs: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            CoupledLSTM(inputs if layer == 0 else 2 * size, size, dropout)
            for layer in range(layers)
        )
        self.highways = nn.ModuleList(nn.Linear(2 * size, 2 * size) for _ in range(layers - 1))
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return the last layer's states, [words, 2 * size], given sentences in a row."""
        order = TimeMajor.of(lengths, words.device)
        states: Tensor = self.dropout(self.layers[0](words, order))
        for layer, highway in zip(list(self.layers)[1:], self.highways, strict=True):
            found = self.dropout(layer(states, order))
            # its own output where the gate is open, its input where it is closed
            states = torch.lerp(states, found, highway(found).sigmoid())
        return states
