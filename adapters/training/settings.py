"""What a training loop is given, and what it gives back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

Batch = Sequence[Any]
"""Units that are learnt together; with several processes each one gets its share of them."""


@dataclass(frozen=True, slots=True)
class Validation:
    """How good a model is.

    Attributes:
        score: what early stopping compares; higher is better.
        figures: what else was measured, for the record.
    """

    score: float
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How long a training lasts and what it keeps.

    Attributes:
        updates: steps of the optimisers.
        clip: the gradients' norm is scaled down to this; None leaves them.
        save_every: updates between two saved states; one is saved at each epoch's end, too.
        validate_every: updates between two validations; None validates at each epoch's end. The
            last update is always validated.
        patience: validations without a better score after which the training stops; None goes on
            to the end.
        keep: the weights that are the result: those of the best validation or the last ones.
    """

    updates: int
    clip: float | None = 1.0
    save_every: int = 200
    validate_every: int | None = None
    patience: int | None = None
    keep: Literal["best", "last"] = "best"


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained.

    Attributes:
        model: the model; its weights and the optimisers' are what changes.
        optimisers: each for its own parameters.
        schedules: of the learning rates; each takes a step after every update.
        batches: the batches of an epoch (from 0), which nothing but its number may change.
        loss: takes the model and a batch, in training mode, and returns the mean loss; like
            `validate` it raises `FloatingPointError` where a model that diverged has no answers.
        validate: takes the model in evaluation mode; None trains without validation.
    """

    model: nn.Module
    optimisers: Sequence[Optimizer]
    schedules: Sequence[LRScheduler]
    batches: Callable[[int], Sequence[Batch]]
    loss: Callable[[nn.Module, Batch], Tensor]
    validate: Callable[[nn.Module], Validation] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a training ended; the model holds the weights to keep.

    Attributes:
        updates: steps that were taken.
        epochs: epochs that were begun.
        kept_update: the update whose weights were kept.
        validation: what was measured at that update; None without validation.
    """

    updates: int
    epochs: int
    kept_update: int
    validation: Mapping[str, Any] | None
