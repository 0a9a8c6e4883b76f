"""The state of a training on disk: always whole, always the last one that was saved."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed while they saved have left behind."""
    for name in (STATE, BEST):
        for unfinished in folder.glob(f".{name}.*"):
            unfinished.unlink(missing_ok=True)


def load(path: Path) -> dict[str, Any]:
    """Read what `save` wrote; `InputError` if it is damaged."""
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # unpickling fails in many ways
        raise InputError(
            "the training's state is damaged", cure="remove its folder to begin again", file=path
        ) from error
    return content
