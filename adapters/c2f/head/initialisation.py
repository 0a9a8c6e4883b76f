"""How the weights of the coarse-to-fine systems are drawn before training."""

import math

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.head.config import Initialisation

SPREAD = 0.02
"""Standard deviation of BERT's initialisation."""


@torch.no_grad()
def initialise(module: nn.Module, how: Initialisation) -> None:
    """Draw a module's parameters anew.

    Args:
        module: what to initialise; all of its parameters.
        how: ``"glorot"`` draws all of them, biases too, as TensorFlow 1 does without a word from
            the programmer; the others draw matrices and set biases to 0, as BERT's code does.
    """
    for name, parameter in module.named_parameters():
        if how == "glorot":
            glorot(parameter, *_fans(parameter))
        elif name.endswith("bias"):
            parameter.zero_()
        elif how == "normal":
            parameter.normal_(std=SPREAD)
        else:
            nn.init.trunc_normal_(parameter, std=SPREAD, a=-2 * SPREAD, b=2 * SPREAD)


@torch.no_grad()
def glorot(parameter: Tensor, fan_in: int, fan_out: int) -> None:
    """Draw a parameter from the uniform distribution of Glorot and Bengio (2010)."""
    limit = math.sqrt(6 / (fan_in + fan_out))
    parameter.uniform_(-limit, limit)


def _fans(parameter: Tensor) -> tuple[int, int]:
    if parameter.dim() < 2:
        return parameter.numel(), parameter.numel()
    field = math.prod(parameter.shape[2:])
    return parameter.shape[0] * field, parameter.shape[1] * field
