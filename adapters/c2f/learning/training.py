"""How the coarse-to-fine systems are trained: documents in batches, the loss, and what changes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.head.config import HeadConfig
from pronominal.adapters.c2f.head.prediction import predicted_clusters
from pronominal.adapters.c2f.head.units import AntecedentScores, Units, spans_to_keep
from pronominal.adapters.c2f.learning.documents import (
    Drawn,
    TrainingDocument,
    Windows,
    word_clusters,
)
from pronominal.adapters.c2f.learning.optimisers import Optimisation
from pronominal.adapters.c2f.learning.settings import CoarseToFineTraining
from pronominal.adapters.training.trainable import CardText, Training
from pronominal.adapters.words.length_batches import length_buckets
from pronominal.spans import Cluster, Document, Span

Draw = tuple[int, int]
"""The number of a document, and the epoch in which it comes up."""


class TrainableCoarseToFine(ABC):
    """A coarse-to-fine system to be trained; encoders differ in what they read and how they learn.

    Args:
        asked: the settings.
        head: sizes of the head.
        window: segments that a training step sees of a document at most.
        drawn: when the window of a longer document is drawn.
        begins_with: digests of the files that the training begins with.

    Attributes:
        documents: the training set; see `learn`.
    """

    name: ClassVar[str]

    def __init__(
        self,
        asked: CoarseToFineTraining,
        head: HeadConfig,
        window: int,
        drawn: Drawn,
        begins_with: Mapping[str, str],
    ) -> None:
        self.asked = asked
        self.head = head
        self.window = window
        self.drawn = drawn
        self.title = self.name
        self.documents: Sequence[TrainingDocument] = ()
        self.begins_with = {"begins_with": dict(begins_with)}

    @abstractmethod
    def new_model(self) -> nn.Module:
        """Return a model to begin with; what is drawn comes from torch's random numbers."""

    @abstractmethod
    def units(self, document: Document, place: str) -> Units:
        """Return what the encoder reads of a document, called `place` in messages.

        Raises:
            InputError: its genre does not exist, or its speakers are not one for each word.
        """

    @abstractmethod
    def scores(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[AntecedentScores]:
        """Return the scores of each document."""

    @abstractmethod
    def optimisation(self, model: nn.Module, updates: int) -> Optimisation:
        """Return what takes the steps of a training of so many updates."""

    @abstractmethod
    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a checkpoint of the system into a folder that is there."""

    def read(self, document: Document, clusters: Sequence[Cluster], place: str) -> TrainingDocument:
        """Return a document with its gold clusters, in words, as the encoder reads it."""
        return TrainingDocument.of(document, self.units(document, place), clusters)

    def can_learn(self, document: TrainingDocument) -> bool:
        """Say whether a document is long enough for a span of it to be scored."""
        return spans_to_keep(len(document.units), self.head) > 0

    def learn(self, documents: Sequence[TrainingDocument]) -> None:
        """Take the training set, each document whole."""
        self.documents = documents

    @property
    def updates_in_epoch(self) -> int:
        """Batches of one pass over the training set."""
        return -(-len(self.documents) // self.asked.batch_size)

    def training(self, model: nn.Module, *, seed: int, updates: int) -> Training:
        """Return what the loop needs to train a model."""
        optimisers, schedules = self.optimisation(model, updates)
        windows = Windows(self.window, self.drawn, seed)
        lengths = [len(document.units) for document in self.documents]

        def batches(epoch: int) -> list[list[Draw]]:
            buckets = length_buckets(lengths, self.asked.batch_size, seed=seed, epoch=epoch)
            return [[(number, epoch) for number in bucket] for bucket in buckets]

        def loss(learning: nn.Module, drawn: Sequence[Draw]) -> Tensor:
            cut = [windows.cut(self.documents[number], number, epoch) for number, epoch in drawn]
            return self.loss(learning, cut)

        # each optimiser clips its own parameters' gradients, as the recipes have it
        return Training(model, optimisers, schedules, batches, loss, updates)

    def loss(self, model: nn.Module, documents: Sequence[TrainingDocument]) -> Tensor:
        """Return the mean over documents of the loss that upstream sums over a document's spans.

        Raises:
            NonFiniteScoresError: there is none, for the training diverged.
        """
        losses = [
            marginal_loss(scores, gold_labels(document.clusters))
            for scores, document in zip(self.scores(model, documents), documents, strict=True)
        ]
        return torch.stack(losses).mean()

    def predict(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[list[Cluster]]:
        """Return the clusters that a model finds in whole documents, in words.

        Raises:
            NonFiniteScoresError: it finds none, for the training diverged.
        """
        predicted = predicted_clusters(
            lambda batch: self.scores(model, [documents[index] for index in batch]),
            [len(document.units) for document in documents],
        )
        return [
            word_clusters(document.units, clusters)
            for document, clusters in zip(documents, predicted, strict=True)
        ]

    def card_text(self) -> CardText:
        """Return what the model card says of the system."""
        summary = "Clusters the mentions of a text."
        return CardText(title=self.name, summary=summary, settings=self.asked.identity())


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
    borders = zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)
    labels = scores.antecedents.new_tensor([gold.get(Span(*span), 0) for span in borders])
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
