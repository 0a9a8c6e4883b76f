"""Batches that shrink where memory runs out."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch

from pronominal.errors import InputError


class OutOfMemoryWarning(UserWarning):
    """A batch did not fit into memory and was halved."""


class Batches(Protocol):
    """Rows that can be cut into batches of any size."""

    rows: int

    def borders(self, start: int, tokens: int) -> Sequence[int]:
        """Return `start`, the rows at which the parts of its batch end, ascending, at least one.

        Args:
            start: the first row of the batch.
            tokens: how many tokens it may have, padding included; one row may have more.
        """
        ...

    def forward(self, borders: Sequence[int]) -> None:
        """Run the model on the rows between these borders and keep what it says of them."""
        ...


class LongestFirst:
    """Sequences in batches, longest first, so that those of a batch need little padding.

    Args:
        lengths: tokens that each sequence takes in a batch; one without any is in none.
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
        self._order = [row for row in order if lengths[row]]
        self._lengths = lengths
        self.rows = len(self._order)

    def borders(self, start: int, tokens: int) -> list[int]:
        """Cut out as many sequences as a batch can hold with their padding."""
        longest = self._lengths[self._order[start]]
        return [start, min(self.rows, start + max(1, tokens // int(longest)))]

    def between(self, borders: Sequence[int]) -> list[int]:
        """Return the numbers of the sequences between these borders."""
        return self._order[borders[0] : borders[-1]]


class Budget:
    """How many tokens go through a model at once; less for good after memory ran out.

    Args:
        tokens: tokens of a batch, padding included; the default when None.
        default: kind of device, ``"cpu"`` or ``"cuda"`` for any other, -> tokens of a batch.
        device: where the model is.
    """

    def __init__(
        self, tokens: int | None, default: Mapping[str, int], device: torch.device
    ) -> None:
        if tokens is not None and tokens < 1:
            raise InputError(f"a batch of {tokens} tokens", cure="give a number above 0")
        self.tokens = default[kind_of_device(device)] if tokens is None else tokens

    def spend_on(self, batches: Batches) -> None:
        """Go through all rows; a batch that does not fit is halved and tried again."""
        start = 0
        while start < batches.rows:
            borders = batches.borders(start, self.tokens)
            if _fits(batches, borders):
                start = borders[-1]
                continue
            if self.tokens == 1:
                raise InputError(
                    "out of memory with a single text",
                    cure="choose a smaller dtype or model, another device, or device_map = auto",
                )
            less = self.tokens // 2
            warnings.warn(
                f"out of memory with {self.tokens} tokens at once; going on with {less}",
                OutOfMemoryWarning,
                stacklevel=3,
            )
            self.tokens = less
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def _fits(batches: Batches, borders: Sequence[int]) -> bool:
    """Run a batch; when this returns False, the error no longer keeps what had been computed."""
    try:
        batches.forward(borders)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        return False
    return True


def kind_of_device(device: torch.device) -> str:
    """Return ``"cpu"``, or ``"cuda"`` for any device that works through many tokens at once."""
    return "cpu" if device.type == "cpu" else "cuda"


def out_of_memory(error: BaseException) -> bool:
    """Say whether memory ran out, on any device."""
    # the CPU's allocator raises a plain RuntimeError
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        "can't allocate memory" in str(error)
    )
