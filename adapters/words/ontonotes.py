"""What OntoNotes says of a document besides its words: its genre, and who speaks."""

from collections.abc import Sequence
from itertools import chain

from pronominal.errors import InputError
from pronominal.spans import Document

GENRES = ("bc", "bn", "mz", "nw", "pt", "tc", "wb")
"""The genres of OntoNotes, in the order of every published checkpoint's embeddings."""


SLASHED = {"/.": ".", "/?": "?"}
"""Words of CoNLL-2012 that upstream's preparation of the data takes the slash from."""


def known_genre(genre: str | None, otherwise: str, genres: Sequence[str], place: str) -> str:
    """Return a document's genre, or the one of documents that say nothing.

    `place` is the document's name in messages; `InputError` if it is none of `genres`.
    """
    known = otherwise if genre is None else genre
    if known not in genres:
        cure = f"write one of {', '.join(genres)}, or None for {otherwise}"
        raise InputError(f"there is no genre '{known}'", cure=cure, row=place)
    return known


def word_speakers(document: Document, nameless: str, place: str) -> list[str]:
    """Return who says each word; in a document without speakers, `nameless`.

    `place` is the document's name in messages; `InputError` if they are not one for each word.
    """
    lengths = [len(sentence) for sentence in document.words]
    if document.speakers is None:
        return [nameless] * sum(lengths)
    if [len(sentence) for sentence in document.speakers] != lengths:
        cure = "give speakers in the shape of the words, or None"
        raise InputError("the speakers are not one for each word", cure=cure, row=place)
    return list(chain.from_iterable(document.speakers))
