"""Places in a text: spans, mentions, and tokenised documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of Unicode code points in a text (or of words in a `Document`)."""

    start: int
    end: int

    def covers(self, other: "Span") -> bool:
        """Say whether `other` lies inside this span (equal borders count)."""
        return self.start <= other.start and other.end <= self.end


class Mention(NamedTuple):
    """A string that stands in a text; ``start == end == -1`` when it cannot be located there."""

    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The mention's span; ``Span(-1, -1)`` when it is not located."""
        return Span(self.start, self.end)

    @property
    def located(self) -> bool:
        """Whether the mention has a place in the text."""
        return self.start >= 0

    def stands_in(self, text: str) -> bool:
        """Say whether `text` holds exactly this mention at these offsets."""
        whole = self.located and self.end == self.start + len(self.text)
        return whole and text[self.start : self.end] == self.text


@dataclass(frozen=True, slots=True)
class Document:
    """A tokenised text for systems that work on tokens.

    Attributes:
        words: sentences of words.
        speakers: one speaker for each word, in the shape of `words`; None when unknown.
        genre: two-letter OntoNotes genre such as ``"nw"``; None when unknown.
        key: name under which cached vectors of this document are found.
    """

    words: Sequence[Sequence[str]]
    speakers: Sequence[Sequence[str]] | None = None
    genre: str | None = None
    key: str | None = None


Cluster = list[Span]
"""The spans of one text that a system takes to be the same entity."""


class Syntax(NamedTuple):
    """What a dependency parse says of a word.

    Attributes:
        tag: its part of speech, such as ``CC``.
        governor: the word that governs it, counted over all sentences; None for a root.
    """

    tag: str
    governor: int | None


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document and its gold clusters.

    Attributes:
        document: words, speakers, genre, and a key such as ``"bc/cctv/00/cctv_0000_0"``.
        clusters: half-open spans of words, counted over all sentences; mentions of two clusters
            are known to be different entities. A cluster may have one mention.
        complete: whether every other span is known to corefer with nothing; otherwise nothing is
            known of it.
        syntax: the parse of each word; None where there is none.
    """

    document: Document
    clusters: list[Cluster]
    complete: bool = True
    syntax: Sequence[Syntax] | None = None
