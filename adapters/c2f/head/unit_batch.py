"""Several documents one behind the other, as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.features import genre_number, speaker_numbers
from pronominal.adapters.c2f.head.units import Encoded, Units


@dataclass(frozen=True, slots=True)
class UnitBatch:
    """The units of D documents, N in all; tensors have one row for each unit.

    Attributes:
        boundary: the encoder's vectors, [N, H].
        head_values: the vectors that head attention averages, [N, Hd].
        document_of: which document a unit is of.
        sentences: a number for each sentence that no other document has.
        segments: number of the segment, counted in each document.
        speakers: number of the speaker, counted in each document.
        genres: row of the genre's embedding.
        firsts: where each document begins, [D].
        lengths: units of each document, [D].
        spans_to_keep: how many spans each document keeps, [D].
    """

    boundary: Tensor
    head_values: Tensor
    document_of: Tensor
    sentences: Tensor
    segments: Tensor
    speakers: Tensor
    genres: Tensor
    firsts: list[int]
    lengths: list[int]
    spans_to_keep: list[int]

    @classmethod
    def of(
        cls, encoded: Sequence[Encoded], units: Sequence[Units], config: HeadConfig
    ) -> "UnitBatch":
        """Put documents one behind the other, on the device of their vectors."""
        boundary = torch.cat([document.boundary for document in encoded])
        lengths = [len(document) for document in units]
        each = torch.tensor(lengths, dtype=torch.long)
        genres = torch.tensor([genre_number(one.genre, config) for one in units], dtype=torch.long)
        # numbers of one document stay apart from those of all others
        apart = [max((*document.sentences, 0)) + 1 for document in units]
        behind = accumulate(apart, initial=0)
        sentences = [
            [first + number for number in document.sentences]
            for first, document in zip(behind, units, strict=False)
        ]
        speakers = [speaker_numbers(document.speakers, config.max_speakers) for document in units]
        device = boundary.device
        return cls(
            boundary=boundary,
            head_values=torch.cat([document.head_values for document in encoded]),
            document_of=torch.arange(len(units)).repeat_interleave(each).to(device),
            sentences=_flat(sentences).to(device),
            segments=_flat([document.segments for document in units]).to(device),
            speakers=_flat(speakers).to(device),
            genres=genres.repeat_interleave(each).to(device),
            firsts=[first for first, _ in zip(accumulate(lengths, initial=0), units, strict=False)],
            lengths=lengths,
            spans_to_keep=[spans_to_keep(length, config) for length in lengths],
        )

    @property
    def not_finite(self) -> Tensor:
        """Which numbers of the vectors are not finite, [N, H + Hd]."""
        return ~torch.cat([self.boundary, self.head_values], dim=1).isfinite()

    def first_owner(self, marked: Tensor) -> int | None:
        """Return the first document with a mark in a row of its units; None without marks."""
        rows = marked.any(1)
        return int(self.document_of[rows][0]) if rows.any() else None


def spans_to_keep(units: int, config: HeadConfig) -> int:
    """Return how many spans a document of so many units keeps."""
    count = int(units * config.top_span_ratio)
    return count if config.max_spans is None else min(count, config.max_spans)


def _flat(numbers: Sequence[Sequence[int]]) -> Tensor:
    return torch.tensor([number for row in numbers for number in row], dtype=torch.long)
