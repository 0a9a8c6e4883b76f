"""The state of a training: random numbers, and files that are always whole and the last saved."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pronominal.atomic import new_file
from pronominal.errors import InputError

STATE = "state.pt"
BEST = "best.pt"


@dataclass(slots=True)
class Position:
    """How far a training is.

    Attributes:
        update: updates done.
        epoch: the epoch of the next batch, from 0.
        batch: index of the next batch in its epoch.
        best_score: validation score of the best model so far; None before the first validation.
        best_update: updates done when it was reached.
        validations_since: validations since then.
        figures: what the best validation measured.
    """

    update: int = 0
    epoch: int = 0
    batch: int = 0
    best_score: float | None = None
    best_update: int = 0
    validations_since: int = 0
    figures: dict[str, Any] | None = None


def save(path: Path, content: dict[str, Any]) -> None:
    """Write tensors and plain values; what stood there before stays until the new file is whole.

    Raises:
        InputError: it cannot be written, for example because the disk is full.
    """
    with writing(path), new_file(path) as beside, beside.open("wb") as file:
        torch.save(content, file)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what to do when a file of a training cannot be written."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # torch's writer reports a full disk as a RuntimeError of its own
        reason = getattr(error, "strerror", None) or getattr(error.__context__, "strerror", None)
        raise InputError(
            f"it cannot be written ({reason or 'the disk may be full'}); what the training "
            "had saved before is whole",
            cure="make room and give the same command, which goes on from there",
            file=path,
        ) from error


def load(path: Path) -> dict[str, Any]:
    """Read what `save` wrote; `InputError` if it is damaged."""
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # unpickling fails in many ways
        raise _damaged(path) from error
    return content


@contextmanager
def refused_if_of_others(path: Path) -> Iterator[None]:
    """Refuse a state that lacks something, or that is one of another model, while it is taken."""
    try:
        yield
    except (AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> InputError:
    cause = "the training's state is damaged"
    return InputError(cause, cure="remove its folder to begin again", file=path)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed every generator inside the block; afterwards they are as they were."""
    before = random_states()
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        restore_random_states(before)


def random_states() -> dict[str, Any]:
    """Return the state of every generator, in types that ``weights_only=True`` reads back."""
    generator: tuple[Any, ...] = tuple(np.random.get_state(legacy=True))
    name, keys, *others = generator
    return {
        "python": random.getstate(),
        "numpy": (name, torch.from_numpy(keys.astype(np.int64)), *others),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_random_states(states: dict[str, Any]) -> None:
    """Set every generator to what `random_states` returned."""
    version, internal, gauss = states["python"]
    random.setstate((version, tuple(internal), gauss))
    name, keys, position, has_gauss, cached = states["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), position, has_gauss, cached))
    torch.set_rng_state(states["torch"].cpu())
    if states["cuda"] and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all([state.cpu() for state in states["cuda"]])
