"""AllenNLP's coreference predictor (``allennlp predict``, and SpanBERT-large in allennlp-models).

It reads ``{"document": text}`` and writes the words that it has made of the text as ``document``,
and ``clusters`` of words, the last one included; it keeps no key, so texts are found by their
letters.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pronominal.eval.exchange.documents import (
    ExportedText,
    PredictedDocument,
    half_open,
    inclusive,
)
from pronominal.eval.exchange.json_documents import read_json_documents, write_json_documents


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write texts as the predictor reads them, or with their clusters as it writes them."""
    write_json_documents(map(_record, texts), out)


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the predictor's answers."""
    return read_json_documents(file, _document, "document (as words) and clusters")


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
