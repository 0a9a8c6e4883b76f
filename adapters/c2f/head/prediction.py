"""Documents to clusters: those of similar length go through a model together."""

from collections.abc import Callable, Sequence

import torch

from pronominal.adapters.c2f.head.units import AntecedentScores
from pronominal.adapters.contract.refusals import NonFiniteScoresError, scores_not_finite
from pronominal.adapters.words.length_batches import length_batches
from pronominal.spans import Cluster, Span

UNITS_AT_ONCE = 4096
"""How many units of short documents go through a model together; bounds memory only."""


def predicted_antecedents(scores: AntecedentScores) -> list[int]:
    """Return which span each one's best antecedent is, -1 for none.

    None wins a tie, as it comes first.
    """
    if not len(scores.starts):
        return []
    # not argmax(), which need not give the first of several
    best = (scores.scores == scores.scores.amax(1, keepdim=True)).int().argmax(1)
    chosen = scores.antecedents.gather(1, (best - 1).clamp(min=0).unsqueeze(1)).squeeze(1)
    antecedents: list[int] = chosen.masked_fill(best == 0, -1).tolist()
    return antecedents


def decode(scores: AntecedentScores) -> list[Cluster]:
    """Return the clusters as half-open spans of units.

    Every span joins its antecedent's cluster, in the order of the spans; clusters have the
    order in which they were opened. No cluster has fewer than two spans.
    """
    places = zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)
    spans = [Span(*place) for place in places]
    clusters: list[Cluster] = []
    cluster_of: dict[int, Cluster] = {}
    for span, antecedent in enumerate(predicted_antecedents(scores)):
        if antecedent < 0:
            continue
        if antecedent not in cluster_of:
            cluster_of[antecedent] = [spans[antecedent]]
            clusters.append(cluster_of[antecedent])
        cluster_of[antecedent].append(spans[span])
        cluster_of[span] = cluster_of[antecedent]
    return clusters


def predicted_clusters(
    score: Callable[[list[int]], Sequence[AntecedentScores]],
    lengths: Sequence[int],
    *,
    most: int | None = None,
    checkpoint: str | None = None,
    among: str = "documents",
) -> list[list[Cluster]]:
    """Return the clusters of each document, in order, as half-open spans of units.

    Args:
        score: takes the numbers of some documents and returns the scores of each.
        lengths: of the documents, in units; a document without units has no clusters.
        most: how many documents are scored at once; None for any number.
        checkpoint: of the model, for messages; None while it is trained.
        among: the documents' name in messages.

    Raises:
        RefusedTextError: a document's scores are not finite.
        NonFiniteScoresError: they are not, and the model has no checkpoint to blame.
    """
    answers: list[list[Cluster]] = [[] for _ in lengths]
    for batch in length_batches(lengths, room=UNITS_AT_ONCE, most=most):
        try:
            with torch.inference_mode():
                scores = score(batch)
        except NonFiniteScoresError as error:
            if checkpoint is None:
                raise
            raise scores_not_finite(batch[error.document], checkpoint, among) from error
        for index, found in zip(batch, scores, strict=True):
            answers[index] = decode(found)
    return answers
