"""Batches of similar length, in an order that the seed and the epoch decide."""

from collections.abc import Sequence

import numpy as np

POOL = 50
"""Batches that are sorted together: their lengths differ little, and still everything mixes."""


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
