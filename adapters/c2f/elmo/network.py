"""ELMo (Peters et al., 2018, "Deep contextualized word representations") as an encoder.

Reads the option file and the HDF5 weights that allenai/bilm-tf publishes. A word's spelling goes
through a character convolution and highways; two bidirectional LSTM layers whose states are
projected read the sentence. Sentences start from zero states: bilm-tf lets states of one batch
reach into the next, with which an answer would depend on what was asked before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.elmo.time_major import TimeMajor
from pronominal.adapters.words.length_batches import length_batches

SENTENCE_START, SENTENCE_END, WORD_START, WORD_END, PADDING = 256, 257, 258, 259, 260
"""What follows the 256 bytes in the table of characters."""

CHARACTERS = 261

WORDS_AT_ONCE = 512
"""How many words go through the layers together; bounds memory only."""


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """The architecture's sizes, from the option file that allenai/bilm-tf publishes.

    Attributes:
        character_size: of a character's vector.
        filters: width in characters and number of the filters of each width.
        highways: how many follow the filters.
        activation: ``"relu"`` or ``"tanh"``, after the maximum over positions.
        max_characters: bytes in a word, its two marks included; longer words are cut.
        projection: size of the token encoder's output and of the states of one direction.
        cells: how many cells a layer has in one direction.
        layers: how many layers there are above the token encoder.
        cell_clip: largest magnitude of a cell; None for any.
        projection_clip: largest magnitude of a state's entry; None for any.
        skip_connections: whether layers above the first add what they read to what they say.
    """

    character_size: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    activation: str
    max_characters: int
    projection: int
    cells: int
    layers: int
    cell_clip: float | None
    projection_clip: float | None
    skip_connections: bool


def character_ids(word: str, length: int) -> list[int]:
    """Return a word's bytes between its marks, padded or cut to `length` numbers.

    >>> character_ids("Ann", 7)
    [258, 65, 110, 110, 259, 260, 260]
    """
    return _framed(word.encode("utf-8", "ignore")[: length - 2], length)


def _framed(characters: Sequence[int], length: int) -> list[int]:
    framed = [WORD_START, *characters, WORD_END]
    return framed + [PADDING] * (length - len(framed))


class Highway(nn.Module):
    """One highway: part transformed, part as it was."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.carry = nn.Linear(size, size)
        self.transform = nn.Linear(size, size)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return vectors of the same shape; bilm-tf's carry gate lets the transformed part in."""
        return torch.lerp(vectors, self.transform(vectors).relu(), self.carry(vectors).sigmoid())


