"""Documents of words as E2E reads them."""

from collections.abc import Sequence
from itertools import chain

from pronominal.adapters.c2f.pieces import SLASHED
from pronominal.adapters.c2f.units import Units
from pronominal.spans import Document


def word_units(document: Document, genre: str, speakers: Sequence[str]) -> Units:
    """Return a document whose units are its words and whose segments are its sentences.

    Args:
        document: the words.
        genre: of the document.
        speakers: who says each word.
    """
    sentences = [number for number, sentence in enumerate(document.words) for _ in sentence]
    words = [SLASHED.get(word, word) for word in chain.from_iterable(document.words)]
    return Units(
        strings=words,
        sentences=sentences,
        segments=sentences,
        speakers=speakers,
        words=range(len(words)),
        genre=genre,
        key=document.key,
    )
