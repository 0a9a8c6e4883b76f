"""Word vectors, and what a mention's vector is made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.strings import get_string_id

from pronominal.adapters.neuralcoref.mentions import Mention
from pronominal.adapters.neuralcoref.network import Floats

WIDTH = 50
"""Numbers in a word vector."""

MENTION_WIDTH = 13 * WIDTH
"""Numbers in a mention's vector: five means of words, and eight words."""

UNKNOWN, MISSING = "*UNK*", "<missing>"
"""The static vector of a word without one, and the tuned one of a place outside the sentence."""

_AROUND = 5
"""How many words before and behind a mention are averaged."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A table of word vectors."""

    rows: Mapping[int, int]
    matrix: Floats

    def find(self, key: int, otherwise: Floats) -> Floats:
        """Return the vector of a word by its hash, `otherwise` if it has none."""
        row = self.rows.get(key)
        return otherwise if row is None else self.matrix[row]

    def __getitem__(self, word: str) -> Floats:
        """Return the vector of a word that has one."""
        vector: Floats = self.matrix[self.rows[get_string_id(word)]]
        return vector


class DocumentVectors:
    """The vectors of a text's words, and of its mentions.

    Numbers are read as 0 and words without a vector as `UNKNOWN`. Means are over static vectors and
    count punctuation: upstream's test for it compares a hash with strings, and never holds.

    Args:
        document: a spaCy ``Doc``.
        static: vectors for means, and for words that were not tuned.
        tuned: vectors for single words.
    """

    def __init__(self, document: Any, static: WordVectors, tuned: WordVectors) -> None:
        zero = get_string_id("0")
        keys = [zero if token.is_digit else token.lower for token in document]
        self._static: Floats = np.empty((len(keys), WIDTH), dtype=np.float32)
        self._tuned = np.empty_like(self._static)
        unknown = static[UNKNOWN]
        for place, key in enumerate(keys):
            self._static[place] = static.find(key, unknown)
            self._tuned[place] = tuned.find(key, self._static[place])
        self._missing = tuned[MISSING]

    def of(self, mention: Mention) -> Floats:
        """Return a mention's vector, (`MENTION_WIDTH`,)."""
        start, end = mention.start, mention.end
        first, last = mention.sentence_start, mention.sentence_end
        means = [
            self._mean(start, end),
            self._mean(max(start - _AROUND, first), start),
            self._mean(end, min(end + _AROUND, last)),
            self._mean(first, last),
            np.zeros(WIDTH, dtype=np.float32),  # the whole text's, which upstream leaves empty
        ]
        words = [self._tuned[place] for place in (mention.root, start, end - 1)]
        beside = [
            self._tuned[place] if first <= place < last else self._missing
            for place in (start - 1, end, start - 2, end + 1)
        ]
        return np.concatenate([*means, *words, *beside, self._tuned[mention.governor]])

    def _mean(self, start: int, end: int) -> Floats:
        total: Floats = self._static[start:end].sum(axis=0)
        return total / np.float32(max(end - start, 1))
