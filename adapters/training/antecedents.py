"""The loss of systems that rank the antecedents of spans, on whole and on partial annotation."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pronominal.spans import Cluster, Span

UNKNOWN = 0
"""The number of a span of which nothing is known."""

NO_MENTION = -1
"""The number of a span that corefers with nothing."""


class GoldMentions:
    """The gold mentions of a document.

    Args:
        clusters: gold clusters, in any unit.
        excluded: where annotation is partial, says which spans outside of the clusters certainly
            are no mention; None where all are.
    """

    def __init__(
        self,
        clusters: Sequence[Cluster],
        excluded: Callable[[tuple[int, int]], bool] | None = None,
    ) -> None:
        self._excluded = excluded
        self.number_of = {span: n for n, cluster in enumerate(clusters, 1) for span in cluster}
        self._first = {min(cluster) for cluster in clusters if cluster}

    @property
    def complete(self) -> bool:
        """Whether all spans outside of the clusters are known to corefer with nothing."""
        return self._excluded is None

    def numbers(self, spans: Sequence[tuple[int, int]]) -> list[int]:
        """Return the number of each span's cluster, from 1 on; `NO_MENTION`, or `UNKNOWN`."""
        return [self.number_of.get(Span(*span)) or self._outside(span) for span in spans]

    def _outside(self, span: tuple[int, int]) -> int:
        return NO_MENTION if self._excluded is None or self._excluded(span) else UNKNOWN

    def opening(self, spans: Sequence[tuple[int, int]]) -> list[bool]:
        """Say for each span whether none is right where no scored antecedent is.

        With whole annotation that is so, with partial annotation only where no mention of its
        cluster is before it, for another one that corefers may have been scored.
        """
        if self._excluded is None:
            return [True] * len(spans)
        return [span in self._first or Span(*span) not in self.number_of for span in spans]


class Targets(NamedTuple):
    """What is right for k spans, and what it is compared with; the first antecedent is none.

    Attributes:
        right: whether an antecedent is right, [..., k, 1 + c].
        asked: whether it is right or wrong, and not unknown, [..., k, 1 + c].
    """

    right: Tensor
    asked: Tensor

    @classmethod
    def of(
        cls, numbers: Tensor, of_antecedents: Tensor, scored: Tensor, opening: Tensor
    ) -> "Targets":
        """Return the targets of spans.

        An antecedent is right when both are mentions of one cluster; none is right for what is no
        mention, and for a mention none of whose antecedents is right, if nothing is unknown or it
        is its cluster's first. What is unknown is neither right nor wrong.

        Args:
            numbers: the cluster of each span, or `NO_MENTION` or `UNKNOWN`, [..., k].
            of_antecedents: that of each antecedent, [..., k, c].
            scored: whether there is such an antecedent, [..., k, c].
            opening: whether none is right where no antecedent is, [..., k].
        """
        known = (numbers != UNKNOWN).unsqueeze(-1)
        mention = (numbers > UNKNOWN).unsqueeze(-1)
        right = (of_antecedents == numbers.unsqueeze(-1)) & mention & scored
        none = ~right.any(-1, keepdim=True) & opening.unsqueeze(-1) & known
        # what is no mention has no antecedent at all
        wrong_or_right = known & ((of_antecedents != UNKNOWN) | ~mention) & scored
        asked = torch.cat([known, wrong_or_right], dim=-1)
        return cls(torch.cat([none, right], dim=-1), asked)


def marginal_losses(scores: Tensor, targets: Targets) -> Tensor:
    """Return the negative log-likelihood of each span's right antecedents, [..., k].

    It is that among the antecedents that are asked about (Lee et al., 2017, section 4), and 0
    where nothing is right that was scored.

    Args:
        scores: of no antecedent, then of the antecedents, [..., k, 1 + c]; -inf for those that are
            not scored.
        targets: what is right.
    """
    nothing = ~targets.right.any(-1, keepdim=True)
    # a row of nothing but -inf has no gradient: such rows are compared with themselves
    asked = scores.masked_fill(~(targets.asked | nothing), -torch.inf).logsumexp(-1)
    right = scores.masked_fill(~(targets.right | nothing), -torch.inf).logsumexp(-1)
    return (asked - right).masked_fill(nothing.squeeze(-1), 0)


def mention_losses(scores: Tensor, numbers: Tensor) -> Tensor:
    """Return the cross entropy of whether each span is a mention; 0 for what is unknown.

    Where annotation is partial, only few antecedents tell a mention from what is none.

    Args:
        scores: how good a mention each span is, [...].
        numbers: the cluster of each span, or `NO_MENTION` or `UNKNOWN`, [...].
    """
    signed = torch.where(numbers > UNKNOWN, scores, -scores)
    return -torch.nn.functional.logsigmoid(signed) * (numbers != UNKNOWN)
