"""What the head knows of two spans besides their words: speakers, genre, distance."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pronominal.adapters.c2f.head.config import HeadConfig

FIRST_SPEAKERS = ("UNK", "[SPL]")
"""What has the numbers 0 and 1 in every document."""

OVERFLOW_SPEAKER = 3
"""Whose number further speakers get where their numbers are limited (mandarjoshi90's code)."""

BUCKETS = (1, 2, 3, 4, 5, 8, 16, 32, 64)
"""Where the distances of a bucket begin; the first bucket, 0, is before them."""


def speaker_numbers(names: Sequence[str], limit: int | None) -> list[int]:
    """Return a number for each unit's speaker, in the order of first appearance.

    Args:
        names: the speaker of each unit.
        limit: how many numbers there are, UNK and [SPL] included; later speakers share number 3.

    >>> speaker_numbers(["[SPL]", "ann", "bob", "cy", "dan"], limit=4)
    [1, 2, 3, 3, 3]
    """
    numbers = {name: number for number, name in enumerate(FIRST_SPEAKERS)}
    for name in names:
        if name not in numbers and (limit is None or len(numbers) < limit):
            numbers[name] = len(numbers)
    return [numbers.get(name, OVERFLOW_SPEAKER) for name in names]


def genre_number(genre: str | None, config: HeadConfig) -> int:
    """Return the row of a genre's embedding; another genre, or none, counts as the first one."""
    return config.genres.index(genre) if genre in config.genres else 0


def distance_buckets(distances: Tensor) -> Tensor:
    """Return the bucket, 0 to 9, of distances that are counted in spans.

    >>> distance_buckets(torch.tensor([0, 4, 5, 7, 8, 63, 64, 4000])).tolist()
    [0, 4, 5, 5, 6, 8, 9, 9]
    """
    return torch.bucketize(distances, torch.tensor(BUCKETS, device=distances.device), right=True)
