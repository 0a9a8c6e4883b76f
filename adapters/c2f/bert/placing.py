"""From spans of word pieces to spans of words and of characters."""

from collections.abc import Sequence
from dataclasses import dataclass

from pronominal.adapters.c2f.bert.pieces import (
    CLOSING,
    CONTINUED,
    NO_SPEAKER,
    OPENING,
    WordPieces,
)
from pronominal.adapters.c2f.head.units import FRAME_SPEAKER, Units, inside_frame, word_span
from pronominal.spans import Span


@dataclass(frozen=True, slots=True)
class PieceText:
    """A raw text, cut into pieces, with the characters of each word by its number."""

    units: Units
    places: Sequence[Span]


def character_span(text: PieceText, span: Span) -> Span | None:
    """Return the characters of the words that a span has pieces of; None for [CLS] or [SEP]."""
    inner = inside_frame(text.units, span)
    if inner is None:
        return None
    words = word_span(text.units, inner)
    return Span(text.places[words.start].start, text.places[words.end - 1].end)


def is_widened(units: Units, span: Span) -> bool:
    """Say whether a span begins or ends inside a word."""
    inner = inside_frame(units, span)
    if inner is None:
        return False
    return _same_word(units, inner.start - 1, inner.start) or _same_word(
        units, inner.end - 1, inner.end
    )


def read_as_winopron(text: str, tokenizer: WordPieces) -> PieceText:
    """Cut a text into pieces as the WinoPron authors did (``convert_for_spanbert.py``).

    One segment and one sentence, [SEP] included, for any length; every piece without ``##``
    is a new word, so that punctuation and parts of contractions are words; the genre is unknown.
    """
    pieces, characters = tokenizer.of_text(text)
    words: list[int] = []
    places: list[Span] = []
    for piece, place in zip(pieces, characters, strict=True):
        if places and piece.startswith(CONTINUED):
            places[-1] = Span(places[-1].start, place.end)
        else:
            places.append(place)
        words.append(len(places) - 1)
    length = len(pieces) + 2
    units = Units(
        strings=[OPENING, *pieces, CLOSING],
        sentences=[0] * length,
        segments=[0] * length,
        speakers=[FRAME_SPEAKER, *[NO_SPEAKER] * len(pieces), FRAME_SPEAKER],
        words=[0, *words, words[-1] if words else 0],
    )
    return PieceText(units, places)


def _same_word(units: Units, one: int, other: int) -> bool:
    return (
        one >= 0
        and other < len(units)
        and FRAME_SPEAKER not in (units.speakers[one], units.speakers[other])
        and units.words[one] == units.words[other]
    )
