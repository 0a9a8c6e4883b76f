"""Words become the pieces, segments and numbers that upstream's preparation makes of them."""

import json
from collections.abc import Callable
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pronominal.adapters.c2f.bert.pieces", exc_type=ImportError)

from hypothesis import given
from hypothesis import strategies as st

from pronominal import Document, InputError, Span
from pronominal.adapters.c2f.bert.pieces import (
    Pieces,
    PieceText,
    WordPieces,
    character_span,
    framed,
    is_widened,
    oversized_sentences,
    read_as_winopron,
    segments,
)
from pronominal.adapters.c2f.head.units import Units, word_span

FILES = ("goldens-clean-public.jsonl", "goldens-public.jsonl")
OWN = ["[UNK]", "[CLS]", "[SEP]", "the", "bak", "##er", "##s", "her", "hat", "'", "s", "-", "."]


@pytest.fixture
def tokenizer(tmp_path: Path) -> WordPieces:
    (tmp_path / "vocab.txt").write_text("\n".join(OWN) + "\n")
    return WordPieces(tmp_path / "vocab.txt")


def as_upstream(units: Units) -> dict[str, Any]:
    """Say in upstream's form what we made of a document."""
    runs = groupby(range(len(units)), lambda unit: units.segments[unit])
    cut = [list(run) for _, run in runs]
    return {
        "sentences": [[units.strings[unit] for unit in run] for run in cut],
        "speakers": [[units.speakers[unit] for unit in run] for run in cut],
        "sentence_map": list(units.sentences),
        "subtoken_map": list(units.words),
    }


def tokenizer_json(folder: Path, *, lowercase: bool = False, **changes: Any) -> Path:
    """What transformers 5 saves instead of ``vocab.txt``, its pieces in another order."""
    vocabulary = {piece: number for number, piece in reversed(list(enumerate(OWN)))}
    model = {"type": "WordPiece", "vocab": vocabulary, **changes}
    normalizer = {"type": "BertNormalizer", "lowercase": lowercase}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model, "normalizer": normalizer}))
    return folder


def test_pieces_that_transformers_saved_are_the_same(tokenizer: WordPieces, tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    found = WordPieces.of_checkpoint(tokenizer_json(tmp_path / "saved"))
    assert found.numbers == tokenizer.numbers
    found.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "vocab.txt").read_text().split() == OWN


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("said", [True, False, None])
def test_an_uncased_model_says_so(tmp_path: Path, lowercase: bool, said: bool | None) -> None:
    tokenizer_json(tmp_path, lowercase=lowercase)
    if said is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": said}))
    pieces = WordPieces.of_checkpoint(tmp_path).of_word("Hat")
    assert pieces == (["hat"] if (lowercase if said is None else said) else ["[UNK]"])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"type": "BPE"}, "no word pieces could be read"),
        ({"vocab": ["the"]}, "no word pieces could be read"),
        ({"vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 3}}, "not numbered from 0 on"),
    ],
)
def test_what_is_no_vocabulary_is_refused(
    tmp_path: Path, changes: dict[str, Any], fault: str
) -> None:
    with pytest.raises(InputError, match=rf"tokenizer.json: .*{fault}.*add the model's vocab.txt"):
        WordPieces.of_checkpoint(tokenizer_json(tmp_path, **changes))


@pytest.mark.parametrize("file", FILES)
def test_input_is_upstreams(c2f: Path, golden: Callable[[str], Path], file: str) -> None:
    rows = [json.loads(line) for line in golden(file).read_text().splitlines()]
    tokenizer = WordPieces(c2f / "vocab.txt")
    wrong = []
    for row in rows:
        raw = row["raw"]
        if "text" in raw:
            units = read_as_winopron(raw["text"], tokenizer).units
        else:
            said = zip(raw["words"], raw["speakers"], strict=True)
            speakers = [[speaker] * len(words) for words, speaker in said]
            pieces = tokenizer.read(Document(raw["words"], speakers), row["id"])
            cut = segments(pieces, raw["max_segment_len"] - 2)
            units = framed(pieces, cut, None, None)
        made = as_upstream(units)
        if any(made[key] != row["input"][key] for key in made):
            wrong.append(row["id"])
        words = [
            [[*word_span(units, Span(start, end + 1))] for start, end in cluster]
            for cluster in row["expected"]["predicted_clusters"]
        ]
        if [[[a, b - 1] for a, b in c] for c in words] != row["expected"][
            "predicted_clusters_words"
        ]:
            wrong.append(row["id"])
    assert rows
    assert not wrong


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("bakers", ["bak", "##er", "##s"]),
        ("baker's", ["bak", "##er", "'", "s"]),
        ("her-hat", ["her", "-", "hat"]),
        ("Her", ["[UNK]"]),
        ("[SEP]", ["[UNK]", "[UNK]", "[UNK]"]),
        ("\u200b", []),
        (" \n", []),
        ("", []),
        ("x" * 101, ["[UNK]"]),
    ],
)
def test_pieces_of_a_word(tokenizer: WordPieces, word: str, pieces: list[str]) -> None:
    assert tokenizer.of_word(word) == pieces


