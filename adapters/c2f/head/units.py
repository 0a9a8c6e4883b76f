"""A document as the head sees it: units (word pieces or words), and a vector for each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from pronominal.spans import Span

FRAME_SPEAKER = "[SPL]"
"""Who says [CLS] and [SEP]."""


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
    """

    strings: Sequence[str]
    sentences: Sequence[int]
    segments: Sequence[int]
    speakers: Sequence[str]
    words: Sequence[int]
    genre: str | None = None
    key: str | None = None

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
