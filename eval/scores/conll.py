"""The scores of coreference resolution on whole documents: MUC, B-cubed, CEAF, LEA, BLANC, CoNLL's.

As the reference implementation of Pradhan et al. (2014) has them for predicted mentions: mentions
that only one side has are kept as they are, and count against that side.

MUC: Vilain et al., 1995. B-cubed: Bagga and Baldwin, 1998. CEAF: Luo, 2005. LEA: Moosavi and
Strube, 2016. BLANC: Luo et al., 2014. The CoNLL score is the mean F1 of MUC, B-cubed and CEAF-e
(Pradhan et al., 2012).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from pronominal.eval.statistics.intervals import jackknife_interval
from pronominal.spans import Cluster, Span

Entities = NDArray[np.float64]
"""How often each entity (row) has each mention of either side (column); floats multiply faster."""


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
        recall = float(tally.found / tally.gold) if tally.gold else 0.0
        precision = float(tally.right / tally.predicted) if tally.predicted else 0.0
        total = recall + precision
        return cls(recall, precision, 2 * recall * precision / total if total else 0.0)

    @classmethod
    def mean(cls, scores: Sequence["Score"]) -> "Score":
        """Return the mean of each number; its F1 is not that of its recall and precision."""
        return cls(*(sum(numbers) / len(scores) for numbers in zip(*scores, strict=True)))


def conll_scores(
    gold: Sequence[Sequence[Cluster]], predicted: Sequence[Sequence[Cluster]]
) -> dict[str, Score]:
    """Score clusters of documents.

    A mention that a side has more than once is treated as in the reference scorer: what was
    predicted again goes where gold has the mention, so that it counts in the first cluster given;
    every other repeat counts.

    Args:
        gold: the right clusters of each document, in any unit.
        predicted: the system's, in the same order and unit.

    Returns:
        ``mentions`` (identification of mentions), ``muc``, ``b_cubed``, ``ceaf_m``, ``ceaf_e`` and
        ``lea``, over all documents together; ``blanc``, the mean over both kinds of links; and
        ``conll``, whose three numbers are the means of those of MUC, B-cubed and CEAF-e.
    """
    return _scores(document_tallies(gold, predicted).sum(axis=0))


def conll_intervals(
    gold: Sequence[Sequence[Cluster]], predicted: Sequence[Sequence[Cluster]]
) -> dict[str, dict[str, list[float] | None]]:
    """Return the 95 % intervals of `conll_scores`, for other documents (`jackknife_interval`).

    Returns:
        The same names -> ``recall``, ``precision`` and ``f1`` -> both ends; None with fewer than
        two documents.
    """
    return tally_intervals(document_tallies(gold, predicted))


def tally_intervals(
    tallies: NDArray[np.float64],
) -> dict[str, dict[str, list[float] | None]]:
    """Return what `conll_intervals` does, of the `document_tallies` themselves."""
    whole = tallies.sum(axis=0)
    found = np.array([*_scores(whole).values()])
    without = np.array([[*_scores(whole - one).values()] for one in tallies])
    moved = np.moveaxis(without.reshape(len(tallies), *found.shape), 0, -1)
    estimate = jackknife_interval(found.ravel(), moved.reshape(found.size, len(tallies)))
    ends = iter(estimate.ends(place) for place in range(found.size))
    return {name: {part: next(ends) for part in Score._fields} for name in _scores(whole)}


def document_tallies(
    gold: Sequence[Sequence[Cluster]], predicted: Sequence[Sequence[Cluster]]
) -> NDArray[np.float64]:
    """Tally each document, shape ``[documents, tallies, 4]``."""
    kinds = (*TALLIES.values(), *LINKS.values())
    pairs = [_entities(*sides) for sides in zip(gold, predicted, strict=True)]
    made = [[tally(*pair) for tally in kinds] for pair in pairs]
    return np.array(made, np.float64).reshape(len(pairs), len(kinds), 4)


def _scores(tallies: NDArray[np.float64]) -> dict[str, Score]:
    """Divide the tallies of several documents together, shape ``[tallies, 4]``."""
    names = (*TALLIES, *LINKS)
    of = {name: Tally(*row) for name, row in zip(names, tallies.tolist(), strict=True)}
    scores = {name: Score.of(of[name]) for name in TALLIES}
    together, apart = (of[name] for name in LINKS)
    scores["blanc"] = _blanc(together, apart, scores["mentions"])
    scores["conll"] = Score.mean([scores[name] for name in ("muc", "b_cubed", "ceaf_e")])
    return scores


def mentions(gold: Entities, predicted: Entities) -> Tally:
    """Count the mentions that both sides have."""
    one, other = gold.any(axis=0), predicted.any(axis=0)
    common = (one & other).sum()
    return Tally(common, one.sum(), common, other.sum())


def muc(gold: Entities, predicted: Entities) -> Tally:
    """Count links: an entity of n mentions that the other side divides in p parts keeps n - p."""
    owned = predicted @ _owners(gold).T
    kept = owned.sum() - np.count_nonzero(owned)
    return Tally(kept, gold.sum() - len(gold), kept, predicted.sum() - len(predicted))


def b_cubed(gold: Entities, predicted: Entities) -> Tally:
    """Add up, for each mention, the share of its entity that the other side has with it."""
    shared = (predicted @ _owners(gold).T) * _common(predicted, gold)
    found = (shared / gold.sum(axis=1)).sum()
    right = (shared.T / predicted.sum(axis=1)).sum()
    return Tally(found, gold.sum(), right, predicted.sum())


def ceaf_m(gold: Entities, predicted: Entities) -> Tally:
    """Align entities one to one by the mentions that they have in common."""
    common = _aligned(_common(gold, predicted))
    return Tally(common, gold.sum(), common, predicted.sum())


def ceaf_e(gold: Entities, predicted: Entities) -> Tally:
    """Align entities one to one by the Dice coefficient of their mentions."""
    sizes = np.add.outer(gold.sum(axis=1), predicted.sum(axis=1))
    alike = _aligned(2 * _common(gold, predicted) / sizes)
    return Tally(alike, len(gold), alike, len(predicted))


def lea(gold: Entities, predicted: Entities) -> Tally:
    """Add up the share of each entity's links that the other side has, weighted by its size.

    An entity of one mention has one link, to itself, which only an entity of the same one has.
    """
    return Tally(*_resolved(gold, predicted), *_resolved(predicted, gold))


def coreference_links(gold: Entities, predicted: Entities) -> Tally:
    """Count the pairs of mentions that both sides have in one entity."""
    return _agreeing(_linked(gold), _linked(predicted))


def other_links(gold: Entities, predicted: Entities) -> Tally:
    """Count the pairs of mentions that both sides have in different entities."""
    return _agreeing(_apart(gold), _apart(predicted))


TALLIES: dict[str, Callable[[Entities, Entities], Tally]] = {
    "mentions": mentions,
    "muc": muc,
    "b_cubed": b_cubed,
    "ceaf_m": ceaf_m,
    "ceaf_e": ceaf_e,
    "lea": lea,
}
"""The scores that are one tally, by name."""

LINKS = {"coreference links": coreference_links, "other links": other_links}
"""What BLANC is the mean of."""


def _entities(gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> tuple[Entities, Entities]:
    known = {span for cluster in gold for span in cluster}
    seen: set[Span] = set()
    kept: list[Cluster] = []
    for cluster in predicted:
        kept.append([])
        for span in cluster:
            if span not in seen:
                kept[-1].append(span)
            if span in known:
                seen.add(span)
    column = {span: number for number, span in enumerate(known.union(*kept))}
    return _counted(gold, column), _counted(kept, column)


def _counted(clusters: Sequence[Cluster], column: dict[Span, int]) -> Entities:
    filled = [cluster for cluster in clusters if cluster]
    counts = np.zeros((len(filled), len(column)))
    for row, cluster in zip(counts, filled, strict=True):
        for span in cluster:
            row[column[span]] += 1
    return counts


def _owners(entities: Entities) -> Entities:
    """Leave each mention in the last entity that has it."""
    later = np.cumsum(entities[::-1], axis=0)[::-1] - entities
    return np.asarray((entities > 0) & (later == 0), float)


def _common(ours: Entities, theirs: Entities) -> NDArray[np.float64]:
    """Count the mentions of each of our entities, repeats included, that each of theirs has."""
    return np.asarray(ours @ (theirs > 0).T.astype(float))


def _aligned(similarity: NDArray[np.float64]) -> float:
    return float(similarity[linear_sum_assignment(similarity, maximize=True)].sum())


def _resolved(ours: Entities, theirs: Entities) -> tuple[float, float]:
    common, sizes = _common(ours, theirs), ours.sum(axis=1)
    same = (common[:, theirs.sum(axis=1) == 1] > 0).any(axis=1)
    shared = (common * (common - 1)).sum(axis=1)
    links = np.maximum(sizes * (sizes - 1), 1)
    return float(np.where(sizes == 1, same, sizes * shared / links).sum()), float(sizes.sum())


def _linked(entities: Entities) -> NDArray[np.bool_]:
    """Say of each two mentions whether an entity has both; of one, whether it has it twice."""
    pairs = _common(entities.T, entities.T) > 0
    np.fill_diagonal(pairs, (entities > 1).any(axis=0))
    return pairs


def _apart(entities: Entities) -> NDArray[np.bool_]:
    """Say of each two mentions, and of one, whether two entities have them."""
    has = (entities > 0).astype(float)
    owners = has.sum(axis=0)
    return np.asarray(np.multiply.outer(owners, owners) > has.T @ has)


def _agreeing(gold: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Tally:
    common, ours, theirs = (np.triu(one).sum() for one in (gold & predicted, gold, predicted))
    return Tally(common, ours, common, theirs)


def _blanc(coreference: Tally, other: Tally, identified: Score) -> Score:
    """Return the mean over both kinds of links, or the only kind that gold has.

    Where there are no links at all, that is one mention a side, it is whether they are the same
    (Luo et al., 2014, on boundary cases).
    """
    if not (coreference.gold or other.gold or coreference.predicted or other.predicted):
        return identified
    kinds = [kind for kind in (coreference, other) if kind.gold] or [coreference, other]
    return Score.mean([Score.of(kind) for kind in kinds])
