"""The JSON of the CRAC shared tasks' LLM track (ondfa/text2text-coref, Novák et al., 2025).

One list of documents, each with ``doc_id``, ``tokens``, ``clusters_token_offsets``, the last word
included, and ``clusters_text_mentions``. Words of empty nodes begin with ``##`` and are left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.exchange.crac_words import EMPTY, crac_words
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument, half_open, inclusive
from pronominal.eval.exchange.text_files import IN_UTF_8
from pronominal.spans import Span
from pronominal.text_files import read_text

GENRE = "wb_"
"""Web text."""

CURE = "give a list of documents with doc_id, tokens and clusters_token_offsets"


def write(texts: Iterable[ExportedText], out: Path) -> None:
    """Write texts as one list, a document a line, with their clusters if they have some."""
    with new_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        before = "[\n"
        for text in texts:
            file.write(f"{before}{json.dumps(_record(text), ensure_ascii=False)}")
            before = ",\n"
        file.write("\n]\n" if before == ",\n" else "[]\n")


def read(file: Path) -> Iterator[PredictedDocument]:
    """Yield the documents of a list; `InputError` names the first that is none."""
    try:
        records = json.loads(read_text(file, cure=IN_UTF_8))
    except (ValueError, RecursionError) as error:
        raise InputError("it is no JSON", cure=CURE, file=file) from error
    if not isinstance(records, list):
        raise InputError("it is no list of documents", cure=CURE, file=file)
    for number, record in enumerate(records, start=1):
        place = f"document {number}"
        try:
            yield _document(place, record)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            cause = f"no document with an answer ({missing})"
            raise InputError(cause, cure=CURE, file=file, row=place) from error


def _record(text: ExportedText) -> dict[str, Any]:
    worded = crac_words(text)
    clusters, words = worded.clusters(), worded.flat
    told = text.clusters is not None
    said = [[" ".join(words[start:end]) for start, end in cluster] for cluster in clusters]
    return {
        "doc_id": text.key(GENRE),
        "tokens": words,
        "clusters_token_offsets": inclusive(clusters) if told else None,
        "clusters_text_mentions": said if told else None,
    }


def _document(place: str, record: Mapping[str, Any]) -> PredictedDocument:
    tokens = record["tokens"]
    if isinstance(tokens, str):
        raise TypeError("the tokens are one string")
    filled = [not word.startswith(EMPTY) for word in tokens]
    words = [word for word, is_word in zip(tokens, filled, strict=True) if is_word]
    before = [0, *accumulate(filled)]
    mentions = half_open(record["clusters_token_offsets"] or [], len(tokens))
    placed = [[Span(before[start], before[end]) for start, end in one] for one in mentions]
    clusters = [[span for span in cluster if span.start < span.end] for cluster in placed]
    zeros = sum(map(len, placed)) - sum(map(len, clusters))
    kept = [cluster for cluster in clusters if cluster]
    return PredictedDocument(place, record["doc_id"], words, kept, zeros=zeros)