class TokenEncoder(nn.Module):
    """The layer that knows no context: from spelling to a vector."""

    def __init__(self, options: ElmoOptions) -> None:
        super().__init__()
        filters = sum(count for _, count in options.filters)
        self.length = options.max_characters
        self.activation = torch.relu if options.activation == "relu" else torch.tanh
        self.embeddings = nn.Embedding(CHARACTERS, options.character_size)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(options.character_size, count, width) for width, count in options.filters
        )
        self.highways = nn.ModuleList(Highway(filters) for _ in range(options.highways))
        # bilm-tf leaves the projection out where it would change nothing
        same = filters == options.projection
        self.projection = nn.Identity() if same else nn.Linear(filters, options.projection)

    def forward(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Return a vector for each word and for both ends of each sentence, [tokens, size]."""
        start, end = (_framed([mark], self.length) for mark in (SENTENCE_START, SENTENCE_END))
        spelt = [
            tuple(spelling)
            for sentence in sentences
            for spelling in (start, *(character_ids(word, self.length) for word in sentence), end)
        ]
        row_of = {spelling: row for row, spelling in enumerate(dict.fromkeys(spelt))}
        device = self.embeddings.weight.device
        vectors = self._encode(torch.tensor(list(row_of), device=device))
        return vectors[torch.tensor([row_of[spelling] for spelling in spelt], device=device)]

    def _encode(self, characters: Tensor) -> Tensor:
        vectors = self.embeddings(characters).transpose(1, 2)
        highest = [convolution(vectors).amax(2) for convolution in self.convolutions]
        words = self.activation(torch.cat(highest, dim=1))
        for highway in self.highways:
            words = highway(words)
        projected: Tensor = self.projection(words)
        return projected


class ProjectedLSTM(nn.Module):
    """One bidirectional layer whose cells are larger than its states, all values clipped.

    Attributes:
        weights: [2, 2 * projection, 4 * cells], forward and backward; the rows are input and
            state, the columns input gate, candidate, forget gate, output gate.
        bias: [2, 4 * cells].
        projection: [2, cells, projection].
    """

    def __init__(self, options: ElmoOptions) -> None:
        super().__init__()
        self.size, self.cells = options.projection, options.cells
        self.cell_clip, self.projection_clip = options.cell_clip, options.projection_clip
        self.weights = nn.Parameter(torch.empty(2, 2 * self.size, 4 * self.cells))
        self.bias = nn.Parameter(torch.empty(2, 4 * self.cells))
        self.projection = nn.Parameter(torch.empty(2, self.cells, self.size))

    def forward(self, tokens: Tensor, order: TimeMajor) -> Tensor:
        """Return the states of all tokens in both directions, [2, tokens, size]."""
        arranged = order.arranged(tokens.unbind())
        gates = torch.baddbmm(self.bias.unsqueeze(1), arranged, self.weights[:, : self.size])
        return torch.stack(order.restored(self._run(gates, order.active)))

    def _run(self, gates: Tensor, active: list[int]) -> Tensor:
        recurrent = self.weights[:, self.size :]
        cell = gates.new_zeros(2, active[0], self.cells)
        hidden = gates.new_zeros(2, active[0], self.size)
        states = []
        for now in torch.split(gates, active, dim=1):
            going_on = now.shape[1]
            both = torch.baddbmm(now, hidden[:, :going_on], recurrent)
            i, j, f, o = both.chunk(4, dim=2)
            # TensorFlow keeps the forget gate's bias of 1 outside of the weights
            cell = (f + 1).sigmoid() * cell[:, :going_on] + i.sigmoid() * j.tanh()
            cell = _clipped(cell, self.cell_clip)
            hidden = torch.bmm(o.sigmoid() * cell.tanh(), self.projection)
            hidden = _clipped(hidden, self.projection_clip)
            states.append(hidden)
        return torch.cat(states, dim=1)


def _clipped(values: Tensor, limit: float | None) -> Tensor:
    return values if limit is None else values.clamp(-limit, limit)


class Elmo(nn.Module):
    """The bidirectional language model's layers: words in, one vector for each layer out."""

    def __init__(self, options: ElmoOptions) -> None:
        super().__init__()
        self.options = options
        self.tokens = TokenEncoder(options)
        self.layers = nn.ModuleList(ProjectedLSTM(options) for _ in range(options.layers))

    @property
    def shape(self) -> tuple[int, int]:
        """Size of a word's vector in each layer, and how many layers there are."""
        return 2 * self.options.projection, 1 + self.options.layers

    @torch.no_grad()
    def forward(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """Return for each sentence, in order, its words' vectors, [words, size, 1 + layers].

        Layer 0 is the token encoder's vector twice; the others hold the states of the forward,
        then of the backward direction.
        """
        answers = [torch.empty(0)] * len(sentences)
        lengths = [len(sentence) + 2 for sentence in sentences]  # with their borders
        for batch in length_batches(lengths, room=WORDS_AT_ONCE):
            encoded = self._encode([sentences[index] for index in batch])
            for index, vectors in zip(batch, encoded, strict=True):
                answers[index] = vectors
        return answers

    def _encode(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        lengths = [len(sentence) + 2 for sentence in sentences]
        tokens: Tensor = self.tokens(sentences)
        order = TimeMajor.of(lengths, tokens.device)
        both = tokens.expand(2, -1, -1)
        states = [both]
        for number, layer in enumerate(self.layers):
            output = layer(both, order)
            both = output + both if number > 0 and self.options.skip_connections else output
            states.append(both)
        vectors = torch.stack([torch.cat([*state], dim=1) for state in states], dim=2)
        return [sentence[1:-1] for sentence in torch.split(vectors, lengths)]


class ScalarMix(nn.Module):
    """The weighted mean of ELMo's layers that a task learns, times a scale that it learns too.

    Attributes:
        scores: [layers]; their softmax are the weights.
        scale: a number.
    """

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """Mix [words, size, layers] to [words, size]."""
        return (layers @ self.scores.softmax(0)) * self.scale
