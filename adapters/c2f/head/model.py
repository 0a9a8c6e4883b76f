"""The coarse-to-fine head (Lee et al., 2018), shared by all encoders.

In the order of computation: every span of a sentence gets a mention score; the best ones that do
not cross each other are kept; a cheap score picks antecedents for each; these get a fine score,
from which spans are refined and scored again.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.head.candidates import CandidateGrid, rows_at_once, window_means
from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.feed_forward import FeedForward
from pronominal.adapters.c2f.head.initialisation import initialise
from pronominal.adapters.c2f.head.top_spans import (
    BUCKETS,
    Antecedents,
    TopSpans,
    attended,
    distance_buckets,
    top_candidates,
)
from pronominal.adapters.c2f.head.units import AntecedentScores, Encoded, UnitBatch, Units
from pronominal.adapters.contract.refusals import NonFiniteScoresError


class CoarseToFineHead(nn.Module):
    """Scores the antecedents of the spans of documents.

    Parameters have the names of coref-hoi, and a pair's features its order: speaker, genre,
    segment, distance. Answers do not depend on what else is in a batch, but for rounding.
    """

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.config = config
        features, spans = config.feature_size, config.span_size
        rows = len(BUCKETS) + 1
        self.emb_span_width = nn.Embedding(config.max_span_width, features)
        if config.width_prior:
            self.emb_span_width_prior = nn.Embedding(config.max_span_width, features)
            self.span_width_score_ffnn = self._scorer(features, depth=1)
        if config.distance_prior:
            self.emb_antecedent_distance_prior = nn.Embedding(rows, features)
            self.antecedent_distance_score_ffnn = nn.Linear(features, 1)
        self.emb_genre = nn.Embedding(len(config.genres), features)
        self.emb_same_speaker = nn.Embedding(2, features)
        if config.segment_distances:
            self.emb_segment_distance = nn.Embedding(config.segment_distances, features)
        self.emb_top_antecedent_distance = nn.Embedding(rows, features)
        self.mention_token_attn = nn.Linear(config.boundary_size, 1)
        self.span_emb_score_ffnn = self._scorer(spans)
        if config.preselection == "coarse":
            self.coarse_bilinear = nn.Linear(spans, spans)
        self.coref_score_ffnn = self._scorer(config.pair_size)
        if config.gate:
            self.gate_ffnn = nn.Linear(2 * spans, spans)
        self.dropout = nn.Dropout(config.dropout)

    def reset_parameters(self) -> None:
        """Draw all parameters anew, as the config's `initialisation` says."""
        initialise(self, self.config.initialisation)

    def forward(self, encoded: Sequence[Encoded], units: Sequence[Units]) -> list[AntecedentScores]:
        """Return the scores of each document, in order.

        A document of fewer than 1 / `top_span_ratio` units keeps no span.

        Raises:
            NonFiniteScoresError: as damaged weights lead to.
        """
        if not units:
            return []
        batch = UnitBatch.of(encoded, units, self.config)
        batch.refuse_marked(~torch.cat([batch.boundary, batch.head_values], dim=1).isfinite())
        grid = CandidateGrid.of(batch.sentences, self.config.max_span_width)
        attention = grid.attention(self.mention_token_attn(batch.boundary).squeeze(1))
        each = torch.arange(grid.width, device=attention.device).expand(len(attention), -1)
        # a feature for each candidate, [N, W, F], for training hides other entries of each
        widths = self.dropout(self.emb_span_width(each))
        mention_scores = self.mention_scores(batch, grid, attention, widths)
        batch.refuse_marked(~mention_scores.isfinite() & grid.inside)
        rows, columns = top_candidates(batch, grid, mention_scores.detach())
        top = TopSpans.of(rows, rows + columns + 1, batch.spans_to_keep)
        values = window_means(attention[rows, columns], grid.windows[rows], batch.head_values)
        ends = batch.boundary[top.ends - 1]
        vectors = torch.cat([batch.boundary[rows], ends, widths[rows, columns], values], dim=1)
        of_top = mention_scores[rows, columns]
        antecedents = self._preselect(top, vectors, of_top)
        scores = self._fine_scores(batch, top, vectors, antecedents)
        return self._by_document(batch, top, of_top, antecedents, scores)

    def mention_scores(
        self, batch: UnitBatch, grid: CandidateGrid, attention: Tensor, widths: Tensor
    ) -> Tensor:
        """Return how good a mention each candidate is, [N, W]; -inf for what is none.

        The spans' vectors are not put together: each unit's share of the first layer is computed
        once, and a span adds up those of its first, last and inner units.
        """
        config, scorer = self.config, self.span_emb_score_ffnn
        size = config.boundary_size
        blocks = scorer.blocks([size, size, config.feature_size, config.head_value_size])
        first = batch.boundary @ blocks[0].T + scorer.first.bias
        last, inner = batch.boundary @ blocks[1].T, batch.head_values @ blocks[3].T
        parts = [first.new_zeros(0, grid.width)]
        at_once = rows_at_once(first, grid.width * config.ffnn_size)
        for part in torch.split(torch.arange(len(first), device=first.device), at_once):
            windows = grid.windows[part]
            summed = torch.bmm(attention[part], inner[windows])
            summed = summed + last[windows] + first[part].unsqueeze(1)
            parts.append(scorer.finish(summed + widths[part] @ blocks[2].T))
        scores = torch.cat(parts)
        if config.width_prior:
            prior = self.span_width_score_ffnn(self.emb_span_width_prior.weight).squeeze(1)
            scores = scores + prior[: grid.width]
        return scores.masked_fill(~grid.inside, -torch.inf)

    def _scorer(self, inputs: int, depth: int | None = None) -> FeedForward:
        config = self.config
        return FeedForward(inputs, config.ffnn_size, depth or config.ffnn_depth, config.dropout)

    def _preselect(self, top: TopSpans, vectors: Tensor, mention_scores: Tensor) -> Antecedents:
        config = self.config
        own = mention_scores[top.slots]
        if config.preselection == "nearest":
            return Antecedents.nearest(own, top.earlier, config.max_antecedents)
        source = self.dropout(self.coarse_bilinear(vectors))[top.slots]
        target = self.dropout(vectors)[top.slots]
        coarse = own.unsqueeze(2) + own.unsqueeze(1) + source @ target.transpose(1, 2)
        if config.distance_prior:
            prior = self.dropout(self.emb_antecedent_distance_prior.weight)
            scores = self.antecedent_distance_score_ffnn(prior).squeeze(1)
            rank = torch.arange(top.slots.shape[1], device=vectors.device)
            coarse = coarse + scores[distance_buckets(rank.unsqueeze(1) - rank)]
        return Antecedents.best(coarse, top.earlier, config.max_antecedents)

    def _fine_scores(
        self, batch: UnitBatch, top: TopSpans, vectors: Tensor, antecedents: Antecedents
    ) -> Tensor:
        """Return the scores of no antecedent and of the antecedents, [D, K, 1 + C]."""
        pairs = antecedents.real.nonzero(as_tuple=True)
        document, rank, _ = pairs
        ranks = antecedents.spans[pairs]
        spans, others = top.slots[document, rank], top.slots[document, ranks]
        none = antecedents.scores.new_zeros(*top.slots.shape, 1)
        for repeat in range(self.config.depth):
            # every repeat hides other features in training
            features = self.dropout(self._pair_features(batch, top, spans, others, rank - ranks))
            fine = torch.cat(list(self._pair_scores(vectors, spans, others, features)))
            added = torch.zeros_like(antecedents.scores).index_put(pairs, fine)
            scores = torch.cat([none, antecedents.scores + added], dim=2)
            if repeat + 1 < self.config.depth:
                vectors = self._refined(top, vectors, antecedents.spans, scores)
        return scores

    def _pair_features(
        self, batch: UnitBatch, top: TopSpans, spans: Tensor, others: Tensor, distance: Tensor
    ) -> Tensor:
        one, other = top.starts[spans], top.starts[others]
        same = (batch.speakers[one] == batch.speakers[other]).long()
        features = [self.emb_same_speaker(same), self.emb_genre(batch.genres[one])]
        if self.config.segment_distances:
            apart = batch.segments[one] - batch.segments[other]
            farthest = self.config.segment_distances - 1
            features.append(self.emb_segment_distance(apart.clamp(0, farthest)))
        features.append(self.emb_top_antecedent_distance(distance_buckets(distance)))
        return torch.cat(features, dim=1)

    def _pair_scores(
        self, vectors: Tensor, spans: Tensor, others: Tensor, features: Tensor
    ) -> Iterator[Tensor]:
        """Yield the fine scores of pairs, some pairs at a time."""
        size, scorer = self.config.span_size, self.coref_score_ffnn
        blocks = scorer.blocks([size, size, size, features.shape[1]])
        of_span, of_other = vectors @ blocks[0].T + scorer.first.bias, vectors @ blocks[1].T
        at_once = rows_at_once(vectors, max(size, self.config.ffnn_size))
        parts = (torch.split(part, at_once) for part in (spans, others, features))
        for one, other, feature in zip(*parts, strict=True):
            product = (vectors[one] * vectors[other]) @ blocks[2].T
            summed = product + of_span[one] + of_other[other]
            yield scorer.finish(summed + feature @ blocks[3].T)

    def _refined(
        self, top: TopSpans, vectors: Tensor, antecedents: Tensor, scores: Tensor
    ) -> Tensor:
        """Move each span's vector towards what it refers to, as far as a gate lets it, [T, S]."""
        refined = attended(vectors[top.slots], antecedents, scores)[top.real]
        gate: Tensor = self.gate_ffnn(torch.cat([vectors, refined], dim=1)).sigmoid()
        return gate * refined + (1 - gate) * vectors

    def _by_document(
        self,
        batch: UnitBatch,
        top: TopSpans,
        mention_scores: Tensor,
        antecedents: Antecedents,
        scores: Tensor,
    ) -> list[AntecedentScores]:
        answers = []
        for document, first in enumerate(batch.firsts):
            count = batch.spans_to_keep[document]
            mine = top.slots[document, :count]
            fewer = min(count, self.config.max_antecedents)
            own = scores[document, :count, : 1 + fewer]
            # a filler may be a span that only longer documents have
            spans = antecedents.spans[document, :count, :fewer].clamp(max=max(count - 1, 0))
            if own.isnan().any() or own.isposinf().any():
                raise NonFiniteScoresError(document)
            starts, ends = top.starts[mine] - first, top.ends[mine] - first
            answers.append(AntecedentScores(starts, ends, mention_scores[mine], spans, own))
        return answers
