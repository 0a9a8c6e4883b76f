from pathlib import Path

import pytest

pytest.importorskip("pronominal.adapters.c2f.e2e.embeddings", exc_type=ImportError)

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.adapters.c2f.e2e.embeddings import WordVectors


def written(folder: Path, content: str | bytes) -> Path:
    file = folder / "vectors.txt"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


PLAIN = "the 3 4\nThe 0 -2\nhat 1e1 0.0\nnil 0 0\nthe 0 1\n"


@pytest.mark.parametrize(
    ("word", "vector"),
    [
        ("the", [0, 1]),  # the later line of two
        ("The", [0, -1]),
        ("hat", [1, 0]),
        ("nil", [0, 0]),
        ("THE", [0, 0]),
        ("th", [0, 0]),
        ("the 0", [0, 0]),
        ("", [0, 0]),
        ("\ud800", [0, 0]),
    ],
)
def test_words_have_unit_vectors_or_zeros(tmp_path: Path, word: str, vector: list[float]) -> None:
    vectors = WordVectors(written(tmp_path, PLAIN), 2)
    assert vectors.vectors([word]).tolist() == [vector]
    assert len(vectors) == 5


WORDS = st.text(st.characters(exclude_characters=" \n\r", codec="utf-8"), min_size=1, max_size=5)


@given(st.dictionaries(WORDS, st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1))
def test_any_file_is_read_as_a_dict_is(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, list[int]]
) -> None:
    content = "\n".join(" ".join([word, *map(str, row)]) for word, row in rows.items())
    vectors = WordVectors(written(tmp_path_factory.mktemp("vectors"), content), 3)
    asked = [*rows, "not there", *reversed(rows)]
    found = vectors.vectors(asked)
    assert found.shape == (len(asked), 3)
    assert found.dtype == np.float32
    for word, vector in zip(asked, found, strict=True):
        wanted = np.array(rows.get(word, [0, 0, 0]), np.float32)
        length = np.linalg.norm(wanted)
        assert np.allclose(vector, wanted / length if length else 0, atol=1e-7)


def test_no_words(tmp_path: Path) -> None:
    assert WordVectors(written(tmp_path, PLAIN), 2).vectors([]).shape == (0, 2)


def test_words_with_blanks_are_words(tmp_path: Path) -> None:
    """GloVe's largest file has such entries; upstream takes their first part for the word."""
    vectors = WordVectors(written(tmp_path, ". . . 1 0\n. 0 2\nat a@b.org 1 0 \r\n"), 2)
    assert vectors.vectors([".", ". . .", "at"]).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert vectors.vectors(["at a@b.org"]).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a 1 2\nb 1\n", "line 2: it has 1 numbers, not 2"),
        ("a 1 2\nb 1 2 3\n", "line 2: it has 3 numbers, not 2"),
        ("400000 2\na 1 2\n", "line 1: it has 1 numbers, not 2"),
        ("a 1 2\n\nb 1 2\n", "line 2: it has 0 numbers, not 2"),
        (" 1 2\n", "line 1: it has no word"),
        ("a 1 2\nb 1", "line 2: it has 1 numbers, not 2"),
        (b"\x00\xff" * 50, "line 1: it has 0 numbers, not 2"),
        ("", "no word vectors could be read"),
    ],
)
def test_a_damaged_file_is_refused_by_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        WordVectors(written(tmp_path, content), 2)


@pytest.mark.parametrize("field", ["x", "nan", "inf", "1,5"])
def test_a_damaged_line_is_named_when_its_word_is_asked_for(tmp_path: Path, field: str) -> None:
    vectors = WordVectors(written(tmp_path, f"a 1 2\nb 1 {field}\n"), 2)
    assert vectors.vectors(["a"]).any()
    with pytest.raises(InputError, match=r"vectors\.txt, line 2: it has a field that is no finite"):
        vectors.vectors(["a", "b"])


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no word vectors could be read; give a text file"):
        WordVectors(tmp_path / "none.txt", 2)


def test_filtered_lines_are_the_files(tmp_path: Path) -> None:
    vectors = WordVectors(written(tmp_path, PLAIN), 2)
    assert [*vectors.lines(["hat", "the", "other", "hat"])] == [b"hat 1e1 0.0", b"the 0 1"]
    assert b"\n".join(vectors.lines()) + b"\n" == PLAIN.encode()
