"""Sentences with exactly two noun phrases before the connective, both of them persons (3.1.3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pyarrow as pa

from pronominal.dataset_scripts.construction.connectives import (
    ANY_PRONOUN,
    CLUSTER,
    EARLY_PRONOUN,
    MORE_CLUSTERS,
    WORD,
)
from pronominal.dataset_scripts.construction.stage import (
    PLACES,
    Kept,
    Stage,
    answered,
    mention,
    with_column,
)

NOT_TWO = "not two noun phrases before the connective"
NOT_PERSONS = "a noun phrase that is no person"
SAME = "both noun phrases are the same"
RECURS = "a noun phrase recurs behind the connective"
MANY = "more than five noun phrases"


class Phrase(NamedTuple):
    """A noun phrase of a sentence.

    Attributes:
        start: where its last nouns begin, behind a determiner and adjectives.
        end: one after its last code point.
        key: its nouns as they are compared, such as ``"paula smith"``.
        person: whether it names a person.
    """

    start: int
    end: int
    key: str
    person: bool


PhraseFinder = Callable[[Sequence[str]], list[list[Phrase]]]
"""Finds the noun phrases of each of some sentences, from left to right."""


@dataclass(frozen=True, slots=True)
class PhraseRules:
    """Which noun phrases a sentence must have.

    Attributes:
        recurrence: what must not recur behind the connective: any ``word`` of the two noun
            phrases, or only the whole ``phrase`` (released code).
        clusters: which connective divides the sentence: the one ``marked``, the last before the
            pronoun, or ``any`` of them, of which the last that fits counts (released code).
        most: greatest number of noun phrases in a sentence (released code: 5).
        most_clusters: greatest number of connective clusters in a sentence (released code: 2);
            None where the connectives' rule counts them.
    """

    recurrence: Literal["word", "phrase"] = "word"
    clusters: Literal["marked", "any"] = "marked"
    most: int | None = None
    most_clusters: int | None = None


RELEASED = PhraseRules(recurrence="phrase", clusters="any", most=5, most_clusters=2)


def noun_phrases(find: PhraseFinder, rules: PhraseRules = PhraseRules()) -> Stage:
    """Return the stage that keeps sentences with two persons and adds them as ``candidates``."""

    def stage(rows: pa.RecordBatch) -> Kept:
        texts = rows["text"].to_pylist()
        columns = (texts, rows["connective"].to_pylist(), rows["pronoun"].to_pylist(), find(texts))
        answers = [
            _two_persons(text, (mark["start"], mark["end"]), pronoun["start"], phrases, rules)
            for text, mark, pronoun, phrases in zip(*columns, strict=True)
        ]
        kept, persons = answered(rows, answers)
        candidates = [
            [mention(text, phrase.start, phrase.end) for phrase in pair]
            for text, pair in zip(kept.rows["text"].to_pylist(), persons, strict=True)
        ]
        return Kept(with_column(kept.rows, "candidates", PLACES, candidates), kept.rejected)

    return stage


def _two_persons(
    text: str, marked: tuple[int, int], pronoun: int, phrases: Sequence[Phrase], rules: PhraseRules
) -> list[Phrase] | str:
    """Return the two persons, or why there are not exactly two."""
    if marked[0] > pronoun or ANY_PRONOUN.search(text, 0, marked[0]):
        return EARLY_PRONOUN
    if rules.most is not None and len(phrases) > rules.most:
        return MANY
    if rules.most_clusters is not None and len(CLUSTER.findall(text)) > rules.most_clusters:
        return MORE_CLUSTERS
    borders = [marked]
    if rules.clusters == "any":
        borders = [cluster.span() for cluster in CLUSTER.finditer(text, 0, pronoun)][::-1]
    reasons = []
    for border in borders:
        before = [phrase for phrase in phrases if phrase.end <= border[0]]
        reason = next(_faults(text, border[1], before, phrases, rules), None)
        if reason is None:
            return before
        reasons.append(reason)
    return reasons[0]


def _faults(
    text: str, end: int, before: Sequence[Phrase], phrases: Sequence[Phrase], rules: PhraseRules
) -> Iterator[str]:
    if len(before) != 2:
        yield NOT_TWO
        return
    if not all(phrase.person for phrase in before):
        yield NOT_PERSONS
    first, second = (frozenset(phrase.key.split()) for phrase in before)
    if first <= second or second <= first:
        yield SAME
    if rules.recurrence == "word":
        # initials do not count
        behind = {word.lower() for word in WORD.findall(text, end) if len(word) > 1}
        recurs = any(behind & {*WORD.findall(phrase.key)} for phrase in before)
    else:
        behind = {phrase.key for phrase in phrases if phrase.start >= end}
        recurs = any(phrase.key in behind for phrase in before)
    if recurs:
        yield RECURS
