"""What a network computes with, as a run records it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import nn


class Computation(NamedTuple):
    """What a run says of the network behind its answers.

    Attributes:
        dtype: of its first weights, such as ``"float16"``.
        device: where these are, such as ``"cuda:0"``.
        parameters: how many weights it has, each counted once.
    """

    dtype: str
    device: str
    parameters: int

    @classmethod
    def of(cls, *networks: "nn.Module") -> "Computation":
        """Return what networks compute with that answer together; there is at least one weight."""
        weights = {id(one): one for network in networks for one in network.parameters()}
        first = next(iter(weights.values()))
        total = sum(one.numel() for one in weights.values())
        return cls(str(first.dtype).removeprefix("torch."), str(first.device), total)
