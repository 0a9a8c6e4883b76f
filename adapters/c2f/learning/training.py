"""How the coarse-to-fine systems are trained: documents in batches, the loss, and what changes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import chain, count
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
from pronominal.adapters.training.antecedents import (
    GoldMentions,
    Targets,
    marginal_losses,
    mention_losses,
)
from pronominal.adapters.training.trainable import CardText, Training
from pronominal.adapters.words.length_batches import UnitBatches
from pronominal.spans import AnnotatedDocument, Cluster, Document

Numbered = tuple[int, TrainingDocument]
"""A document, whole, and its number in the training set."""

Draw = tuple[int, TrainingDocument, int]
"""The same, and the epoch in which it comes up."""


class TrainableCoarseToFine(ABC):
    """A coarse-to-fine system to be trained; encoders differ in what they read and how they learn.

    Args:
        asked: the settings.
        head: sizes of the head.
        window: segments that a training step sees of a document at most.
        drawn: when the window of a longer document is drawn.
        begins_with: digests of the files that the training begins with.
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

    def read(self, gold: AnnotatedDocument, place: str) -> TrainingDocument:
        """Return a document with its gold clusters as the encoder reads it."""
        return TrainingDocument.of(gold, self.units(gold.document, place))

    def why_not(self, document: TrainingDocument) -> str:
        """Say why a document cannot be learnt, for it keeps no span; empty where it can."""
        keeps = spans_to_keep(len(document.units), self.head) > 0
        return "" if keeps else "it is too short to keep a span"

    def learn(self, units: Sequence[tuple[TrainingDocument, ...]]) -> None:
        """Take the training set, each document whole, in what stays together in a batch."""
        number = count()
        numbered = [tuple((next(number), document) for document in unit) for unit in units]
        size = self.asked.texts_in_batch
        self._batches: UnitBatches[Numbered] = UnitBatches(
            numbered, size, length=lambda one: len(one[1].units)
        )

    @property
    def updates_in_epoch(self) -> int:
        """Batches of one pass over the training set."""
        return self._batches.in_epoch

    def training(self, model: nn.Module, *, seed: int, updates: int) -> Training:
        """Return what the loop needs to train a model."""
        optimisers, schedules = self.optimisation(model, updates)
        windows = Windows(self.window, self.drawn, seed)
        drawn = self._batches.drawn(seed)

        def batches(epoch: int) -> list[list[list[Draw]]]:
            return [[[(*one, epoch) for one in unit] for unit in batch] for batch in drawn(epoch)]

        def loss(
            learning: nn.Module, units: Sequence[Sequence[Draw]], batch: Sequence[Sequence[Draw]]
        ) -> Tensor:
            draws = chain.from_iterable(units)
            cut = [windows.cut(whole, number, epoch) for number, whole, epoch in draws]
            return self.loss(learning, cut, sum(map(len, batch)))

        # each optimiser clips its own parameters' gradients, as the recipes have it
        return Training(model, optimisers, schedules, batches, loss, updates)

    def loss(
        self, model: nn.Module, documents: Sequence[TrainingDocument], together: int
    ) -> Tensor:
        """Return the mean over documents of the loss that upstream sums over a document's spans.

        Args:
            model: what learns.
            documents: a share of a batch.
            together: how many documents the batch has, by which their sum is divided.

        Raises:
            NonFiniteScoresError: there is none, for the training diverged.
        """
        asked = [document.with_mentions_kept() for document in documents]
        losses = [
            marginal_loss(scores, document.gold)
            for scores, document in zip(self.scores(model, asked), documents, strict=True)
        ]
        return torch.stack(losses).sum() / together

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


def marginal_loss(scores: AntecedentScores, gold: GoldMentions) -> Tensor:
    """Return the negative log-likelihood of the right antecedents, summed over the top spans.

    Args:
        scores: the head's scores of one document.
        gold: the gold mentions, in units.
    """
    spans = [*zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)]
    numbers = scores.antecedents.new_tensor(gold.numbers(spans))
    opening = torch.tensor(gold.opening(spans), dtype=torch.bool, device=numbers.device)
    # a filler repeats a span, possibly of the same cluster, and its score is -inf
    scored = scores.scores[:, 1:].isfinite()
    targets = Targets.of(numbers, numbers[scores.antecedents], scored, opening)
    loss = marginal_losses(scores.scores, targets).sum()
    return loss if gold.complete else loss + mention_losses(scores.mention_scores, numbers).sum()
