"""E2E (``predict.py`` of kentonl/e2e-coref): JSON lines of words.

It adds ``predicted_clusters`` of words, the last one included. The key's first two letters have to
be a genre that it knows; texts are newswire with one nameless speaker, as its demo has them.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, half_open, inclusive
from pronominal.eval.exchange.json_documents import json_format

GENRE = "nw_"
NO_SPEAKER = ""


def _record(text: ExportedText) -> dict[str, Any]:
    worded = text.words()
    record: dict[str, Any] = {
        "doc_key": text.key(GENRE),
        "sentences": worded.sentences,
        "speakers": [[NO_SPEAKER] * len(sentence) for sentence in worded.sentences],
        "clusters": [],
    }
    if text.clusters is not None:
        record["predicted_clusters"] = inclusive(worded.clusters())
    return record


def _document(place: str, record: Mapping[str, Any]) -> PredictedDocument:
    words = [*chain.from_iterable(record["sentences"])]
    clusters = half_open(record["predicted_clusters"], len(words))
    return PredictedDocument(place, record["doc_key"], words, clusters)


write, read = json_format(_record, _document, "doc_key, sentences and predicted_clusters")
