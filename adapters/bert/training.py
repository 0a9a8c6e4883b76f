"""A classifier of antecedents to be trained: its batches, its loss and its optimiser."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from pronominal.adapters.bert.checkpoint import (
    encoder_name,
    longest_sequence,
    require_seeing_first_token,
    save_classifier,
)
from pronominal.adapters.bert.encoding import EncodedInstance, InstanceEncoder, Unencodable
from pronominal.adapters.bert.model import AntecedentClassifier, InstanceBatch
from pronominal.adapters.bert.plain_program import plain_program
from pronominal.adapters.bert.system import probabilities
from pronominal.adapters.bert.training_settings import BertTraining, Recipe
from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.adapters.training.optimisation import decay_groups, linear_with_warmup
from pronominal.adapters.training.trainable import CardText, Training
from pronominal.adapters.words.length_batches import UnitBatches
from pronominal.instances import ResolutionInstance

NOT_DECAYED = ("bias", "LayerNorm.weight", "layer_norm.weight", "norm.weight")

Unit = tuple[EncodedInstance, ...]
"""Instances that stay in one batch: one, or an original and its switched version."""


class TrainableBERT:
    """A classifier to be trained on a pretrained encoder.

    Args:
        asked: the encoder and the settings.

    Attributes:
        asked: the settings, with the encoder's longest sequence and the prior of what is learnt.

    Raises:
        InputError: the encoder is wrong, or a decoder whose first token sees no text.
    """

    name: ClassVar[str] = "bert"

    def __init__(self, asked: BertTraining) -> None:
        network, self._tokenizer, self._checkpoint = open_encoder(asked.encoder)
        if (asked.classifier.scorer, asked.classifier.pooling) == ("cls", "cls"):
            require_seeing_first_token(network, asked.encoder)
        longest = min(asked.classifier.max_length, longest_sequence(network, self._tokenizer))
        self._complete(asked, max_length=longest)
        self.title = asked.classifier.scorer
        self.begins_with = {"encoder": self._checkpoint.digest}
        self._reader = InstanceEncoder(self._tokenizer, self.asked.classifier)

    def _complete(self, asked: BertTraining, **known: Any) -> None:
        self.asked = replace(asked, classifier=replace(asked.classifier, **known))

    def read(self, instances: Sequence[ResolutionInstance]) -> list[EncodedInstance | str]:
        """Encode instances; a string says why one cannot be encoded, without its text."""
        return [
            one.reason if isinstance(one, Unencodable) else one
            for one in self._reader.encode(instances)
        ]

    def learn(self, units: Sequence[Unit]) -> None:
        """Take the training set: what stays together in a batch has one size, or is smaller."""
        size = self.asked.recipe.batch_size
        self._batches = UnitBatches(units, size, length=attrgetter("length"))
        right = [one.label == one.first for unit in units for one in unit]
        # kept away from 0 and 1
        self._complete(self.asked, first_prior=(sum(right) + 1) / (len(right) + 2))

    @property
    def updates_in_epoch(self) -> int:
        """Batches of one pass over the training set."""
        return self._batches.in_epoch

    def new_model(self) -> AntecedentClassifier:
        """Return the encoder under a new head, drawn by torch's random numbers."""
        encoder, _, _ = open_encoder(self.asked.encoder)
        return AntecedentClassifier(encoder, self.asked.classifier)

    def training(self, model: AntecedentClassifier, *, seed: int, updates: int) -> Training:
        """Return what the loop needs to train a model."""
        recipe = self.asked.recipe
        if recipe.freeze_embeddings:
            _embeddings(model.encoder).requires_grad_(False)
        groups = decay_groups(dict(model.named_parameters()), recipe.weight_decay, NOT_DECAYED)
        optimiser = AdamW(groups, lr=recipe.learning_rate)
        return Training(
            model=model,
            optimisers=[optimiser],
            schedules=[linear_with_warmup(optimiser, updates, recipe.warmup)],
            batches=self._batches.drawn(seed),
            loss=AntecedentLoss(recipe, self.asked.classifier.first_prior, model.padding),
            updates=updates,
            clip=1.0,
        )

    def choose(
        self, model: AntecedentClassifier, encoded: Sequence[EncodedInstance]
    ) -> list[list[float]]:
        """Return the probability of each candidate, as the saved classifier will."""
        prior = self.asked.classifier.first_prior
        corrects = self.asked.classifier.prior_correction
        return probabilities(model, encoded, batch_size=64, prior=prior if corrects else None)

    @property
    def prior_to_correct(self) -> float:
        """The first mention's prior that answers still hold; 0.5 where they leave it out."""
        classifier = self.asked.classifier
        return 0.5 if classifier.prior_correction else classifier.first_prior

    def save(self, model: AntecedentClassifier, folder: Path) -> None:
        """Write a classifier that `BERT` and plain transformers open."""
        save_classifier(model, self._tokenizer, self.asked.classifier, folder)

    def card_text(self) -> CardText:
        """Return what the model card says of the classifier."""
        name, classifier = encoder_name(self._checkpoint), self.asked.classifier
        how = (
            "reads a text once and scores each candidate's mention against the pronoun"
            if classifier.scorer == "span"
            else "reads a text once for each candidate, which stands in the pronoun's place, and "
            f"scores the copies (pooling: {classifier.pooling})"
        )
        asked = self.asked.identity()
        return CardText(
            title=f"Antecedents of pronouns: {name}",
            summary=f"Chooses which of two candidates a pronoun refers to. It {how}.",
            settings={**asked.pop("classifier"), **asked.pop("recipe"), **asked},
            beginning=f"Encoder {name} (SHA-256 of its files {self._checkpoint.digest[:12]})",
            libraries=["library_name: transformers"],
            use=[
                "or in plain transformers, for a text that the encoder takes as a whole:",
                "",
                "```python",
                plain_program(classifier).strip(),
                "```",
                "",
            ],
        )


