"""The recurrent layers of E2E: bidirectional LSTMs whose input gate decides the forget gate too.

The cell is that of kentonl/e2e-coref's ``CustomLSTMCell``: no peepholes, no forget gate of its own
(c' = (1 - i) c + i tanh(j)), learned initial states; no library's LSTM expresses it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from pronominal.adapters.c2f.elmo.time_major import TimeMajor
from pronominal.adapters.c2f.head.initialisation import glorot


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
            output = self.dropout(layer(states, order))
            # its own output where the gate is open, its input where it is closed
            states = torch.lerp(states, output, highway(output).sigmoid())
        return states
