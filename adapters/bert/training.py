"""How a classifier of antecedents is trained: its loss, its optimiser and its batches."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from pronominal.adapters.bert.encoding import EncodedInstance
from pronominal.adapters.bert.model import AntecedentClassifier, InstanceBatch
from pronominal.adapters.training import Training, Validation
from pronominal.adapters.training.schedules import linear_with_warmup
from pronominal.adapters.words.length_buckets import length_buckets

NOT_DECAYED = ("bias", "LayerNorm.weight", "layer_norm.weight", "norm.weight")

Unit = tuple[EncodedInstance, ...]
"""Instances that stay in one batch: one, or an original and its switched version."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the weights are learnt.

    Attributes:
        learning_rate: the highest one; it rises over `warmup` and falls to 0.
        warmup: share of the updates over which it rises.
        weight_decay: of AdamW, for weights that are neither biases nor norms.
        batch_size: instances in a batch.
        freeze_embeddings: whether the encoder's embeddings stay as they are.
        balanced_loss: whether instances weigh so that those whose first mention is right count
            as much together as the others.
        consistency_penalty: weight of the divergence between the answers to an original and to
            its switched version.
    """

    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    batch_size: int = 16
    freeze_embeddings: bool = False
    balanced_loss: bool = False
    consistency_penalty: float = 0.0


def updates_in_epoch(units: Sequence[Unit], recipe: Recipe) -> int:
    """Return the number of batches of an epoch."""
    return math.ceil(len(units) / _units_in_batch(units, recipe))


def first_prior(units: Sequence[Unit]) -> float:
    """Return the share of instances whose first mention is right, kept away from 0 and 1."""
    right = [one.label == one.first for unit in units for one in unit]
    return (sum(right) + 1) / (len(right) + 2)


def antecedent_training(
    model: AntecedentClassifier,
    units: Sequence[Unit],
    recipe: Recipe,
    *,
    seed: int,
    updates: int,
    validate: Callable[[nn.Module], Validation] | None,
) -> Training:
    """Return what the training loop needs.

    Args:
        model: the classifier.
        units: the training set.
        recipe: how the weights are learnt.
        seed: decides the order of the batches.
        updates: steps of the whole training.
        validate: measures a model.
    """
    if recipe.freeze_embeddings:
        _embeddings(model.encoder).requires_grad_(False)
    optimiser = AdamW(_groups(model, recipe), lr=recipe.learning_rate)
    lengths = [max(one.length for one in unit) for unit in units]
    size = _units_in_batch(units, recipe)

    def batches(epoch: int) -> list[list[Unit]]:
        buckets = length_buckets(lengths, size, seed=seed, epoch=epoch)
        return [[units[index] for index in bucket] for bucket in buckets]

    return Training(
        model=model,
        optimisers=[optimiser],
        schedules=[linear_with_warmup(optimiser, updates, recipe.warmup)],
        batches=batches,
        loss=AntecedentLoss(recipe, first_prior(units), model.padding),
        validate=validate,
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

    def __call__(self, model: nn.Module, units: Sequence[Unit]) -> Tensor:
        """Return the mean loss of a batch."""
        encoded = [one for unit in units for one in unit]
        device = next(model.parameters()).device
        batch = InstanceBatch.of(encoded, self.padding, device)
        logits = model(batch)
        losses = nn.functional.cross_entropy(logits, batch.labels, reduction="none")
        if self.recipe.balanced_loss:
            right = (batch.first == batch.labels).to(losses)
            losses = losses * (right / self.prior + (1 - right) / (1 - self.prior)) / 2
        loss = losses.mean()
        if self.recipe.consistency_penalty:
            loss = loss + self.recipe.consistency_penalty * _inconsistency(logits, units)
        return loss


def _inconsistency(logits: Tensor, units: Sequence[Unit]) -> Tensor:
    """Return the mean symmetric KL divergence between originals and switched versions.

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
    return divergence.sum(-1).mean() / 2


def _units_in_batch(units: Sequence[Unit], recipe: Recipe) -> int:
    largest = max(map(len, units))
    return max(1, recipe.batch_size // largest)


def _embeddings(encoder: nn.Module) -> nn.Module:
    embeddings = getattr(encoder, "embeddings", None)
    if isinstance(embeddings, nn.Module):
        return embeddings
    inputs: nn.Module = encoder.get_input_embeddings()  # type: ignore[operator]
    return inputs


def _groups(model: nn.Module, recipe: Recipe) -> list[dict[str, object]]:
    trained = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    decayed = [weight for name, weight in trained if not name.endswith(NOT_DECAYED)]
    others = [weight for name, weight in trained if name.endswith(NOT_DECAYED)]
    return [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
