"""Documents of words, as E2E reads them."""

from collections.abc import Sequence
from itertools import chain

from pronominal.adapters.c2f.head.units import Units
from pronominal.adapters.words.ontonotes import SLASHED, known_genre, word_speakers
from pronominal.spans import Document

RAW_TEXT_GENRE = "nw"
"""Newswire: the genre that E2E's demo gives to what is typed in."""


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
