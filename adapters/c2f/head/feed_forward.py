"""Scorers with hidden layers, whose input need not be put together before the first one."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class FeedForward(nn.Sequential):
    """Hidden layers with ReLU and dropout, and one score, numbered as in coref-hoi's checkpoints.

    A pair of spans shares its parts with many other pairs. An affine layer of concatenated parts
    is a sum over the parts, so what parts share is computed once: `blocks` gives each part's
    columns, and `finish` takes the sum from there.
    """

    def __init__(self, inputs: int, hidden: int, depth: int, dropout: float) -> None:
        layers: list[nn.Module] = []
        for layer in range(depth):
            size = inputs if layer == 0 else hidden
            layers += [nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout)]
        super().__init__(*layers, nn.Linear(hidden, 1))

    @property
    def first(self) -> nn.Linear:
        """The layer that reads the parts."""
        layer = self[0]
        assert isinstance(layer, nn.Linear)
        return layer

    def blocks(self, sizes: Sequence[int]) -> tuple[Tensor, ...]:
        """Return the first layer's columns for parts of these sizes, each [hidden, size]."""
        return torch.split(self.first.weight, list(sizes), dim=1)

    def finish(self, summed: Tensor) -> Tensor:
        """Return the scores, [...], given the first layer's output, [..., hidden]."""
        for layer in list(self)[1:]:
            summed = layer(summed)
        return summed.squeeze(-1)
