"""E2E's encoder: embeddings, characters and ELMo into highway LSTMs over each sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.e2e.characters import CharacterConvolution, CharacterVocabulary
from pronominal.adapters.c2f.e2e.coupled_lstm import CoupledLSTM, HighwayLSTM
from pronominal.adapters.c2f.e2e.embeddings import WordVectors
from pronominal.adapters.c2f.elmo.network import ScalarMix
from pronominal.adapters.c2f.head.initialisation import initialise
from pronominal.adapters.c2f.head.units import Encoded, Units
from pronominal.adapters.words.ontonotes import SLASHED, known_genre, word_speakers
from pronominal.spans import Document

RAW_TEXT_GENRE = "nw"
"""Newswire: the genre that E2E's demo gives to what is typed in."""


@dataclass(frozen=True, slots=True)
class LstmConfig:
    """Sizes and dropouts of an `LstmEncoder`.

    Attributes:
        context_size: of the embeddings that the LSTM reads.
        head_size: of the embeddings that head attention averages.
        characters: how many numbers characters have, 0 included.
        character_size: of a character's vector.
        filter_widths: of the character convolution.
        filter_size: how many filters have each width.
        lstm_size: of the states of one direction.
        lstm_layers: how many layers the LSTM has.
        elmo_size: of a word's vector in each layer of ELMo; 0 for a system without ELMo.
        elmo_layers: how many layers are mixed.
        lexical_dropout: share of the embedded words that training hides.
        lstm_dropout: share of the LSTM's states and outputs that training hides.
    """

    context_size: int
    head_size: int
    characters: int
    character_size: int = 8
    filter_widths: tuple[int, ...] = (3, 4, 5)
    filter_size: int = 50
    lstm_size: int = 200
    lstm_layers: int = 3
    elmo_size: int = 1024
    elmo_layers: int = 3
    lexical_dropout: float = 0.5
    lstm_dropout: float = 0.4

    @property
    def boundary_size(self) -> int:
        """Size of the LSTM's output for a word."""
        return 2 * self.lstm_size

    @property
    def character_vector_size(self) -> int:
        """Size of what the character convolution makes of a word."""
        return len(self.filter_widths) * self.filter_size

    @property
    def head_value_size(self) -> int:
        """Size of the vectors that head attention averages."""
        return self.head_size + self.character_vector_size


@dataclass(frozen=True, slots=True)
class WordInputs:
    """What the encoder reads of a document or a window of it; no parameter has touched it yet.

    Attributes:
        context: embeddings for the LSTM, [words, context_size].
        head: embeddings for head attention, [words, head_size].
        characters: the numbers of each word's characters.
        longest: length of the longest word of the whole document, also in a window of it.
        lengths: how many words each sentence has; sentences without words are left out.
        elmo: ELMo's layers, [words, elmo_size, elmo_layers]; None where ELMo says nothing.
    """

    context: Tensor
    head: Tensor
    characters: list[list[int]]
    longest: int
    lengths: list[int]
    elmo: Tensor | None = None


@dataclass(frozen=True, slots=True)
class WordReader:
    """Looks words up: the part of the encoder that is files, not parameters."""

    context: WordVectors
    head: WordVectors
    vocabulary: CharacterVocabulary

    def read(
        self, units: Units, elmo: Tensor | None = None, longest: int | None = None
    ) -> WordInputs:
        """Return what the encoder reads of a document of words.

        Args:
            units: the document, or a window of it.
            elmo: ELMo's layers, [words, size, layers]; None for a document without them.
            longest: length of the whole document's longest word; None when it is one of these.
        """
        words = list(units.strings)
        return WordInputs(
            context=torch.from_numpy(self.context.vectors(words)),
            head=torch.from_numpy(self.head.vectors(words)),
            characters=[self.vocabulary.numbers(word) for word in words],
            longest=max(map(len, words), default=0) if longest is None else longest,
            lengths=[len(list(sentence)) for _, sentence in groupby(units.segments)],
            elmo=elmo,
        )


class LstmEncoder(nn.Module):
    """Reads each sentence on its own; all sentences of a batch of documents go side by side."""

    def __init__(self, config: LstmConfig) -> None:
        super().__init__()
        self.config = config
        self.characters = CharacterConvolution(
            config.characters, config.character_size, config.filter_widths, config.filter_size
        )
        if config.elmo_size:
            self.elmo_mix = ScalarMix(config.elmo_layers)
        read = config.context_size + config.character_vector_size + config.elmo_size
        self.lstm = HighwayLSTM(read, config.lstm_size, config.lstm_layers, config.lstm_dropout)
        self.lexical_dropout = nn.Dropout(config.lexical_dropout)

    def reset_parameters(self) -> None:
        """Draw all parameters anew, as upstream does; ELMo's layers begin with equal weights."""
        initialise(self.characters, "glorot")
        for layer in self.lstm.layers:
            assert isinstance(layer, CoupledLSTM)
            layer.reset_parameters()
        initialise(self.lstm.highways, "glorot")

    def forward(self, documents: Sequence[WordInputs]) -> list[Encoded]:
        """Return the vectors of each document's words, in order."""
        device = self.characters.embeddings.weight.device
        characters = [numbers for document in documents for numbers in document.characters]
        padded = [self.characters.padded_length(d.longest) for d in documents for _ in d.characters]
        spelt = self.characters(characters, padded)
        context = torch.cat([document.context for document in documents]).to(device)
        head = torch.cat([document.head for document in documents]).to(device)
        words = self.lexical_dropout(self.context_vectors(context, spelt, documents))
        head_values = self.lexical_dropout(torch.cat([head, spelt], dim=1))
        states = self.lstm(words, [n for document in documents for n in document.lengths])
        counts = [len(document.characters) for document in documents]
        both = (torch.split(states, counts), torch.split(head_values, counts))
        return [Encoded(*vectors) for vectors in zip(*both, strict=True)]

    def context_vectors(
        self, context: Tensor, spelt: Tensor, documents: Sequence[WordInputs]
    ) -> Tensor:
        """Return what the LSTM reads of each word: embedding, spelling, ELMo's layers mixed."""
        if not self.config.elmo_size:
            return torch.cat([context, spelt], dim=1)
        mixed = [
            context.new_zeros(len(document.characters), self.config.elmo_size)
            if document.elmo is None
            else self.elmo_mix(document.elmo.to(context.device))
            for document in documents
        ]
        return torch.cat([context, spelt, torch.cat(mixed)], dim=1)


def word_units(document: Document, genres: Sequence[str], place: str) -> Units:
    """Return a document whose units are its words and whose segments are its sentences.

    A genre of None is newswire, any other one of `genres`; `place` is the name in messages.
    """
    sentences = [number for number, sentence in enumerate(document.words) for _ in sentence]
    words = [SLASHED.get(word, word) for word in chain.from_iterable(document.words)]
    return Units(
        strings=words,
        sentences=sentences,
        segments=sentences,
        speakers=word_speakers(document, "", place),
        words=range(len(words)),
        genre=known_genre(document.genre, RAW_TEXT_GENRE, genres, place),
        key=document.key,
    )
