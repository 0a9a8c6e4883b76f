"""fastcoref (LingMess, FCoref): ``predict(texts, output_file=...)`` writes JSON lines.

A line has the text, ``clusters`` of characters, half open, and ``clusters_strings``; it has no
key, so texts are found by their letters. A mention of nothing but special tokens is null.
"""

from collections.abc import Mapping
from typing import Any

from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, spans
from pronominal.eval.exchange.json_documents import json_format


def _record(text: ExportedText) -> dict[str, Any]:
    whole = text.instance.text
    if text.clusters is None:
        return {"text": whole}
    return {
        "text": whole,
        "clusters": text.clusters,
        "clusters_strings": [[whole[s:e] for s, e in cluster] for cluster in text.clusters],
    }


def _document(place: str, record: Mapping[str, Any]) -> PredictedDocument:
    # input in words stays in words, and so do its clusters
    content = record["text"]
    located = [[span for span in cluster if span is not None] for cluster in record["clusters"]]
    return PredictedDocument(place, None, content, spans(located, len(content)))


write, read = json_format(_record, _document, "text and clusters")