class AntecedentLoss:
    """Cross entropy over the two candidates, with the recipe's weights and penalty.

    Args:
        recipe: how the weights are learnt.
        prior: share of the training rows whose first mention is right.
        padding: id of the padding token.
    """

    def __init__(self, recipe: Recipe, prior: float, padding: int) -> None:
        self.recipe = recipe
        self.prior = prior
        self.padding = padding

    def __call__(self, model: nn.Module, units: Sequence[Unit], batch: Sequence[Unit]) -> Tensor:
        """Return what a share adds to the mean loss of a batch."""
        encoded = [one for unit in units for one in unit]
        device = next(model.parameters()).device
        read = InstanceBatch.of(encoded, self.padding, device)
        logits = model(read)
        losses = nn.functional.cross_entropy(logits, read.labels, reduction="none")
        if self.recipe.balanced_loss:
            right = (read.first == read.labels).to(losses)
            losses = losses * (right / self.prior + (1 - right) / (1 - self.prior)) / 2
        loss = losses.sum() / sum(map(len, batch))
        if self.recipe.consistency_penalty:
            pairs = max(1, sum(len(unit) == 2 for unit in batch))
            loss = loss + self.recipe.consistency_penalty * _inconsistency(logits, units) / pairs
        return loss


def _inconsistency(logits: Tensor, units: Sequence[Unit]) -> Tensor:
    """Return the symmetric KL divergences between originals and switched versions, added up.

    Candidates keep their index when they change places, so that the answers agree when one is
    the other in reverse.
    """
    firsts = [sum(map(len, units[:index])) for index, unit in enumerate(units) if len(unit) == 2]
    if not firsts:
        return logits.sum() * 0
    rows = torch.tensor(firsts, device=logits.device)
    original = logits[rows].log_softmax(-1)
    switched = logits[rows + 1].flip(-1).log_softmax(-1)
    divergence = (original.exp() - switched.exp()) * (original - switched)
    return divergence.sum() / 2


def _embeddings(encoder: nn.Module) -> nn.Module:
    embeddings = getattr(encoder, "embeddings", None)
    if isinstance(embeddings, nn.Module):
        return embeddings
    inputs: nn.Module = encoder.get_input_embeddings()  # type: ignore[operator]
    return inputs
