"""Documents to clusters: those of similar length go through a model together."""

from collections.abc import Callable, Sequence

import torch

from pronominal.adapters.c2f.head.decoding import decode
from pronominal.adapters.c2f.head.units import AntecedentScores
from pronominal.adapters.contract.refusals import NonFiniteScoresError, scores_not_finite
from pronominal.adapters.words.length_batches import length_batches
from pronominal.spans import Cluster

UNITS_AT_ONCE = 4096
"""How many units of short documents go through a model together; bounds memory only."""


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
