"""Documents with gold clusters, from words to the units of an encoder and back; their windows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np

from pronominal.adapters.c2f.head.units import FRAME_SPEAKER, Units, inside_frame, word_span
from pronominal.adapters.training.antecedents import GoldMentions
from pronominal.adapters.words.mention_borders import MentionBorders
from pronominal.spans import AnnotatedDocument, Cluster, Document, Span

Drawn = Literal["every epoch", "once"]
"""When a document's window is drawn: kentonl and mandarjoshi90 draw anew each time that the
document comes up, coref-hoi before the first epoch."""


@dataclass(frozen=True, slots=True)
class TrainingDocument:
    """A document with its gold clusters, whole or a window of one.

    Attributes:
        units: what the encoder reads.
        clusters: half-open spans of units. In a window, mentions may begin before it or end behind
            it; no span of units is equal to those.
        document: the words of the whole document.
        longest: length of the whole document's longest unit, in characters.
        first_unit: where the window begins in the whole document, in units.
        complete: whether spans outside of the clusters are known to corefer with nothing.
    """

    units: Units
    clusters: Sequence[Cluster]
    document: Document
    longest: int
    first_unit: int = 0
    complete: bool = True

    @classmethod
    def of(cls, gold: AnnotatedDocument, units: Units) -> "TrainingDocument":
        """Return a whole document, given what an encoder reads of its words."""
        longest = max(map(len, units.strings), default=0)
        clusters = unit_clusters(units, gold.clusters)
        return cls(units, clusters, gold.document, longest, complete=gold.complete)

    def with_mentions_kept(self) -> "TrainingDocument":
        """Return the document with its mentions kept whatever their scores, if others are unknown.

        The few that a partial annotation has would hardly be among the top spans of a new head.
        """
        if self.complete:
            return self
        mentions = [*chain.from_iterable(self.clusters)]
        return replace(self, units=replace(self.units, kept=mentions))

    @property
    def gold(self) -> GoldMentions:
        """The gold mentions, in units."""
        if self.complete:
            return GoldMentions(self.clusters)
        units = self.units
        words = [*chain.from_iterable(self.document.words)]
        word_of = [
            None if speaker == FRAME_SPEAKER else word
            for word, speaker in zip(units.words, units.speakers, strict=True)
        ]
        borders = MentionBorders(words, word_of, self.clusters)
        return GoldMentions(self.clusters, borders.exclude)


def unit_clusters(units: Units, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Turn spans of words into spans of units; a word without units can border no span."""
    firsts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for unit, (word, speaker) in enumerate(zip(units.words, units.speakers, strict=True)):
        if speaker != FRAME_SPEAKER:
            firsts.setdefault(word, unit)
            ends[word] = unit + 1
    return [
        [
            Span(firsts[start], ends[end - 1])
            for start, end in cluster
            if start in firsts and end - 1 in ends
        ]
        for cluster in clusters
    ]


def word_clusters(units: Units, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Turn spans of units into spans of words, widened to whole words.

    [CLS] and [SEP] are no words; clusters keep two different mentions or go.
    """
    kept = []
    for cluster in clusters:
        inner = (inside_frame(units, span) for span in cluster)
        words = dict.fromkeys(word_span(units, span) for span in inner if span is not None)
        if len(words) > 1:
            kept.append(list(words))
    return kept


def window(whole: TrainingDocument, first: int, size: int) -> TrainingDocument:
    """Return `size` segments of a document from number `first` on.

    Sentences and segments keep their numbers; mentions that touch the window keep their clusters.
    """
    units = whole.units
    inside = [first <= segment < first + size for segment in units.segments]
    start = inside.index(True)
    cut = slice(start, start + sum(inside))
    columns = ("strings", "sentences", "segments", "speakers", "words")
    shifted = (
        [Span(a - start, b - start) for a, b in cluster if a < cut.stop and b > start]
        for cluster in whole.clusters
    )
    inner = replace(units, **{name: getattr(units, name)[cut] for name in columns})
    touching = [cluster for cluster in shifted if cluster]
    return replace(whole, units=inner, clusters=touching, first_unit=start)


class Windows:
    """Draws a window of each document that is longer than one.

    A draw depends on the seed, the document and the epoch alone, so that a training that is
    resumed goes on with the same windows.

    Args:
        size: segments of a window.
        drawn: when.
        seed: of the training.
    """

    def __init__(self, size: int, drawn: Drawn, seed: int) -> None:
        self.size = size
        self.drawn = drawn
        self.seed = seed

    def cut(self, whole: TrainingDocument, number: int, epoch: int) -> TrainingDocument:
        """Return a window of the document, or the document itself if it is short enough.

        Args:
            whole: the document.
            number: of the document in the training set.
            epoch: from 0.
        """
        segments = max((*whole.units.segments, -1)) + 1
        if segments <= self.size:
            return whole
        draw = np.random.default_rng([self.seed, number, 0 if self.drawn == "once" else epoch])
        return window(whole, int(draw.integers(segments - self.size + 1)), self.size)
