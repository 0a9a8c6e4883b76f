"""coref-hoi (``predict.py --jsonlines_path`` of lxucs/coref-hoi): JSON lines of word pieces.

Its form is SpanBERT's with three more fields, which its ``preprocess.py`` writes and its prediction
does not look at. It adds ``predicted_clusters``, and writes no line ends between documents.
"""

from collections.abc import Iterable
from pathlib import Path

from pronominal.eval.exchange import spanbert
from pronominal.eval.exchange.documents import ExportedText
from pronominal.eval.exchange.json_documents import write_json_documents
from pronominal.eval.exchange.word_pieces import piece_records

SEGMENT_LENGTH = 512
"""What ``predict.py`` takes by default, [CLS] and [SEP] included."""

UNUSED = ("constituents", "ner", "pronouns")


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
    records = piece_records(texts, vocabulary, segment_length)
    empty: dict[str, list[object]] = {field: [] for field in UNUSED}
    write_json_documents((record | empty for record in records), out)


read = spanbert.read
