"""The JSON lines that fastcoref is trained on, as gold documents.

A line has ``text``, with ``clusters`` of characters, half open; or ``tokens`` or ``sentences``,
with clusters of words whose last word is a part of the span (``coref_dataset.py`` of fastcoref).
"""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from pronominal.adapters.words.english import EnglishWords
from pronominal.eval.exchange.documents import half_open, spans
from pronominal.eval.exchange.gold_conll2012 import genre_of, merged
from pronominal.eval.exchange.gold_json import read_gold_json
from pronominal.spans import AnnotatedDocument, Document, Span


def read_fastcoref(path: Path) -> list[AnnotatedDocument]:
    """Read a file; `InputError` names file and line where one is not in the format."""
    english = EnglishWords()
    return read_gold_json(
        path,
        lambda record: _of_words(record) if _has_words(record) else _of_text(record, english),
        "clusters, and text, tokens or sentences",
    )


def _has_words(record: Mapping[str, Any]) -> bool:
    return bool(record.get("tokens") or record.get("sentences"))


def _of_words(record: Mapping[str, Any]) -> AnnotatedDocument:
    sentences = [record["tokens"]] if record.get("tokens") else record["sentences"]
    flat = [*chain.from_iterable(sentences)]
    speakers = record.get("speakers") or None
    if speakers is not None and record.get("tokens"):
        speakers = [[*chain.from_iterable(speakers)]]
    if speakers is not None and [*map(len, speakers)] != [*map(len, sentences)]:
        raise ValueError("speakers have another shape than the words")
    if not all(isinstance(word, str) for word in flat):
        raise TypeError("a word is no string")
    key = record.get("doc_key")
    document = Document(sentences, speakers, None if key is None else genre_of(key), key)
    return AnnotatedDocument(document, merged(half_open(record.get("clusters", []), len(flat))))


def _of_text(record: Mapping[str, Any], english: EnglishWords) -> AnnotatedDocument:
    text = record["text"]
    document, places = english.read(text)
    starts = {place.start: word for word, place in enumerate(places)}
    ends = {place.end: word + 1 for word, place in enumerate(places)}
    found = spans(record.get("clusters", []), len(text))
    for start, end in chain.from_iterable(found):
        if start not in starts or end not in ends:
            raise ValueError(f"the mention {start}:{end} begins or ends inside a word")
    clusters = [[Span(starts[start], ends[end]) for start, end in cluster] for cluster in found]
    named = Document(document.words, key=record.get("doc_key"))
    return AnnotatedDocument(named, merged(clusters))
