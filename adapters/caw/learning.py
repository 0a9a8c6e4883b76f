"""The losses of CAW: of the links between words, and of the spans of their heads.

Both are upstream's (``loss.py`` and ``coref_model.py`` of KarelDO/wl-coref), for any number of
documents at once: the negative log-likelihood of a word's right antecedents and a share of the
binary cross entropy of each, and the cross entropy of first and last word of each head's span.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import torch
from torch import Tensor, nn

from pronominal.adapters.caw.documents import WordLevelDocument
from pronominal.adapters.caw.model import DUMMY, WordLevelModel, head_table
from pronominal.adapters.caw.scorer import Pairs
from pronominal.adapters.training.antecedents import Targets, marginal_losses

CLAMPED = 50.0
"""The largest score, and the smallest one, that the binary cross entropy knows."""


class Losses(NamedTuple):
    """The losses of documents, each [documents].

    Attributes:
        words: of the links, the mean over a document's words.
        spans: of the spans, the sum over a document's heads.
    """

    words: Tensor
    spans: Tensor


class AntecedentTable(NamedTuple):
    """The scored antecedents of each word, side by side.

    Attributes:
        scores: of no antecedent, then of the antecedents, [words, 1 + c]; -inf where there is none.
        antecedents: rows of the batch's table of words, [words, c]; 0 where there is none.
    """

    scores: Tensor
    antecedents: Tensor

    @classmethod
    def of(cls, pairs: Pairs, words: int) -> "AntecedentTable":
        """Return the table of a list of pairs, in which the pairs of a word are neighbours."""
        counts = torch.bincount(pairs.current, minlength=words)
        first = counts.cumsum(0) - counts
        column = torch.arange(len(pairs.current), device=counts.device) - first[pairs.current]
        widest = int(counts.max())
        antecedents = pairs.antecedent.new_zeros(words, widest)
        antecedents[pairs.current, column] = pairs.antecedent
        scores = pairs.scores.new_full((words, widest), -torch.inf)
        scores = scores.index_put((pairs.current, column), pairs.scores)
        none = scores.new_full((words, 1), DUMMY)
        return cls(torch.cat([none, scores], dim=1), antecedents)


class LearningModel(nn.Module):
    """A model as it learns: documents in, their losses out.

    Args:
        model: what learns.
        bce_weight: of the binary cross entropy, beside the log-likelihood.
        dropout: share of words, features and pairs that is hidden; the span predictor has its own.
    """

    def __init__(self, model: WordLevelModel, *, bce_weight: float, dropout: float) -> None:
        super().__init__()
        self.model = model
        self.bce_weight = bce_weight
        for part in model.scorers:
            for module in part.modules():
                if isinstance(module, nn.Dropout):
                    module.p = dropout

    def forward(self, documents: Sequence[WordLevelDocument]) -> Losses:
        """Return the losses of documents; `NonFiniteScoresError` where a score is not finite."""
        model, tokenized = self.model, [document.tokenized for document in documents]
        states = model.subword_states(tokenized)
        # an encoder in mixed precision has scorers in float32: sums over words would lose digits
        with torch.autocast(states.device.type, enabled=False):
            words = model.combined(states.float(), tokenized)
            always = _kept(documents, words)
            pairs = model.scored_pairs(words, tokenized, always)
            return Losses(self._of_links(pairs, documents, words), self._of_spans(words, documents))

    def _of_links(
        self, pairs: Pairs, documents: Sequence[WordLevelDocument], words: Tensor
    ) -> Tensor:
        table = AntecedentTable.of(pairs, len(words))
        device = words.device
        numbers = torch.tensor([*chain.from_iterable(d.numbers for d in documents)], device=device)
        opening = torch.tensor([*chain.from_iterable(d.opening for d in documents)], device=device)
        scored = table.scores[:, 1:].isfinite()
        targets = Targets.of(numbers, numbers[table.antecedents], scored, opening)
        losses = marginal_losses(table.scores, targets)
        asked = targets.asked
        clamped = table.scores.clamp(-CLAMPED, CLAMPED)
        entropies = nn.functional.binary_cross_entropy_with_logits(
            clamped, targets.right.float(), reduction="none"
        )
        cells, shares = self._divisors(documents, asked)
        losses = losses + self.bce_weight * (entropies * asked).sum(1) / cells
        owner = _owners(documents, device)
        return losses.new_zeros(len(documents)).index_add(0, owner, losses * shares)

    def _divisors(
        self, documents: Sequence[WordLevelDocument], asked: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what a word's entropies are divided by, and what its loss counts for, [words].

        Of a whole annotation all words count alike, and all places for antecedents, taken or not,
        as upstream's means have it. Of a partial one the antecedents that are asked about count,
        and a loss is divided by the annotated mentions: a long text is worth what a short one is.
        """
        limit = self.model.settings.rough_k
        cells, shares = [], []
        for document in documents:
            count = document.tokenized.words
            whole = 1 + min(limit, count)
            cells += [whole if document.complete else 0] * count
            annotated = count if document.complete else max(1, len(document.spans))
            shares += [1 / annotated] * count
        places = torch.tensor(cells, device=asked.device)
        places = torch.where(places > 0, places, asked.sum(1).clamp(min=1))
        return places, torch.tensor(shares, device=asked.device)

    def _of_spans(self, words: Tensor, documents: Sequence[WordLevelDocument]) -> Tensor:
        """Return the cross entropies of each document's heads; words of other sentences are out."""
        firsts = accumulate((d.tokenized.words for d in documents), initial=0)
        spans = {
            first + head: (number, first + span.start, first + span.end - 1)
            for number, (first, document) in enumerate(zip(firsts, documents, strict=False))
            for head, span in document.spans_in_sentences
        }
        losses = words.new_zeros(len(documents))
        if not spans:
            return losses
        table = head_table([*spans], [document.tokenized for document in documents])
        heads = torch.tensor(table, device=words.device)
        owner, first, last = torch.tensor([*spans.values()], device=words.device).unbind(1)
        scores = self.model.span_predictor(words, heads)
        starts, ends = heads[:, 1, None], heads[:, 2, None]
        outside = starts + torch.arange(scores.shape[1], device=words.device) >= ends
        scores = scores.masked_fill(outside[:, :, None], -torch.inf)
        for channel, border in ((0, first), (1, last)):
            own = nn.functional.cross_entropy(
                scores[:, :, channel], border - heads[:, 1], reduction="none"
            )
            losses = losses.index_add(0, owner, own)
        return losses


def _kept(documents: Sequence[WordLevelDocument], words: Tensor) -> Tensor:
    always = torch.zeros(len(words), dtype=torch.bool, device=words.device)
    firsts = accumulate((document.tokenized.words for document in documents), initial=0)
    kept = [
        first + word
        for first, document in zip(firsts, documents, strict=False)
        for word in document.kept
    ]
    always[kept] = True
    return always


def _owners(documents: Sequence[WordLevelDocument], device: torch.device) -> Tensor:
    counts = torch.tensor([document.tokenized.words for document in documents], device=device)
    return torch.arange(len(documents), device=device).repeat_interleave(counts)
