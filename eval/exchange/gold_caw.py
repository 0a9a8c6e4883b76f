"""The JSON lines that CAW-coref and WL-coref are trained on, as gold documents.

Words, the number of each one's sentence, its speaker, and ``span_clusters`` of words, half open
(``convert_to_jsonlines.py`` of KarelDO/wl-coref).
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from pronominal.eval.exchange.documents import spans
from pronominal.eval.exchange.gold_conll2012 import genre_of, merged
from pronominal.eval.exchange.gold_json import read_gold_json
from pronominal.spans import AnnotatedDocument, Document


def read_caw(path: Path) -> list[AnnotatedDocument]:
    """Read a file; `InputError` names file and line where one is not in the format."""
    return read_gold_json(path, _annotated, "document_id, cased_words, sent_id and span_clusters")


def _annotated(record: Mapping[str, Any]) -> AnnotatedDocument:
    words, numbers = record["cased_words"], record["sent_id"]
    speakers = record.get("speaker")
    key = record["document_id"]
    document = Document(
        _sentences(words, numbers),
        None if speakers is None else _sentences(speakers, numbers),
        genre_of(key),
        key,
    )
    return AnnotatedDocument(document, merged(spans(record["span_clusters"], len(words))))


def _sentences(column: Sequence[str], numbers: Sequence[int]) -> list[list[str]]:
    if not all(isinstance(one, str) for one in column):
        raise TypeError("a word or a speaker is no string")
    numbered = zip(numbers, column, strict=True)
    return [[one for _, one in part] for _, part in groupby(numbered, key=itemgetter(0))]
