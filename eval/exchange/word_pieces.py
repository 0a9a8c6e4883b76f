"""Documents of word pieces, which SpanBERT's and coref-hoi's files have in common."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.bert.pieces import CONTINUED, FRAME, WordPieces, framed, segments
from pronominal.adapters.c2f.head.units import FRAME_SPEAKER, Units
from pronominal.adapters.c2f.learning.documents import unit_clusters
from pronominal.errors import InputError
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, half_open, inclusive
from pronominal.eval.exchange.json_documents import read_json_documents, write_json_documents
from pronominal.spans import Cluster, Document, Span

GENRE = "dw_"
"""No genre that the systems know, as the WinoPron authors had it: it counts as the first one."""


def write_pieces(
    texts: Iterable[ExportedText],
    out: Path,
    *,
    vocabulary: Path | None = None,
    segment_length: int,
    empty_fields: Sequence[str] = (),
) -> None:
    """Write texts as the systems' JSON lines have them, with their clusters as they write them.

    The words are kept as ``tokens``, which the systems hand through: pieces ``[UNK]`` could not be
    found in the text again. The vocabulary is the model's ``vocab.txt`` or ``tokenizer.json``; a
    segment's length, in word pieces, includes [CLS] and [SEP]; and the lists of `empty_fields` are
    empty. `InputError` if a mention's border is a word without pieces.
    """
    if vocabulary is None:
        cause = "word pieces need the model's vocabulary"
        raise InputError(cause, cure="add --vocabulary vocab.txt")
    if segment_length <= FRAME:
        cure = "give a longer --segment-length"
        raise InputError(f"a segment of {segment_length} word pieces", cure=cure)
    pieces = WordPieces(vocabulary)
    records = (_record(text, pieces, segment_length - FRAME) for text in texts)
    empty: dict[str, list[object]] = {name: [] for name in empty_fields}
    write_json_documents((record | empty for record in records), out)


def read_pieces(file: Path) -> Iterator[PredictedDocument]:
    """Yield the answers of a system to documents of `write_pieces`, or to documents of its own."""
    fields = "doc_key, sentences, speakers, subtoken_map and predicted_clusters"
    return read_json_documents(file, _document, fields)


def _document(place: str, record: Mapping[str, Any]) -> PredictedDocument:
    pieces = [*chain.from_iterable(record["sentences"])]
    speakers = [*chain.from_iterable(record["speakers"])]
    words, word_of = _words(pieces, speakers, record)
    raw = half_open(record["predicted_clusters"], len(pieces))
    clusters = [[s for s in (_in_words(word_of, span) for span in c) if s] for c in raw]
    return PredictedDocument(place, record["doc_key"], words, clusters)


def _record(text: ExportedText, pieces: WordPieces, capacity: int) -> dict[str, Any]:
    worded = text.words()
    read = pieces.read(Document(worded.sentences), f"id {text.instance.id}")
    units = framed(read, segments(read, capacity), None, text.key(GENRE))
    record: dict[str, Any] = {
        "doc_key": units.key,
        "sentences": _by_segment(units, units.strings),
        "speakers": _by_segment(units, units.speakers),
        "sentence_map": [*units.sentences],
        "subtoken_map": [*units.words],
        "tokens": worded.flat,
        "clusters": [],
    }
    if text.clusters is not None:
        record["predicted_clusters"] = inclusive(_of_pieces(units, worded.clusters(), text))
    return record


def _of_pieces(units: Units, clusters: list[Cluster], text: ExportedText) -> list[Cluster]:
    of_units = unit_clusters(units, clusters)
    if [*map(len, of_units)] != [*map(len, clusters)]:
        cause = "a mention begins or ends with a word that has no word pieces"
        raise InputError(cause, cure="export to another format", row=f"id {text.instance.id}")
    return of_units


def _by_segment(units: Units, column: Sequence[str]) -> list[list[str]]:
    numbered = zip(units.segments, column, strict=True)
    return [[value for _, value in segment] for _, segment in groupby(numbered, itemgetter(0))]


def _words(
    pieces: Sequence[str], speakers: Sequence[str], record: Mapping[str, Any]
) -> tuple[list[str], list[int | None]]:
    """Return a document's words, and the number of each piece's word; None for [CLS] and [SEP]."""
    columns = zip(pieces, speakers, record["subtoken_map"], strict=True)
    own = [(piece, word) if who != FRAME_SPEAKER else None for piece, who, word in columns]
    if "tokens" in record:
        return record["tokens"], [one and one[1] for one in own]
    spelt: dict[int, str] = {}
    for piece, word in filter(None, own):
        spelt[word] = spelt.get(word, "") + piece.removeprefix(CONTINUED)
    number = {word: index for index, word in enumerate(spelt)}
    return [*spelt.values()], [number[one[1]] if one else None for one in own]


def _in_words(word_of: Sequence[int | None], span: Span) -> Span | None:
    """Widen a span of pieces to whole words; None for one of nothing but [CLS] and [SEP]."""
    inside = [word for word in word_of[span.start : span.end] if word is not None]
    return Span(inside[0], inside[-1] + 1) if inside else None
