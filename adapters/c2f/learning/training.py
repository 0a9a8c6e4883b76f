"""How the coarse-to-fine systems are trained: documents in batches, the loss, and what changes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.head.prediction import predicted_clusters
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.learning.documents import TrainingDocument, word_clusters
from pronominal.adapters.c2f.learning.loss import gold_labels, marginal_loss
from pronominal.adapters.c2f.learning.optimisers import Optimisation
from pronominal.adapters.c2f.learning.windows import Drawn, Windows
from pronominal.adapters.training import Training, Validation
from pronominal.adapters.words.length_buckets import length_buckets
from pronominal.spans import Cluster, Document

Size = Literal["published", "small"]
"""Sizes of a system that is trained from the beginning: upstream's, or some for one CPU."""

Draw = tuple[int, int]
"""The number of a document, and the epoch in which it comes up."""


class Trainee(Protocol):
    """A system that can be trained: what E2E and the transformer systems differ in.

    Attributes:
        system: under which name `pronominal.adapters.load` opens what `save` writes.
        window: segments that a training step sees of a document at most.
        drawn: when the window of a longer document is drawn.
    """

    system: str
    window: int
    drawn: Drawn

    def new_model(self) -> nn.Module:
        """Return a model to begin with; what is drawn comes from torch's random numbers."""

    def units(self, document: Document, place: str) -> Units:
        """Return what the encoder reads of a document, which messages call `place`."""

    def scores(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[AntecedentScores]:
        """Return the scores of each document."""

    def spans_to_keep(self, units: int) -> int:
        """Return how many spans of a document of so many units are kept."""

    def optimisation(self, model: nn.Module, updates: int) -> Optimisation:
        """Return what takes the steps of a training of so many updates."""

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a checkpoint of the system into a folder."""


def coreference_training(  # noqa: PLR0913 - each one is a part of a training
    trainee: Trainee,
    model: nn.Module,
    documents: Sequence[TrainingDocument],
    *,
    batch_size: int,
    seed: int,
    updates: int,
    validate: Callable[[nn.Module], Validation] | None,
) -> Training:
    """Return what the training loop needs.

    Args:
        trainee: the system.
        model: what it learns with, from `Trainee.new_model`.
        documents: the training set, each document whole.
        batch_size: documents in a batch, 1 upstream; the loss is the mean over them.
        seed: decides the order of documents and the windows.
        updates: steps of the whole training.
        validate: measures a model.
    """
    optimisers, schedules = trainee.optimisation(model, updates)
    windows = Windows(trainee.window, trainee.drawn, seed)
    lengths = [len(document.units) for document in documents]

    def batches(epoch: int) -> list[list[Draw]]:
        buckets = length_buckets(lengths, batch_size, seed=seed, epoch=epoch)
        return [[(number, epoch) for number in bucket] for bucket in buckets]

    def loss(learning: nn.Module, drawn: Sequence[Draw]) -> Tensor:
        cut = [windows.cut(documents[number], number, epoch) for number, epoch in drawn]
        return document_loss(trainee, learning, cut)

    return Training(model, optimisers, schedules, batches, loss, validate)


def document_loss(
    trainee: Trainee, model: nn.Module, documents: Sequence[TrainingDocument]
) -> Tensor:
    """Return the mean over documents of the loss that upstream sums over a document's spans.

    Raises:
        NonFiniteScoresError: there is none, for the training diverged.
    """
    scores = trainee.scores(model, documents)
    losses = [
        marginal_loss(found, gold_labels(document.clusters))
        for found, document in zip(scores, documents, strict=True)
    ]
    return torch.stack(losses).mean()


def predict(
    trainee: Trainee, model: nn.Module, documents: Sequence[TrainingDocument]
) -> list[list[Cluster]]:
    """Return the clusters that a model finds in whole documents, in words.

    Raises:
        NonFiniteScoresError: it finds none, for the training diverged.
    """
    found = predicted_clusters(
        lambda batch: trainee.scores(model, [documents[index] for index in batch]),
        [len(document.units) for document in documents],
    )
    return [
        word_clusters(document.units, clusters)
        for document, clusters in zip(documents, found, strict=True)
    ]
