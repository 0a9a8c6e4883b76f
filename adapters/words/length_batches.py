"""Which inputs go through a model together: those of similar length.

In inference within a bound on memory; in training in an order that the seed and the epoch decide.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pronominal.errors import InputError

T = TypeVar("T")

POOL = 50
"""Batches that are sorted together: their lengths differ little, and still everything mixes."""


def require_batch_size(batch_size: int) -> None:
    """Refuse a batch of no texts; `InputError` if it is below 1, or no whole number."""
    # settings come from files, where true and 2.5 are numbers as well
    if type(batch_size) is not int or batch_size < 1:
        cure = "give a batch size above 0, a whole number"
        raise InputError(f"a batch of {batch_size} texts", cure=cure)


def length_batches(
    lengths: Sequence[int],
    *,
    room: int | None = None,
    most: int | None = None,
    padded: bool = False,
) -> Iterator[list[int]]:
    """Yield the numbers of inputs that go together, the shortest first.

    Args:
        lengths: of each input, in any unit; an input of length 0 is in no batch.
        room: the units that a batch may have together, unless it is one input; None for any.
        most: the inputs that a batch may have; None for any number.
        padded: whether every input counts as long as the longest of its batch.
    """
    batch: list[int] = []
    units = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[index]
        if not length:
            continue
        filled = (len(batch) + 1) * length if padded else units + length
        if batch and (len(batch) == most or (room is not None and filled > room)):
            yield batch
            batch, units = [], 0
        batch.append(index)
        units += length
    if batch:
        yield batch


def length_buckets(
    lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int, pool: int = POOL
) -> list[list[int]]:
    """Return the batches of one epoch; every item is in exactly one of them.

    Items are shuffled, cut into pools, sorted by length inside each pool and cut into batches,
    whose order is shuffled: padding is small, and no epoch sees the batches of another one.

    Args:
        lengths: of each item, in any unit.
        batch_size: items in a batch; the last one of the epoch's last pool may be smaller.
        seed: of the training.
        epoch: from 0.
        pool: batches in a pool.
    """
    draw = np.random.default_rng([seed, epoch])
    order = draw.permutation(len(lengths))
    measured = np.asarray(lengths)
    batches = []
    for first in range(0, len(order), batch_size * pool):
        together = order[first : first + batch_size * pool]
        together = together[np.argsort(measured[together], kind="stable")]
        batches += [
            together[start : start + batch_size].tolist()
            for start in range(0, len(together), batch_size)
        ]
    return [batches[index] for index in draw.permutation(len(batches))]


@dataclass(frozen=True, slots=True)
class UnitBatches(Generic[T]):
    """The batches of a training set.

    Attributes:
        units: what stays in one batch: one text, or an original and its switched version.
        batch_size: texts in a batch at most, unless it is one unit.
        length: of a text, in any unit of measure; texts of similar length go together.
    """

    units: Sequence[tuple[T, ...]]
    batch_size: int
    length: Callable[[T], int]

    @property
    def in_epoch(self) -> int:
        """Batches of one pass over the training set."""
        return math.ceil(len(self.units) / self._units_in_batch)

    def drawn(self, seed: int) -> Callable[[int], list[list[tuple[T, ...]]]]:
        """Return what draws the batches of an epoch, which depend on it and the seed alone."""
        lengths = [max(map(self.length, unit)) for unit in self.units]

        def batches(epoch: int) -> list[list[tuple[T, ...]]]:
            buckets = length_buckets(lengths, self._units_in_batch, seed=seed, epoch=epoch)
            return [[self.units[index] for index in bucket] for bucket in buckets]

        return batches

    @property
    def _units_in_batch(self) -> int:
        return max(1, self.batch_size // max(map(len, self.units), default=1))
