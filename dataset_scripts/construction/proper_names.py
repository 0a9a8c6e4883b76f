"""Noun phrases without a model: words that begin with a capital, and a list of first names."""

import re
from collections.abc import Iterator, Sequence

from pronominal.dataset_scripts.construction.genders import NameGenders, titles
from pronominal.dataset_scripts.construction.noun_phrases import Phrase
from pronominal.dataset_scripts.construction.words import (
    BEGINNINGS,
    NEUTRAL_TITLES,
    NOT_NAMES,
    PARTICLES,
    PLACES,
    STOPWORDS,
    TITLES,
)

_SHORT = "|".join(sorted(word[:-1] for word in {*TITLES, *NEUTRAL_TITLES} if word.endswith(".")))
_INSIDE = "|".join(PARTICLES)
_NAME_WORD = r"(?:[A-Z]'[A-Z][a-z]+|[A-Z][A-Za-z]*(?:-[A-Z][a-z]+)*)"
NAMES = re.compile(
    rf"(?<![\w'-])(?:(?:{_SHORT}|[A-Z])\. |{_NAME_WORD} (?:(?:{_INSIDE}) ){{0,2}})*"
    rf"(?:{_NAME_WORD})(?![\w-])(?!'[a-rt-z])"
)
"""Neighbouring words with capitals; abbreviated titles, initials and *van* or *de* among them."""

PLACE_BEFORE = re.compile(r"\b(?:in|near|(?<!ran )(?<!bumped )into|across|throughout) (?:the )?$")
"""What comes before a place. One is laughed *at* as often as one is at a place."""


class ProperNames:
    """Takes proper names for noun phrases, and those with a known first name or title for persons.

    Common nouns are not seen, so that *exactly two noun phrases* means two proper names here.
    """

    def __init__(self, names: NameGenders) -> None:
        self._names = names

    def __call__(self, texts: Sequence[str]) -> list[list[Phrase]]:
        """Return the phrases of each text, from left to right."""
        return [list(self._phrases(text)) for text in texts]

    def _phrases(self, text: str) -> Iterator[Phrase]:
        for found in NAMES.finditer(text):
            words = found[0].split(" ")
            end = found.end()
            start = end - len(" ".join(words[self._ordinary(words, found.start()) :]))
            if start < end:
                name = text[start:end]
                place = PLACE_BEFORE.search(text, max(0, start - 20), start)
                yield Phrase(start, end, name.lower(), place is None and self._is_person(name))

    def _ordinary(self, words: list[str], start: int) -> int:
        """Return how many of the words come before the name."""
        count = 0
        while count < len(words) and self._is_ordinary(words[count], start == count == 0):
            count += 1
        # a capital that begins the sentence says nothing
        if start == count == 0 and not (words[0] in self._names.genders or titles(words)):
            count = 1
        return count

    def _is_ordinary(self, word: str, begins: bool) -> bool:
        """Say whether a word is no part of a name; `begins` says that it begins the sentence."""
        if word in NOT_NAMES - NEUTRAL_TITLES - TITLES.keys():
            return True
        # the list of names has *Will*, *Just* and *Edit*, too
        if begins:
            return word.lower() in STOPWORDS or word in BEGINNINGS
        return word.lower() in STOPWORDS and not self._is_person(word)

    def _is_person(self, name: str) -> bool:
        words = name.split()
        first = titles(words)
        return first > 0 or (name not in PLACES and words[0] in self._names.genders)
