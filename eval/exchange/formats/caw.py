"""CAW-coref and WL-coref (``predict.py`` of KarelDO/wl-coref and vdobrovolskii/wl-coref).

They read words, the number of each one's sentence, and a ``document_id`` whose first two letters
are the genre, and add ``span_clusters`` of words, half open. Their ``word_clusters`` are heads and
no mentions.
"""

from collections.abc import Mapping
from typing import Any

from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, spans
from pronominal.eval.exchange.json_documents import json_format

GENRE = "wb_"
"""Web text, as the WinoPron authors had it."""


def _record(text: ExportedText) -> dict[str, Any]:
    worded = text.words()
    numbers = [number for number, words in enumerate(worded.sentences) for _ in words]
    record = {"document_id": text.key(GENRE), "cased_words": worded.flat, "sent_id": numbers}
    if text.clusters is not None:
        record["span_clusters"] = worded.clusters()
    return record


def _document(place: str, record: Mapping[str, Any]) -> PredictedDocument:
    words = record["cased_words"]
    clusters = spans(record["span_clusters"], len(words))
    return PredictedDocument(place, record["document_id"], words, clusters)


write, read = json_format(_record, _document, "document_id, cased_words and span_clusters")
