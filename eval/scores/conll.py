"""The scores of coreference resolution on whole documents: MUC, B-cubed, CEAF, LEA and CoNLL's.

As the reference implementation of Pradhan et al. (2014) has them for predicted mentions: mentions
that only one side has are kept as they are, and count against that side.

MUC: Vilain et al., 1995. B-cubed: Bagga and Baldwin, 1998. CEAF: Luo, 2005. LEA: Moosavi and
Strube, 2016. The CoNLL score is the mean F1 of MUC, B-cubed and CEAF-e (Pradhan et al., 2012).
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pronominal.spans import Cluster, Span

Entity = frozenset[Span]


class Tally(NamedTuple):
    """Numerators and denominators of recall and precision; tallies of documents add up.

    Attributes:
        found: what of the gold clusters was found.
        gold: what there was to find.
        right: what of the predicted clusters is right.
        predicted: what was predicted.
    """

    found: float
    gold: float
    right: float
    predicted: float


class Score(NamedTuple):
    """Recall, precision and F1, in [0, 1]; 0 where there is nothing to divide by."""

    recall: float
    precision: float
    f1: float

    @classmethod
    def of(cls, tally: Tally) -> "Score":
        """Divide a tally."""
        recall = tally.found / tally.gold if tally.gold else 0.0
        precision = tally.right / tally.predicted if tally.predicted else 0.0
        total = recall + precision
        return cls(recall, precision, 2 * recall * precision / total if total else 0.0)


def conll_scores(
    gold: Sequence[Sequence[Cluster]], predicted: Sequence[Sequence[Cluster]]
) -> dict[str, Score]:
    """Score clusters of documents.

    Args:
        gold: the right clusters of each document, in any unit.
        predicted: the system's, in the same order and unit; no span is in two clusters.

    Returns:
        ``mentions`` (identification of mentions), ``muc``, ``b_cubed``, ``ceaf_m``, ``ceaf_e`` and
        ``lea``, over all documents together; and ``conll``, whose three numbers are the means of
        those of MUC, B-cubed and CEAF-e.
    """
    pairs = [
        [[frozenset(cluster) for cluster in clusters if cluster] for clusters in sides]
        for sides in zip(gold, predicted, strict=True)
    ]
    nothing = Tally(0, 0, 0, 0)
    scores = {
        name: Score.of(Tally(*map(sum, zip(nothing, *(tally(*p) for p in pairs), strict=True))))
        for name, tally in TALLIES.items()
    }
    parts = [scores[name] for name in ("muc", "b_cubed", "ceaf_e")]
    scores["conll"] = Score(*(sum(numbers) / 3 for numbers in zip(*parts, strict=True)))
    return scores


def mentions(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Tally:
    """Count the mentions that both sides have."""
    one, other = frozenset().union(*gold), frozenset().union(*predicted)
    common = len(one & other)
    return Tally(common, len(one), common, len(other))


def muc(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Tally:
    """Count links: an entity of n mentions that the other side divides in p parts keeps n - p."""
    return Tally(*_links(gold, predicted), *_links(predicted, gold))


def b_cubed(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Tally:
    """Add up, for each mention, the share of its entity that the other side has with it."""
    return Tally(*_shares(gold, predicted), *_shares(predicted, gold))


def ceaf_m(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Tally:
    """Align entities one to one by the mentions that they have in common."""
    common = _aligned(gold, predicted, lambda one, other: len(one & other))
    return Tally(common, sum(map(len, gold)), common, sum(map(len, predicted)))


def ceaf_e(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Tally:
    """Align entities one to one by the Dice coefficient of their mentions."""
    alike = _aligned(
        gold, predicted, lambda one, other: 2 * len(one & other) / (len(one) + len(other))
    )
    return Tally(alike, len(gold), alike, len(predicted))


def lea(gold: Sequence[Entity], predicted: Sequence[Entity]) -> Tally:
    """Add up the share of each entity's links that the other side has, weighted by its size.

    An entity of one mention has one link, to itself, which only an entity of the same one has.
    """
    return Tally(*_resolved(gold, predicted), *_resolved(predicted, gold))


TALLIES: dict[str, Callable[[Sequence[Entity], Sequence[Entity]], Tally]] = {
    "mentions": mentions,
    "muc": muc,
    "b_cubed": b_cubed,
    "ceaf_m": ceaf_m,
    "ceaf_e": ceaf_e,
    "lea": lea,
}
"""The scores by name."""


def _links(ours: Sequence[Entity], theirs: Sequence[Entity]) -> tuple[int, int]:
    owner = {span: number for number, entity in enumerate(theirs) for span in entity}
    kept = 0
    for entity in ours:
        # a mention that the other side does not have is a part of its own
        parts = {owner.get(span, span) for span in entity}
        kept += len(entity) - len(parts)
    return kept, sum(len(entity) - 1 for entity in ours)


def _shares(ours: Sequence[Entity], theirs: Sequence[Entity]) -> tuple[float, int]:
    shared = sum(len(one & other) ** 2 / len(one) for one in ours for other in theirs)
    return shared, sum(map(len, ours))


def _aligned(
    gold: Sequence[Entity],
    predicted: Sequence[Entity],
    similarity: Callable[[Entity, Entity], float],
) -> float:
    if not gold or not predicted:
        return 0.0
    table = np.array([[similarity(one, other) for other in predicted] for one in gold])
    return float(table[linear_sum_assignment(table, maximize=True)].sum())


def _resolved(ours: Sequence[Entity], theirs: Sequence[Entity]) -> tuple[float, int]:
    total = 0.0
    for one in ours:
        if len(one) == 1:
            total += one in theirs
        else:
            shared = sum(comb(len(one & other), 2) for other in theirs)
            total += len(one) * shared / comb(len(one), 2)
    return total, sum(map(len, ours))
