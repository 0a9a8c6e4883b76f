"""What LingMess and FCoref compute when they learn: texts of any lengths in one batch.

fastcoref lets spans over padding compete for the places among the top mentions, so that a loss
depends on what else is in its batch; here they do not. A batch without padding has its losses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pronominal.adapters.fastcoref.categories import (
    GROUPS,
    SubtokenWords,
    expert_pairs,
    pair_categories,
    pronoun_groups,
)
from pronominal.adapters.fastcoref.dense_longformer import dense_limit, encode_densely
from pronominal.spans import Span


@dataclass(frozen=True, slots=True)
class SubtokenBatch:
    """Texts side by side.

    Attributes:
        ids: of subtokens, [texts, subtokens].
        lengths: of the texts, [texts].
        words: the words of each text.
        kept: spans of each text that are among the top spans whatever their score is.
    """

    ids: Tensor
    lengths: Tensor
    words: Sequence[SubtokenWords]
    kept: Sequence[Sequence[Span]]

    @property
    def there(self) -> Tensor:
        """Which subtokens are no padding, [texts, subtokens]."""
        return torch.arange(self.ids.shape[1], device=self.ids.device) < self.lengths[:, None]

    def spans_to_keep(self, share: float) -> Tensor:
        """Return how many top spans each text has, [texts].

        They are `share` of its subtokens, special tokens included, computed in float32 as fastcoref
        does, but at least those that are kept in any case.
        """
        counts = (self.lengths * share).int()
        return counts.maximum(counts.new_tensor([len(spans) for spans in self.kept]))


class RankedSpans(NamedTuple):
    """The top spans of texts, and the scores of their antecedents.

    Attributes:
        starts: first subtoken of each span, [texts, spans]; ordered by start, then end.
        ends: its last one.
        there: whether there is such a span, [texts, spans].
        mention_scores: how good a mention each span is, [texts, spans].
        scores: of no antecedent (always 0), then of the spans, by each scorer, of which the last
            one decides, [texts, scorers, spans, 1 + spans].
        scored: which antecedents a scorer is for, [texts, scorers, spans, spans].
    """

    starts: Tensor
    ends: Tensor
    there: Tensor
    mention_scores: Tensor
    scores: Tensor
    scored: Tensor


class SpanRanker(nn.Module):
    """A model of fastcoref as it learns.

    Args:
        model: of fastcoref.
        segment_length: subtokens that are encoded together; None for a whole text.
    """

    def __init__(self, model: Any, segment_length: int | None = None) -> None:
        super().__init__()
        self.model = model
        self.segment_length = segment_length

    def forward(self, batch: SubtokenBatch) -> RankedSpans:
        """Rank the antecedents of the top spans."""
        model = self.model
        states = self._states(batch)
        spans = model._calc_mention_logits(
            model.start_mention_mlp(states), model.end_mention_mlp(states)
        )
        starts, ends, there = top_spans(batch, spans.detach(), model.top_lambda)
        rows = torch.arange(len(starts), device=starts.device)[:, None]
        mentions = spans[rows, starts, ends]
        legal = (there[:, :, None] & there[:, None]).tril(-1)
        outer = states[rows, starts], states[rows, ends]
        pairs, scored = self.pair_scores(batch, starts, ends, *outer)
        scored = scored & legal[:, None]
        scores = pairs + (mentions[:, :, None] + mentions[:, None])[:, None]
        scores = scores.masked_fill(~scored, -torch.inf)
        none = scores.new_zeros(*scores.shape[:-1], 1)
        scores = torch.cat([none, scores], dim=-1)
        return RankedSpans(starts, ends, there, mentions, scores, scored)

    def pair_scores(
        self, batch: SubtokenBatch, starts: Tensor, ends: Tensor, first: Tensor, last: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what each scorer says of each pair, and which pairs it is for.

        Both are [texts, scorers, spans, spans]; `first` and `last` are the states of the spans'
        outer subtokens, [texts, spans, hidden].
        """
        model = self.model
        scores = model._calc_coref_logits(model.start_coref_mlp(first), model.end_coref_mlp(last))
        return scores[:, None], torch.ones_like(scores[:, None], dtype=torch.bool)

    def _states(self, batch: SubtokenBatch) -> Tensor:
        ids, there = batch.ids, batch.there
        size = self.segment_length
        total = ids.shape[1]
        if size is None or total <= size:
            return self._encoded(ids, there)
        missing = -total % size
        ids = nn.functional.pad(ids, (0, missing)).reshape(-1, size)
        there = nn.functional.pad(there, (0, missing)).reshape(-1, size)
        real = there.any(1)
        encoded = self._encoded(ids[real], there[real])
        states = encoded.new_zeros(len(ids), size, encoded.shape[-1])
        states[real] = encoded
        return states.reshape(len(batch.ids), -1, encoded.shape[-1])[:, :total]

    def _encoded(self, ids: Tensor, there: Tensor) -> Tensor:
        encoder = self.model.base_model
        if ids.shape[1] <= dense_limit(encoder):
            return encode_densely(encoder, ids, there)
        states: Tensor = encoder(ids, attention_mask=there.long()).last_hidden_state
        return states


class ExpertRanker(SpanRanker):
    """LingMess as it learns: an expert for each category, one for all pairs, and all together."""

    def pair_scores(
        self, batch: SubtokenBatch, starts: Tensor, ends: Tensor, first: Tensor, last: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the scores of the experts, and of the sum of those that a pair has."""
        model = self.model
        groups = model.config.coref_head.get(GROUPS) or pronoun_groups()
        texts = zip(starts, ends, batch.words, strict=True)
        categories = torch.stack([pair_categories(*text, groups) for text in texts])
        pairs = expert_pairs(categories)
        every = torch.stack([*model.expert_scores(first, last, pairs)], dim=1)
        together = (every * pairs).sum(1, keepdim=True)
        anyone = torch.ones_like(pairs[:, :1])
        return torch.cat([every, together], dim=1), torch.cat([pairs, anyone], dim=1)


def top_spans(batch: SubtokenBatch, scores: Tensor, share: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return first and last subtoken of each text's best spans, and whether there is one.

    All are [texts, spans]; see `SubtokenBatch.spans_to_keep`.

    Args:
        batch: the texts.
        scores: of the span from each subtoken to each, [texts, subtokens, subtokens].
        share: spans for each subtoken.
    """
    total = scores.shape[1]
    ranked = scores.masked_fill(~batch.there[:, None], -torch.inf)
    for text, spans in enumerate(batch.kept):
        for start, end in spans:
            ranked[text, start, end - 1] = torch.inf
    counts = batch.spans_to_keep(share)
    most = int(counts.max())
    best = ranked.flatten(1).topk(most).indices
    there = torch.arange(most, device=scores.device) < counts[:, None]
    # what is not there is sorted behind all others
    places = best.masked_fill(~there, total**2 - 1).sort(dim=1).values
    return places // total, places % total, there
