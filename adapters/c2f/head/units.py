"""Documents as the head sees them: units (word pieces or words), and a vector for each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

import torch
from torch import Tensor

from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.contract.refusals import NonFiniteScoresError
from pronominal.spans import Span

FRAME_SPEAKER = "[SPL]"
"""Who says [CLS] and [SEP]."""

FIRST_SPEAKERS = ("UNK", FRAME_SPEAKER)
"""What has the numbers 0 and 1 in every document."""

OVERFLOW_SPEAKER = 3
"""Whose number further speakers get where their numbers are limited (mandarjoshi90's code)."""


def speaker_numbers(names: Sequence[str], limit: int | None) -> list[int]:
    """Return a number for each unit's speaker, in the order of first appearance.

    Args:
        names: the speaker of each unit.
        limit: how many numbers there are, UNK and [SPL] included; later speakers share number 3.

    >>> speaker_numbers(["[SPL]", "ann", "bob", "cy", "dan"], limit=4)
    [1, 2, 3, 3, 3]
    """
    numbers = {name: number for number, name in enumerate(FIRST_SPEAKERS)}
    for name in names:
        if name not in numbers and (limit is None or len(numbers) < limit):
            numbers[name] = len(numbers)
    return [numbers.get(name, OVERFLOW_SPEAKER) for name in names]


def genre_number(genre: str | None, config: HeadConfig) -> int:
    """Return the row of a genre's embedding; another genre, or none, counts as the first one."""
    return config.genres.index(genre) if genre in config.genres else 0


@dataclass(frozen=True, slots=True)
class Units:
    """A tokenised document; all but `genre` and `key` have one entry for each unit.

    Attributes:
        strings: the units, word pieces with [CLS] and [SEP] or words.
        sentences: number of the sentence of each; no span crosses a sentence.
        segments: number of the segment, from 0 on, that is encoded apart from the others: a window
            of word pieces, or a sentence of words.
        speakers: name of the speaker of each, `FRAME_SPEAKER` for [CLS] and [SEP].
        words: number of the word that each is a part of.
        genre: two-letter OntoNotes genre; None when unknown.
        key: name under which cached vectors are found.
        kept: spans that are among the top spans whatever their score is.
    """

    strings: Sequence[str]
    sentences: Sequence[int]
    segments: Sequence[int]
    speakers: Sequence[str]
    words: Sequence[int]
    genre: str | None = None
    key: str | None = None
    kept: Sequence[Span] = ()

    def __len__(self) -> int:
        return len(self.strings)


def word_span(units: Units, span: Span) -> Span:
    """Return the words that a span has pieces of, [CLS] and [SEP] counting to the word before.

    This is upstream's ``subtoken_map``, which widens a span that begins or ends inside a word.
    """
    return Span(units.words[span.start], units.words[span.end - 1] + 1)


def inside_frame(units: Units, span: Span) -> Span | None:
    """Take [CLS] and [SEP] from a span's borders; None if nothing else is in it."""
    real = [unit for unit in range(*span) if units.speakers[unit] != FRAME_SPEAKER]
    return Span(real[0], real[-1] + 1) if real else None


class Encoded(NamedTuple):
    """What an encoder makes of a document of N units.

    Attributes:
        boundary: vectors of which spans take their first and last, [N, H].
        head_values: vectors of which spans take a weighted mean, [N, Hd]; the same tensor as
            `boundary` in the transformer systems.
    """

    boundary: Tensor
    head_values: Tensor


class AntecedentScores(NamedTuple):
    """What the head finds in a document: k spans, and up to c antecedents of each.

    Attributes:
        starts: first unit of each span, [k]; spans are ordered by start, then end.
        ends: unit after the last one, [k].
        mention_scores: how good a mention each span is, [k].
        antecedents: which span each antecedent is, an earlier one, [k, c].
        scores: of no antecedent (always 0), then of the antecedents, [k, 1 + c]; -inf for the
            fillers of the first spans, which have fewer than c earlier ones.
    """

    starts: Tensor
    ends: Tensor
    mention_scores: Tensor
    antecedents: Tensor
    scores: Tensor


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
        kept: spans that are kept in any case, of all units.
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
    kept: list[Span]

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
        firsts = [*accumulate(lengths, initial=0)][:-1]
        return cls(
            boundary=boundary,
            head_values=torch.cat([document.head_values for document in encoded]),
            document_of=torch.arange(len(units)).repeat_interleave(each).to(device),
            sentences=_flat(sentences).to(device),
            segments=_flat([document.segments for document in units]).to(device),
            speakers=_flat(speakers).to(device),
            genres=genres.repeat_interleave(each).to(device),
            firsts=firsts,
            lengths=lengths,
            spans_to_keep=[spans_to_keep(length, config) for length in lengths],
            kept=[
                Span(first + start, first + end)
                for first, document in zip(firsts, units, strict=True)
                for start, end in document.kept
            ],
        )

    def refuse_marked(self, marked: Tensor) -> None:
        """Blame the first document that has a mark, [N, any], of numbers that are not finite."""
        rows = marked.any(1)
        if rows.any():
            raise NonFiniteScoresError(int(self.document_of[rows][0]))


def spans_to_keep(units: int, config: HeadConfig) -> int:
    """Return how many spans a document of so many units keeps."""
    count = int(units * config.top_span_ratio)
    return count if config.max_spans is None else min(count, config.max_spans)


def _flat(numbers: Sequence[Sequence[int]]) -> Tensor:
    return torch.tensor([*chain.from_iterable(numbers)], dtype=torch.long)
