"""What a system brings to the training loop, and what the loop gives back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

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


Validate = Callable[[nn.Module], Validation]
"""Measures a model in evaluation mode."""


@dataclass(frozen=True, slots=True)
class Training:
    """What is trained.

    Attributes:
        model: the model; its weights and the optimisers' are what changes.
        optimisers: each for its own parameters.
        schedules: of the learning rates; each takes a step after every update.
        batches: the batches of an epoch (from 0), which nothing but its number may change.
        loss: takes the model, in training mode, a share of a batch and the whole batch, and returns
            what the share adds to the batch's mean loss; like `validate` it raises
            `FloatingPointError` where a model that diverged has no answers.
        updates: steps of the optimisers.
        clip: the gradients' norm is scaled down to this; None leaves them.
        validate: measures the model; None trains without validation.
    """

    model: nn.Module
    optimisers: Sequence[Optimizer]
    schedules: Sequence[LRScheduler]
    batches: Callable[[int], Sequence[Batch]]
    loss: Callable[[nn.Module, Batch, Batch], Tensor]
    updates: int
    clip: float | None = None
    validate: Validate | None = None


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


@dataclass(frozen=True, slots=True)
class CardText:
    """What the model card says of a system, in addition to what its run says.

    Attributes:
        title: what was trained.
        summary: what the trained system does, as sentences.
        settings: what it was asked for.
        beginning: what the training began with; empty where the settings say it.
        libraries: lines of the card's header that say which libraries open the folder.
        use: lines that show another way to use it.
    """

    title: str
    summary: str
    settings: Mapping[str, Any]
    beginning: str = ""
    libraries: Sequence[str] = ()
    use: Sequence[str] = ()


def beginning_of(given: str, digest: str) -> str:
    """Say in a model card which weights a training began with; `digest` is that of their files."""
    # where a folder lies says something of its owner alone
    name = Path(given).name if Path(given).is_dir() else given
    return f"It began with {name} (SHA-256 of its files {digest[:12]})"


class Corpus(NamedTuple):
    """What a system may have to know of the data before it can be opened.

    Attributes:
        learnt: the words of the training set, each once, in order.
        words: those of all data.
        out: the folder of the trainings.
    """

    learnt: Sequence[str]
    words: Sequence[str]
    out: Path


class TrainableSystem(Protocol):
    """A system as the training over several seeds sees it, opened with its settings and its data.

    Attributes:
        name: under which `pronominal.adapters.load` opens what `save` writes.
        title: what its learning curves are called.
        asked: the settings, with what the system and its training set complete.
    """

    name: ClassVar[str]
    title: str
    asked: Any

    @property
    def updates_in_epoch(self) -> int:
        """Batches of one pass over the training set."""

    @property
    def begins_with(self) -> Mapping[str, Any]:
        """Digests of the files that the training begins with, as ``training.json`` has them."""

    def new_model(self) -> nn.Module:
        """Return a model to begin with; what is drawn comes from torch's random numbers."""

    def training(self, model: Any, *, seed: int, updates: int) -> Training:
        """Return what the loop needs to train a model, but for its validation.

        Args:
            model: from `new_model`.
            seed: decides the order of the batches.
            updates: steps of the whole training.
        """

    def save(self, model: Any, folder: Path) -> None:
        """Write a checkpoint of the system into a folder that is there."""

    def card_text(self) -> CardText:
        """Return what the model card says of the system."""
