"""The marginal log-likelihood of the right antecedents."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from pronominal.adapters.c2f.head.units import AntecedentScores
from pronominal.spans import Cluster, Span


def gold_labels(clusters: Sequence[Cluster]) -> dict[Span, int]:
    """Return the number of each gold mention's cluster, from 1 on; no two clusters share one."""
    return {span: number for number, cluster in enumerate(clusters, 1) for span in cluster}


def right_antecedents(scores: AntecedentScores, gold: Mapping[Span, int]) -> Tensor:
    """Say which of the scored antecedents are right, none included, [k, 1 + c].

    An antecedent is right when both spans are gold mentions of one cluster, by exact borders.
    None is right where no scored antecedent is.

    Args:
        scores: the head's scores.
        gold: the cluster of each gold mention, in units, from 1 on.
    """
    places = zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)
    labels = scores.antecedents.new_tensor([gold.get(Span(*place), 0) for place in places])
    same = labels[scores.antecedents] == labels.unsqueeze(1)
    # a filler repeats a span, possibly of the same cluster, and its score is -inf
    right = same & (labels > 0).unsqueeze(1) & scores.scores[:, 1:].isfinite()
    return torch.cat([~right.any(1, keepdim=True), right], dim=1)


def marginal_loss(scores: AntecedentScores, gold: Mapping[Span, int]) -> Tensor:
    """Return the negative log-likelihood of the right antecedents, summed over the top spans.

    Args:
        scores: the head's scores of one document.
        gold: the cluster of each gold mention, in units, from 1 on (see `gold_labels`).
    """
    right = right_antecedents(scores, gold)
    of_right = scores.scores.masked_fill(~right, -torch.inf).logsumexp(1)
    return (scores.scores.logsumexp(1) - of_right).sum()
