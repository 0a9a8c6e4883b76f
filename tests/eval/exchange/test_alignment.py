"""Words of other tokenisers are found in our text, whatever was done to quotes and spacing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import Span
from pronominal.eval.exchange.alignment import (
    MisalignedError,
    character_places,
    places,
    skeleton,
)

CASES = {
    "clitics": ("Ann didn't, couldn't.", "Ann did n't , could n't ."),
    "can not": ("Ann cannot.", "Ann can not ."),
    "brackets": ("Ann (the pilot) [here]", "Ann -LRB- the pilot -RRB- -LSB- here -RSB-"),
    "small brackets": ("Ann (the pilot)", "Ann -lrb- the pilot -rrb-"),
    "double quotes": ('"No," said Ann.', "`` No , '' said Ann ."),
    "curly quotes": ("“No,” said Ann’s aunt.", '" No , " said Ann \'s aunt .'),
    "single quotes": ("‘No,’ said Ann.", "` No , ' said Ann ."),
    "quotes that were curled": ("Ann's 'no'", "Ann ’s ‘ no ’"),
    "dashes": ("Ann — the pilot – left-handed", "Ann -- the pilot -- left - handed"),
    "dashes that were lengthened": ("Ann -- the pilot", "Ann — the pilot"),
    "ellipses": ("Ann... left…", "Ann … left ..."),
    "slashes": ("he/she left *", r"he\/she left \*"),
    "CoNLL's slashes": ("Ann left. Why?", "Ann left /. Why /?"),
    "currencies": ("£5 or €5", "# 5 or $ 5"),
    "case": ("Ann LEFT", "ann left"),
    "spacing": ("An  n\nleft\u00a0.", "Ann left ."),
    "spacing of another kind": ("Ann left.", "An n l eft."),
    "zero width": ("An\u200bn le\u00adft", "Ann left"),
    "unknown pieces": ("Ann, the pilot, left.", "[UNK] , the [UNK] , left ."),
    "unknown in a word": ("Ann's pilot", "[UNK]'s pilot"),
}


@pytest.mark.parametrize("name", CASES)
def test_words_are_found_however_they_are_written(name: str) -> None:
    text, words = CASES[name]
    found = places(words.split(" "), text)
    starts = [place.start for place in found]
    assert starts == sorted(starts)
    covered = {index for place in found for index in range(*place)}
    assert all(character.isspace() or i in covered for i, character in enumerate(text))
    letters = [re.sub(r"\W|_", "", text[slice(*place)]).casefold() for place in found]
    for word, here in zip(words.split(" "), letters, strict=True):
        assert "UNK" in word or here == skeleton(word)


def test_places_are_exact() -> None:
    found = places(["``", "No", "''", "did", "n't", "-RRB-"], '"No" didn\'t)')
    assert found == [Span(*s) for s in [(0, 1), (1, 3), (3, 4), (5, 8), (8, 11), (11, 12)]]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("Ann flew .", 1),
        ("Ann left", 2),
        ("Ann left . Then", 3),
        ("Anna left .", 0),
        ("", 0),
        ("Ann -LRB- left .", 1),
    ],
)
def test_the_first_word_out_of_place_is_named(words: str, first: int) -> None:
    with pytest.raises(MisalignedError) as error:
        places(words.split(), "Ann left.")
    assert error.value.word == first


def test_words_of_white_space_stand_at_the_end_of_their_gap() -> None:
    text = "Ann  left\n "
    assert places(["Ann", " ", "left", "\n "], text)[1::2] == [Span(4, 5), Span(9, 11)]
    assert places([], " ") == []


def test_a_text_without_a_place_for_a_word_is_refused_quickly() -> None:
    """Nothing here may take time that grows with more than the text's length."""
    with pytest.raises(MisalignedError):
        places([*["[UNK]"] * 60, "end"], "word " * 60 + "other")
    with pytest.raises(MisalignedError):
        places(["'"] * 40 + ["x"], "''" * 20)


def test_a_word_longer_than_the_text_is_refused_at_once() -> None:
    with pytest.raises(MisalignedError) as refused:
        places(["Ann", "left" * 2_500_000, "."], "Ann left.")
    assert refused.value.word == 1


def test_more_words_than_the_text_has_letters_are_refused_at_once() -> None:
    with pytest.raises(MisalignedError) as refused:
        places(["Ann", *["x"] * 10_000_000], "Ann left.")
    assert refused.value.word == 43


def test_characters_of_another_writing() -> None:
    place = character_places("An n ’s", "Ann's")
    assert place == {i: Span(n, n + 1) for n, i in enumerate([0, 1, 3, 5, 6])}


PIECES = st.lists(
    st.sampled_from(
        ["Ann", "n't", "(", ")", '"', "'", "—", "…", "left", ".", "x", "é", "王", "🙂", "/", "$"]
    ),
    min_size=1,
    max_size=12,
)
TREEBANK = {"(": "-LRB-", ")": "-RRB-", '"': "''", "—": "--", "…": "...", "/": r"\/"}


@given(PIECES, st.data())
def test_what_is_put_together_is_taken_apart(pieces: list[str], data: st.DataObject) -> None:
    gaps = data.draw(st.lists(st.sampled_from(["", " ", "\n", "\u00a0"]), min_size=len(pieces)))
    text, wanted = "", []
    for gap, piece in zip(gaps, pieces, strict=False):
        text += gap
        wanted.append(Span(len(text), len(text) + len(piece)))
        text += piece
    assert places(pieces, text) == wanted
    written = [TREEBANK.get(piece, piece) for piece in pieces]
    assert places(written, text) == wanted
