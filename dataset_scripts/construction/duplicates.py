"""Sentences that the corpus had before, up to case and punctuation."""

import re
from hashlib import blake2b

import pyarrow as pa

from pronominal.dataset_scripts.construction.stage import Kept, select

WORD = re.compile(r"\w+")
DUPLICATE = "the sentence stood there before"


def sentence_key(text: str) -> bytes:
    """Return eight bytes, the same for sentences that have the same words in order."""
    words = " ".join(WORD.findall(text.lower()))
    return blake2b(words.encode(), digest_size=8, person=b"pronominal-cons").digest()


class Duplicates:
    """The stage that lets each sentence pass once; it is the one that remembers earlier batches.

    It takes about a hundred bytes for each sentence that came through all other stages, and has to
    see the batches in order.
    """

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def __call__(self, rows: pa.RecordBatch) -> Kept:
        """Drop the rows whose original sentence came before."""
        reasons: list[str | None] = []
        for text in rows["original"].to_pylist():
            key = sentence_key(text)
            reasons.append(DUPLICATE if key in self._known else None)
            self._known.add(key)
        return select(rows, reasons)
