"""SpanBERT and BERT-coref (``predict.py`` of mandarjoshi90/coref): JSON lines of word pieces.

It adds ``predicted_clusters`` of word pieces, the last one included.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pronominal.eval.exchange.documents import ExportedText, PredictedDocument
from pronominal.eval.exchange.json_documents import read_json_documents, write_json_documents
from pronominal.eval.exchange.word_pieces import piece_document, piece_records

SEGMENT_LENGTH = 384
"""Of SpanBERT-base and -large, [CLS] and [SEP] included (``experiments.conf``)."""


def write(
    texts: Iterable[ExportedText],
    out: Path,
    *,
    vocabulary: Path | None = None,
    segment_length: int = SEGMENT_LENGTH,
) -> None:
    """Write texts as the system reads them, with their clusters as it writes them.

    Args and errors are those of `piece_records`.
    """
    write_json_documents(piece_records(texts, vocabulary, segment_length), out)


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the system's answers."""
    needed = "doc_key, sentences, speakers, subtoken_map and predicted_clusters"
    return read_json_documents(file, piece_document, needed)
