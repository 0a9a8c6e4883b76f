"""Windows of long documents: what a training step sees of one."""

from dataclasses import replace
from typing import Literal

import numpy as np

from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.spans import Span

Drawn = Literal["every epoch", "once"]
"""When a document's window is drawn: kentonl and mandarjoshi90 draw anew each time that the
document comes up, coref-hoi before the first epoch."""


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
    return replace(
        whole,
        units=replace(units, **{name: getattr(units, name)[cut] for name in columns}),
        clusters=[cluster for cluster in shifted if cluster],
        first_unit=start,
    )


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
