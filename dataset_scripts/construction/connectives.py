"""Sentences with a connective between two content words and their first pronoun (3.1.2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from pronominal.dataset_scripts.construction.stage import (
    Kept,
    answered,
    mention,
    with_column,
)
from pronominal.dataset_scripts.construction.treebank_words import treebank_words
from pronominal.dataset_scripts.construction.words import CONNECTIVES, PRONOUNS, STOPWORDS
from pronominal.dataset_scripts.tables.columns import MENTION


@dataclass(frozen=True, slots=True)
class ConnectiveRules:
    """Which connectives and pronouns a sentence must have.

    Attributes:
        pattern: ``paper``, or the regular expression of the ``released`` code, which sees a comma
            only between two word characters, reads greedily, and looks for pronouns up to the
            second content word only.
        most_clusters: greatest number of connective clusters in a sentence; None where the noun
            phrases count them, as in the released code. The paper says one, but two of the three
            examples of its Table 1 have two, as many as the released code allows.
        common_words: words that are no candidates; the released code's list came from a tagged
            corpus that is not free.
    """

    pattern: Literal["paper", "released"] = "paper"
    most_clusters: int | None = 2
    common_words: frozenset[str] = STOPWORDS


RELEASED = ConnectiveRules(pattern="released", most_clusters=None)

MOST_WORDS = 30
"""Words of the Penn Treebank kind that the released code reads at most."""

_PRONOUN = rf"\b(?:{'|'.join(PRONOUNS)})\b"
_CONNECTIVE = rf"(?:[,;]|\b(?:{'|'.join(CONNECTIVES)})\b)"
PRONOUN = re.compile(_PRONOUN)
ANY_PRONOUN = re.compile(_PRONOUN, re.IGNORECASE)
CLUSTER = re.compile(rf"{_CONNECTIVE}(?:\s*(?:and\s+)?{_CONNECTIVE})*")
WORD = re.compile(r"\w+")
CONTENT_WORDS = 2

NO_CONNECTIVE = "no connective before a pronoun"
EARLY_PRONOUN = "a pronoun before the connective"
FEW_WORDS = "fewer than two content words before the connective"
MORE_CLUSTERS = "too many connective clusters"
Found = tuple[tuple[int, int], tuple[int, int]] | str
"""The spans of connective and pronoun, or why there are none."""


def connectives(sentences: pa.RecordBatch, rules: ConnectiveRules = ConnectiveRules()) -> Kept:
    """Keep sentences of the pattern, and mark their connective and pronoun."""
    # RE2 reads this pattern at a gigabyte a second; it drops only what the exact one would drop
    connective = _CONNECTIVE if rules.pattern == "paper" else _RELEASED_CONNECTIVE
    possible = pc.match_substring_regex(sentences["text"], rf"{connective}.*{_PRONOUN}")
    find = paper_pattern if rules.pattern == "paper" else released_pattern
    texts = iter(sentences["text"].filter(possible).to_pylist())
    answers = [find(next(texts), rules) if each else NO_CONNECTIVE for each in possible.to_pylist()]
    kept, spans = answered(sentences, answers)
    rows = kept.rows
    for index, name in enumerate(("connective", "pronoun")):
        marked = zip(rows["text"].to_pylist(), spans, strict=True)
        marks = [mention(text, *pair[index]) for text, pair in marked]
        rows = with_column(rows, name, MENTION, marks)
    return Kept(rows, kept.rejected)


def paper_pattern(text: str, rules: ConnectiveRules) -> Found:
    """Find the first pronoun and the last connective cluster before it.

    Connectives are in lower case: one that begins the sentence has no candidate before it.
    """
    pronoun = ANY_PRONOUN.search(text)
    clusters = list(CLUSTER.finditer(text))
    before = [cluster for cluster in clusters if pronoun and cluster.end() <= pronoun.start()]
    if pronoun is None or not clusters:
        return NO_CONNECTIVE
    if not before or not pronoun[0].islower():
        return EARLY_PRONOUN
    if rules.most_clusters is not None and len(clusters) > rules.most_clusters:
        return MORE_CLUSTERS
    connective = before[-1]
    words = WORD.findall(text, 0, connective.start())
    if sum(word.lower() not in rules.common_words for word in words) < CONTENT_WORDS:
        return FEW_WORDS
    return connective.span(), pronoun.span()


# of "even though" only the second word matters: a greedy expression begins as late as it can
_RELEASED_WORDS = frozenset(word.split()[-1] for word in CONNECTIVES)
_RELEASED_CONNECTIVE = rf"\b(?:[,;]|{'|'.join(sorted(_RELEASED_WORDS))})\b"
SIGN = re.compile(r"\b[,;]\b")
_PRONOUNS = frozenset(PRONOUNS)


def released_pattern(text: str, rules: ConnectiveRules) -> Found:
    """Find what the released code's expression finds, without compiling one for each sentence.

    It is *candidate ... candidate ... connective ... pronoun*, read greedily: the first candidate
    of the sentence, the last one before the last connective before the last pronoun. Marked are
    the sentence's first pronoun, which the released code resolves, and the last connective before
    it; if there is none, the noun phrases will find the pronoun too early.
    """
    words = [(word[0], word.start()) for word in WORD.finditer(text)]
    end = _last_connective(text, words)
    if end < 0:
        return NO_CONNECTIVE
    treebank = treebank_words(text)
    if len(treebank) > MOST_WORDS:
        return "more than thirty Treebank words"
    # a word of the text is one of letters, digits and underscores, so the others drop out
    candidates = {word for word in treebank if len(word) > 2} - rules.common_words
    spans = [word for word in words if word[0] in candidates and word[1] < end]
    if len(spans) < CONTENT_WORDS:
        return FEW_WORDS
    (first, _), (second, start) = spans[0], spans[-1]
    if first == second:
        return "the two content words are the same"
    if any(place <= start and word.lower() in _PRONOUNS for word, place in words):
        return EARLY_PRONOUN
    pronoun = PRONOUN.search(text)
    assert pronoun is not None
    before = [cluster.span() for cluster in CLUSTER.finditer(text, 0, pronoun.start())]
    return before[-1] if before else (end, end + 1), pronoun.span()


def _last_connective(text: str, words: Sequence[tuple[str, int]]) -> int:
    """Return where the last connective begins that a pronoun follows, -1 if there is none."""
    last = max((place for word, place in words if word in _PRONOUNS), default=-1)
    found = [place for word, place in words if place < last and word in _RELEASED_WORDS]
    found += [sign.start() for sign in SIGN.finditer(text) if sign.start() < last]
    return max(found, default=-1)
