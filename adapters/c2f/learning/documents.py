"""Documents with gold clusters, from words to the units of an encoder and back."""

from collections.abc import Sequence
from dataclasses import dataclass

from pronominal.adapters.c2f.head.units import FRAME_SPEAKER, Units, inside_frame, word_span
from pronominal.spans import Cluster, Document, Span


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
    """

    units: Units
    clusters: Sequence[Cluster]
    document: Document
    longest: int
    first_unit: int = 0

    @classmethod
    def of(
        cls, document: Document, units: Units, clusters: Sequence[Cluster]
    ) -> "TrainingDocument":
        """Return a whole document.

        Args:
            document: the words.
            units: what an encoder reads of them.
            clusters: gold clusters, in words.
        """
        longest = max(map(len, units.strings), default=0)
        return cls(units, unit_clusters(units, clusters), document, longest)


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
