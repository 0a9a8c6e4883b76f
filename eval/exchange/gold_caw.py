"""The JSON lines that CAW-coref and WL-coref are trained on, as gold documents.

Words, the number of each one's sentence, its speaker, tag and governor, and ``span_clusters`` of
words, half open (``convert_to_jsonlines.py`` of KarelDO/wl-coref).
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from pronominal.eval.exchange.documents import spans
from pronominal.eval.exchange.gold_conll2012 import genre_of, merged
from pronominal.eval.exchange.gold_json import read_gold_json
from pronominal.spans import AnnotatedDocument, Document, Syntax


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
    clusters = merged(spans(record["span_clusters"], len(words)))
    return AnnotatedDocument(document, clusters, syntax=_syntax(record))


def _syntax(record: Mapping[str, Any]) -> list[Syntax] | None:
    """Return the parse, which only what CAW is trained on has."""
    if "pos" not in record or "head" not in record:
        return None
    length = len(record["cased_words"])
    parsed = [Syntax(*one) for one in zip(record["pos"], record["head"], strict=True)]
    wrong = [one for one in parsed if one.governor is not None and not 0 <= one.governor < length]
    if len(parsed) != length or wrong:
        raise ValueError("pos and head are not those of the words")
    return parsed


def _sentences(column: Sequence[str], numbers: Sequence[int]) -> list[list[str]]:
    if not all(isinstance(one, str) for one in column):
        raise TypeError("a word or a speaker is no string")
    numbered = zip(numbers, column, strict=True)
    return [[one for _, one in part] for _, part in groupby(numbered, key=itemgetter(0))]
