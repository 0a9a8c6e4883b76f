"""AllenNLP's coreference predictor (``allennlp predict``, and SpanBERT-large in allennlp-models).

It reads ``{"document": text}`` and writes the words that it has made of the text as ``document``,
and ``clusters`` of words, the last one included; it keeps no key, so texts are found by their
letters.
"""

from collections.abc import Mapping
from typing import Any

from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, half_open, inclusive
from pronominal.eval.exchange.json_documents import json_format


def _record(text: ExportedText) -> dict[str, Any]:
    if text.clusters is None:
        return {"document": text.instance.text}
    worded = text.words()
    return {"document": worded.flat, "clusters": inclusive(worded.clusters())}


def _document(place: str, record: Mapping[str, Any]) -> PredictedDocument:
    words = record["document"]
    if isinstance(words, str):
        raise TypeError("the document is not in words")
    return PredictedDocument(place, None, words, half_open(record["clusters"], len(words)))


write, read = json_format(_record, _document, "document (as words) and clusters")