def test_a_document(tokenizer: WordPieces) -> None:
    document = Document([["the", "bakers", "/."], ["\u200b", "her", "hat"]], [["a"] * 3, ["b"] * 3])
    pieces = tokenizer.read(document, "documents[0]")
    assert pieces.strings == ["the", "bak", "##er", "##s", ".", "her", "hat"]
    assert pieces.words == [0, 1, 1, 1, 2, 4, 5]
    assert pieces.speakers == ["a"] * 5 + ["b"] * 2
    units = framed(pieces, segments(pieces, 6), "nw", "key")
    assert as_upstream(units)["sentences"] == [
        ["[CLS]", "the", "bak", "##er", "##s", ".", "[SEP]"],
        ["[CLS]", "her", "hat", "[SEP]"],
    ]
    assert list(units.words) == [0, 0, 1, 1, 1, 2, 2, 2, 4, 5, 5]
    # the [SEP] behind the end of a sentence is in the next one
    assert list(units.sentences) == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2]
    assert (units.genre, units.key) == ("nw", "key")


def test_speakers_of_another_shape_name_the_document(tokenizer: WordPieces) -> None:
    with pytest.raises(InputError, match=r"documents\[3\]: the speakers"):
        tokenizer.read(Document([["her", "hat"]], [["a"]]), "documents[3]")


def test_a_vocabulary_without_special_pieces_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\nthe\n")
    with pytest.raises(InputError, match=r"there is no \[CLS\]"):
        WordPieces(tmp_path / "vocab.txt")
    with pytest.raises(InputError, match="no word pieces could be read"):
        WordPieces(tmp_path / "none.txt")


SENTENCES = st.lists(st.lists(st.integers(1, 6), max_size=8), max_size=6)
"""Documents as numbers of pieces: of each word of each sentence."""


@given(SENTENCES, st.integers(1, 12))
def test_segments_end_where_they_may(document: list[list[int]], capacity: int) -> None:
    words = list(chain.from_iterable(document))
    pieces = Pieces(
        strings=["x"] * sum(words),
        words=[number for number, length in enumerate(words) for _ in range(length)],
        sentences=[n for n, sentence in enumerate(document) for _ in range(sum(sentence))],
        speakers=["-"] * sum(words),
    )
    cut = segments(pieces, capacity)
    assert list(chain.from_iterable(range(*segment) for segment in cut)) == list(range(sum(words)))
    assert all(0 < end - start <= capacity for start, end in cut)
    whole = set(range(len(document))) - set(oversized_sentences(pieces, capacity))
    for sentence in whole:
        own = [i for i, number in enumerate(pieces.sentences) if number == sentence]
        assert sum(bool({*range(*segment)} & {*own}) for segment in cut) <= 1
    for sentence in oversized_sentences(pieces, capacity):
        assert sum(document[sentence]) > capacity
    units = framed(pieces, cut, None, None)
    assert len(units) == sum(words) + 2 * len(cut)
    assert list(units.sentences) == sorted(units.sentences)
    assert list(units.words) == sorted(units.words)


@pytest.mark.parametrize(
    ("span", "characters", "widened"),
    [
        (Span(0, 1), None, False),
        (Span(6, 7), None, False),
        (Span(0, 2), "the", False),
        (Span(1, 5), "the bakers", False),
        (Span(2, 3), "bakers", True),
        (Span(3, 5), "bakers", True),
        (Span(4, 7), "bakers.", True),
        (Span(2, 5), "bakers", False),
    ],
)
def test_spans_of_pieces_cover_whole_words(
    tokenizer: WordPieces, span: Span, characters: str | None, widened: bool
) -> None:
    text = "the bakers."
    read = read_as_winopron(text, tokenizer)
    assert list(read.units.strings) == ["[CLS]", "the", "bak", "##er", "##s", ".", "[SEP]"]
    place = character_span(read, span)
    assert (place and text[place.start : place.end]) == characters
    assert is_widened(read.units, span) == widened


def test_character_offsets_are_code_points(tokenizer: WordPieces) -> None:
    text = "\U0001f600 her hat"
    read: PieceText = read_as_winopron(text, tokenizer)
    assert [text[start:end] for start, end in read.places] == ["\U0001f600", "her", "hat"]
