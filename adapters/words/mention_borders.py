"""Spans that are certainly no mention, by the words that they begin and end with."""

from collections.abc import Sequence
from itertools import accumulate

from pronominal.spans import Cluster, Span

CONJUNCTIONS = frozenset(
    {"and", "or", "but", "nor", "because", "so", "if", "when", "while", "although", "though"}
    | {"unless", "until", "since", "whereas", "than", "as"}
)
VERBS = frozenset(
    {"am", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "having"}
    | {"does", "do", "did", "can", "could", "will", "would", "shall", "should", "may", "might"}
    | {"must", "n't", "not", "'ve", "'ll", "'d", "'re", "'m"}
)
PREPOSITIONS = frozenset(
    {"at", "by", "for", "from", "in", "into", "of", "on", "onto", "to", "with", "without"}
)
ARTICLES = frozenset({"a", "an", "the"})
FULL_STOPS = frozenset({".", "!", "?"})

NO_BEGINNING = CONJUNCTIONS | VERBS | PREPOSITIONS
NO_END = CONJUNCTIONS | VERBS | ARTICLES


class MentionBorders:
    """Says which spans of units certainly are no mention.

    That is a span that begins or ends inside a word, with punctuation, with a special token or
    with a word that no noun phrase begins or ends with; that reaches across a full stop; or that
    crosses a known mention. Of every other span nothing is said.

    Args:
        words: the text's.
        word_of: the number of the word that each unit is a part of; None for special tokens.
        clusters: known mentions, in units.
    """

    def __init__(
        self, words: Sequence[str], word_of: Sequence[int | None], clusters: Sequence[Cluster]
    ) -> None:
        before: list[int | None] = [None, *word_of[:-1]]
        after: list[int | None] = [*word_of[1:], None]
        lower = [word.lower() for word in words]
        self._begins = [
            word is not None and word != previous and _may_stand(lower[word], NO_BEGINNING)
            for word, previous in zip(word_of, before, strict=True)
        ]
        self._ends = [
            word is not None and word != following and _may_stand(lower[word], NO_END)
            for word, following in zip(word_of, after, strict=True)
        ]
        stops = (word is not None and lower[word] in FULL_STOPS for word in word_of)
        self._stops_before = [*accumulate(stops, initial=0)]
        self._known = [span for cluster in clusters for span in cluster]

    def exclude(self, span: tuple[int, int]) -> bool:
        """Say whether a span certainly is no mention."""
        start, end = span
        inside = self._begins[start] and self._ends[end - 1]
        if not inside or self._stops_before[end] > self._stops_before[start]:
            return True
        return any(_cross(known, Span(start, end)) for known in self._known)


def _may_stand(word: str, excluded: frozenset[str]) -> bool:
    return word not in excluded and any(character.isalnum() for character in word)


def _cross(one: Span, other: Span) -> bool:
    overlap = one.start < other.end and other.start < one.end
    return overlap and not one.covers(other) and not other.covers(one)
