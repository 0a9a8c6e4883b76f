"""The JSON lines that the coreference repositories make of CoNLL-2012 files.

Two forms, told apart by their keys: kentonl/e2e-coref's, in words, and that of
mandarjoshi90/coref and lxucs/coref-hoi, in word pieces with a ``subtoken_map``.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pronominal.eval.exchange.documents import half_open
from pronominal.eval.exchange.gold_conll2012 import genre_of
from pronominal.eval.exchange.gold_json import read_gold_json
from pronominal.spans import AnnotatedDocument, Cluster, Document, Span

FRAME = ("[CLS]", "[SEP]")
"""Pieces that no word has."""

CONTINUED = "##"
"""What a piece begins with that is not the first of its word's run of letters."""


def read_coref_jsonl(path: Path) -> list[AnnotatedDocument]:
    """Read a file of either form; clusters keep their order.

    Word pieces are put together to words again, with the sentences and speakers that they have;
    a piece ``[UNK]`` stays, for its word is nowhere in the file.

    `InputError` names file and line where one cannot be read, or a key is missing or of the wrong
    shape.
    """
    return read_gold_json(
        path,
        lambda record: (_from_pieces if "subtoken_map" in record else _from_words)(record),
        "doc_key, sentences, speakers and clusters in the same shape",
    )


def _from_words(record: Mapping[str, Any]) -> AnnotatedDocument:
    sentences, speakers = record["sentences"], record.get("speakers")
    words = _checked(list(chain.from_iterable(sentences)))
    if speakers is not None and [*map(len, speakers)] != [*map(len, sentences)]:
        raise ValueError("speakers have another shape than sentences")
    return AnnotatedDocument(
        Document(sentences, speakers, **_name(record)), _clusters(record, range(len(words)))
    )


def _from_pieces(record: Mapping[str, Any]) -> AnnotatedDocument:
    pieces = _checked(list(chain.from_iterable(record["sentences"])))
    speakers = list(chain.from_iterable(record["speakers"]))
    columns = zip(pieces, speakers, record["sentence_map"], record["subtoken_map"], strict=True)
    own = [column for column in columns if column[0] not in FRAME]
    words: dict[int, list[str]] = {}
    sentences: dict[int, list[int]] = {}
    speaker_of: dict[int, str] = {}
    for piece, speaker, sentence, word in own:
        if word not in words:
            words[word] = []
            speaker_of[word] = speaker
            sentences.setdefault(sentence, []).append(word)
        words[word].append(piece.removeprefix(CONTINUED))
    place = {word: index for index, word in enumerate(words)}
    # [CLS] and [SEP] have a word's number, too, but no gold mention begins or ends there
    position = [place[word] for word in record["subtoken_map"]] if words else []
    return AnnotatedDocument(
        Document(
            [["".join(words[word]) for word in sentence] for sentence in sentences.values()],
            [[speaker_of[word] for word in sentence] for sentence in sentences.values()],
            **_name(record),
        ),
        _clusters(record, position),
    )


def _checked(words: list[Any]) -> list[str]:
    if not all(isinstance(word, str) for word in words):
        raise TypeError("a word is no string")
    return words


def _name(record: Mapping[str, Any]) -> dict[str, str | None]:
    return {"key": record["doc_key"], "genre": genre_of(record["doc_key"])}


def _clusters(record: Mapping[str, Any], word_of: Sequence[int]) -> list[Cluster]:
    """Return clusters of words; upstream's are of the units whose words are given."""
    in_units = half_open(record.get("clusters", []), len(word_of))
    return [[Span(word_of[s], word_of[e - 1] + 1) for s, e in cluster] for cluster in in_units]
