"""The transformer encoder (BERT, SpanBERT): segments in, one vector for each piece out."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pronominal.adapters.c2f.bert.pieces import UNKNOWN
from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.model import CoarseToFineHead
from pronominal.adapters.c2f.head.units import AntecedentScores, Encoded, Units
from pronominal.adapters.words.length_batches import length_batches

PIECES_AT_ONCE = 4096
"""Pieces, padding included, that go through BERT together; bounds memory only."""


class TransformerEncoder(nn.Module):
    """Encodes every segment apart from the others, many of similar length at a time.

    Upstream pads each segment to its greatest length; here it is padded to the longest one of
    its batch and masked, so that vectors differ by rounding alone.
    """

    def __init__(self, bert: Any, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self.bert = bert
        self._vocabulary = vocabulary

    def forward(self, units: Sequence[Units]) -> list[Encoded]:
        """Return the vectors of each document's pieces, those of [CLS] and [SEP] included."""
        rows = [segment for document in units for segment in self._segments(document)]
        vectors: list[Tensor] = [torch.empty(0)] * len(rows)
        lengths = [len(row) for row in rows]
        for batch in length_batches(lengths, room=PIECES_AT_ONCE, padded=True):
            hidden = self._encode([rows[index] for index in batch])
            for place, index in enumerate(batch):
                vectors[index] = hidden[place, : len(rows[index])]
        nothing = next(self.bert.parameters()).new_empty(0, self.bert.config.hidden_size)
        flat = torch.cat([nothing, *vectors])
        lengths = [len(document) for document in units]
        return [Encoded(own, own) for own in torch.split(flat, lengths)]

    def _segments(self, document: Units) -> Iterator[list[int]]:
        unknown = self._vocabulary[UNKNOWN]
        pieces = zip(document.segments, document.strings, strict=True)
        for _, segment in groupby(pieces, key=lambda piece: piece[0]):
            yield [self._vocabulary.get(string, unknown) for _, string in segment]

    def _encode(self, rows: Sequence[Sequence[int]]) -> Tensor:
        device = next(self.bert.parameters()).device
        ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
        lengths = torch.tensor([len(row) for row in rows])
        mask = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)
        # a batch without padding needs no mask, and has a faster attention
        attended = None if bool(mask.all()) else mask.long().to(device)
        hidden: Tensor = self.bert(ids.to(device), attention_mask=attended).last_hidden_state
        return hidden


class TransformerModel(nn.Module):
    """The encoder and the head."""

    def __init__(self, bert: nn.Module, vocabulary: Mapping[str, int], head: HeadConfig) -> None:
        super().__init__()
        self.encoder = TransformerEncoder(bert, vocabulary)
        self.head = CoarseToFineHead(head)

    def forward(self, units: Sequence[Units]) -> list[AntecedentScores]:
        """Return the antecedent scores of each document, in order."""
        scores: list[AntecedentScores] = self.head(self.encoder(units), units)
        return scores
