"""What OntoNotes says of a document besides its words: its genre, and who speaks."""

from itertools import chain

from pronominal.errors import InputError
from pronominal.spans import Document

GENRES = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
"""The genres of OntoNotes, in the order of every published checkpoint's embeddings."""


def word_speakers(document: Document, nameless: str, place: str) -> list[str]:
    """Return who says each word.

    Args:
        document: the words, with or without speakers.
        nameless: who says the words of a document without speakers.
        place: how messages call the document, such as ``documents[3]``.

    Raises:
        InputError: the speakers are not one for each word.
    """
    lengths = [len(sentence) for sentence in document.words]
    if document.speakers is None:
        return [nameless] * sum(lengths)
    if [len(sentence) for sentence in document.speakers] != lengths:
        raise InputError(
            "the speakers are not one for each word",
            cure="give speakers in the shape of the words, or None",
            row=place,
        )
    return list(chain.from_iterable(document.speakers))
