"""What the network is told besides the words (``NeuralCoref.predict`` of ``neuralcoref.pyx``)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from pronominal.adapters.neuralcoref.mentions import LIST, Mention
from pronominal.adapters.neuralcoref.network import Floats, Indices
from pronominal.adapters.neuralcoref.word_vectors import MENTION_WIDTH

GENRE_WIDTH = 1
"""The genre, which is always 0."""

SINGLE_WIDTH = 17
"""Numbers that describe a mention."""

PAIR_WIDTH = 29 + 2 * SINGLE_WIDTH
"""Numbers that describe a pair, its two mentions included."""

SINGLE_INPUT = MENTION_WIDTH + SINGLE_WIDTH + GENRE_WIDTH
PAIR_INPUT = 2 * MENTION_WIDTH + PAIR_WIDTH + GENRE_WIDTH

_BINS = np.array([*range(5), *[5] * 3, *[6] * 8, *[7] * 16, *[8] * 32, 9])
"""The bin of each distance up to 64; longer ones are in the last."""

_FARTHEST = len(_BINS) - 1


def single_features(mentions: Sequence[Mention]) -> Floats:
    """Describe each mention, (mentions, `SINGLE_WIDTH`): type, length, place, nesting."""
    lengths = np.array([mention.end - mention.start - 1 for mention in mentions])
    places = np.arange(len(mentions)) / len(mentions)
    nested = [
        any(
            other.sentence == one.sentence and other.start <= one.start and one.end <= other.end
            for other in mentions
            if other is not one
        )
        for one in mentions
    ]
    types = np.eye(LIST + 1)[[mention.type for mention in mentions]]
    return np.column_stack([types, _distances(lengths), places, nested]).astype(np.float32)


def candidate_pairs(
    mentions: Sequence[Mention], max_dist: int, max_dist_match: int
) -> tuple[Indices, Indices]:
    """Return which pairs are scored: their antecedents and their mentions, both (pairs,).

    Pairs ascend by mention, then by antecedent.

    Args:
        mentions: in the order of their head words.
        max_dist: how many mentions back an antecedent may lie.
        max_dist_match: the same for one that shares a noun.
    """
    with_word: defaultdict[str, list[int]] = defaultdict(list)
    earlier: list[int] = []
    later: list[int] = []
    for number, mention in enumerate(mentions):
        antecedents = set(range(max(0, number - max_dist), number))
        for word in mention.content_words:
            antecedents.update(one for one in with_word[word] if one >= number - max_dist_match)
            with_word[word].append(number)
        earlier += sorted(antecedents)
        later += [number] * len(antecedents)
    return np.array(earlier, dtype=np.intp), np.array(later, dtype=np.intp)


def pair_features(
    mentions: Sequence[Mention], singles: Floats, earlier: Indices, later: Indices
) -> Floats:
    """Describe each pair, (pairs, `PAIR_WIDTH` + `GENRE_WIDTH`).

    That is speaker, matching strings, distances, overlap, and both mentions, whose own features are
    `singles`; `earlier` and `later` are the numbers of a pair's mentions, (pairs,).
    """
    pairs = [(mentions[one], mentions[other]) for one, other in zip(earlier, later, strict=True)]
    same_nouns = [not one.content_words.isdisjoint(other.content_words) for one, other in pairs]
    sentences = np.array([other.sentence - one.sentence for one, other in pairs])
    overlap = [one.sentence == other.sentence and one.end > other.start for one, other in pairs]
    columns: list[Any] = [
        np.tile([1, 0, 0], (len(pairs), 1)),  # one speaker, whom no mention names
        [one.root_text == other.root_text for one, other in pairs],
        [one.text == other.text for one, other in pairs],
        same_nouns,
        _distances(sentences),
        _distances(later - earlier - 1),
        overlap,
        singles[earlier],
        singles[later],
        np.zeros((len(pairs), GENRE_WIDTH)),
    ]
    return np.column_stack(columns).astype(np.float32)


def _distances(distances: Indices) -> Floats:
    """Return each distance as one of ten bins and as a fraction of 64, (distances, 11)."""
    capped = np.minimum(distances, _FARTHEST)
    bins = np.eye(_BINS.max() + 1)[_BINS[capped]]
    return np.column_stack([bins, capped / _FARTHEST])
