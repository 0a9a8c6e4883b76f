"""The classifier's network: an encoder, and a head that scores each candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pronominal.adapters.bert.encoding import EncodedInstance
from pronominal.adapters.bert.settings import Classifier

HIDDEN = 256
"""Units of the span scorer's hidden layer."""


@dataclass(frozen=True, slots=True)
class InstanceBatch:
    """Encoded instances as tensors.

    Attributes:
        ids: subwords, shape [sequences, subwords]; the copies of an instance follow each other.
        mask: 1 where there is a subword, 0 for padding; the same shape.
        spans: half-open ranges, shape [sequences, spans of one, 2].
        first: index of the first-mentioned candidate, shape [instances].
        labels: index of the right candidate, shape [instances].
    """

    ids: Tensor
    mask: Tensor
    spans: Tensor
    first: Tensor
    labels: Tensor

    @classmethod
    def of(
        cls, encoded: Sequence[EncodedInstance], padding: int, device: torch.device | str = "cpu"
    ) -> "InstanceBatch":
        """Pad encoded instances to the longest sequence among them."""
        rows = [torch.tensor(ids) for one in encoded for ids in one.sequences]
        mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        spans = torch.tensor([one.spans for one in encoded])
        return cls(
            ids=pad_sequence(rows, batch_first=True, padding_value=padding).to(device),
            mask=mask.to(device),
            spans=spans.reshape(len(rows), -1, 2).to(device),
            first=torch.tensor([one.first for one in encoded], device=device),
            labels=torch.tensor([one.label for one in encoded], device=device),
        )


class SubstitutionHead(nn.Module):
    """A task vector over the pooled states of each copy of the text (KnowRef, equation 1)."""

    def __init__(self, hidden: int, pooling: str, dropout: float) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.empty(hidden).normal_(std=0.02))
        self.pooling = pooling
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, batch: InstanceBatch) -> Tensor:
        """Return one logit for each candidate, shape [instances, 2]."""
        if self.pooling == "cls":
            pooled = states[:, 0]
        elif self.pooling == "mean":
            everything = torch.stack((torch.zeros_like(batch.mask[:, 0]), batch.mask.sum(1)), 1)
            pooled = span_means(states, everything[:, None])[:, 0]
        else:
            pooled = span_means(states, batch.spans)[:, 0]
        logits: Tensor = self.dropout(pooled) @ self.vector
        return logits.view(-1, 2)


class SpanHead(nn.Module):
    """Scores each candidate's mention against the pronoun, both candidates alike."""

    def __init__(self, hidden: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Linear(3 * hidden, HIDDEN)
        self.score = nn.Linear(HIDDEN, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, batch: InstanceBatch) -> Tensor:
        """Return one logit for each candidate, shape [instances, 2]."""
        means = span_means(states, batch.spans)
        candidates, pronoun = means[:, :2], means[:, 2:].expand(-1, 2, -1)
        pairs = torch.cat((candidates, pronoun, candidates * pronoun), dim=-1)
        activated = nn.functional.gelu(self.hidden(self.dropout(pairs)))
        logits: Tensor = self.score(self.dropout(activated))
        return logits[..., 0]


class AntecedentClassifier(nn.Module):
    """An encoder of transformers with one of the heads.

    Attributes:
        padding: id of the padding token.
    """

    def __init__(self, encoder: nn.Module, classifier: Classifier) -> None:
        super().__init__()
        config: Any = encoder.config
        dropout = getattr(config, "hidden_dropout_prob", 0.1)
        self.encoder = encoder
        self.padding = int(getattr(config, "pad_token_id", None) or 0)
        self.head: nn.Module = (
            SpanHead(config.hidden_size, dropout)
            if classifier.scorer == "span"
            else SubstitutionHead(config.hidden_size, classifier.pooling, dropout)
        )

    def forward(self, batch: InstanceBatch) -> Tensor:
        """Return one logit for each candidate, shape [instances, 2]."""
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        logits: Tensor = self.head(states, batch)
        return logits.float()


def span_means(states: Tensor, spans: Tensor) -> Tensor:
    """Return the mean state of each half-open span, [sequences, spans, hidden].

    `states` are [sequences, subwords, hidden], `spans` [sequences, spans, 2].
    """
    positions = torch.arange(states.shape[1], device=states.device)
    inside = (positions >= spans[..., :1]) & (positions < spans[..., 1:])
    weights = inside.to(states.dtype)
    return weights @ states / weights.sum(-1, keepdim=True)


def corrected(logits: Tensor, first: Tensor, prior: float) -> Tensor:
    """Lower the first mention's logit by the log odds of its prior in training.

    Args:
        logits: [instances, 2].
        first: index of the first-mentioned candidate, [instances].
        prior: share of the training rows whose first mention is right, in (0, 1).
    """
    odds = torch.logit(torch.tensor(prior))
    lowered = nn.functional.one_hot(first, 2).to(logits.dtype) * odds.to(logits)
    return logits - lowered
