"""What certainly is no mention, and that nothing is said of the rest."""

import pytest

from pronominal.adapters.words.mention_borders import MentionBorders
from pronominal.spans import Span

SENTENCES = "Ann and the pilot of Rome left . She was glad , too ."
WORDS = SENTENCES.split()

NO_MENTIONS = {
    "a conjunction at the end": (0, 2),
    "an article at the end": (0, 3),
    "a preposition at the beginning": (4, 6),
    "a full stop inside": (5, 9),
    "punctuation alone": (11, 12),
    "punctuation at the end": (8, 12),
    "a verb at the beginning": (9, 11),
    "across a mention's border": (3, 5),
}
PERHAPS = {"a name": (0, 1), "inside a mention": (5, 6), "around it": (0, 6), "a verb": (6, 7)}


@pytest.fixture
def borders() -> MentionBorders:
    return MentionBorders(WORDS, range(len(WORDS)), [[Span(2, 4), Span(8, 9)]])


@pytest.mark.parametrize("case", NO_MENTIONS)
def test_no_mention(borders: MentionBorders, case: str) -> None:
    assert borders.exclude(NO_MENTIONS[case])


@pytest.mark.parametrize("case", PERHAPS)
def test_perhaps_a_mention(borders: MentionBorders, case: str) -> None:
    assert not borders.exclude(PERHAPS[case])


def test_parts_of_words_and_special_tokens() -> None:
    borders = MentionBorders(["Annabel", "left"], [None, 0, 0, 1, None], [])
    assert not borders.exclude((1, 3))
    assert all(borders.exclude(span) for span in ((0, 3), (1, 2), (2, 3), (3, 5)))
