"""Documents with gold clusters, in the files of other programs."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pronominal.errors import InputError
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument, read_conll
from pronominal.eval.exchange.gold_coref_jsonl import read_coref_jsonl
from pronominal.eval.training.data.rows import held_out

READERS: dict[str, Callable[[Path], list[AnnotatedDocument]]] = {
    "conll": read_conll,
    "jsonlines": read_coref_jsonl,
}
"""How documents are read, by the word before the colon in ``--data KIND:PATH``."""


def names_documents(given: str) -> bool:
    """Say whether a word of ``--data`` names documents, and not rows."""
    kind, colon, _ = given.partition(":")
    return bool(colon) and kind in READERS


def read_documents(given: Sequence[str]) -> tuple[list[AnnotatedDocument], dict[str, str]]:
    """Read documents, each ``KIND:PATH``; the digests identify what is in each."""
    documents: list[AnnotatedDocument] = []
    digests = {}
    for number, named in enumerate(given):
        kind, _, path = named.partition(":")
        own = READERS[kind](Path(path))
        content = repr([(d.document, d.clusters) for d in own])
        digests[f"{kind}{number}"] = hashlib.sha256(content.encode("utf-8")).hexdigest()
        documents += own
    return documents, digests


def share_held_out(
    documents: Sequence[AnnotatedDocument], share: float
) -> tuple[list[AnnotatedDocument], list[AnnotatedDocument]]:
    """Hold a share of documents out, one at least; `InputError` where none would be left."""
    if len(documents) < 2:
        raise InputError(
            "fewer than two documents to learn from and to stop by",
            cure="give more, or others to stop by as --validation conll:PATH",
        )
    return held_out(documents, min(max(1, round(len(documents) * share)), len(documents) - 1))
