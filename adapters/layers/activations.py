"""Activations in one step.

GPT-2, ALBERT and FLAN-T5 write the tanh form of GELU as eight operations, each of them a pass over
memory. The fused one differs from it by rounding alone.
"""

from typing import Any

from torch import nn
from transformers.activations import FastGELUActivation, NewGELUActivation

from pronominal.adapters.layers.replacing import replace_layers


def fuse_activations(model: Any) -> None:
    """Let every spelled-out activation of a model of transformers, in place, take one step."""
    spelled_out = (FastGELUActivation, NewGELUActivation)
    fused = nn.GELU(approximate="tanh")
    replace_layers(model, lambda layer: fused if isinstance(layer, spelled_out) else None)
