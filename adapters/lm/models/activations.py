"""Activations in one step where a model spells them out, which costs a pass over memory for each.

GPT-2, ALBERT and FLAN-T5 write the tanh form of GELU as eight operations. The fused one differs
from it by rounding alone.
"""

from typing import Any

from torch import nn
from transformers.activations import FastGELUActivation, NewGELUActivation

SPELLED_OUT = (FastGELUActivation, NewGELUActivation)
"""The modules of transformers that compute the tanh form of GELU operation by operation."""


def fuse_activations(model: Any) -> None:
    """Let every spelled-out activation of a model of transformers, in place, take one step."""
    for module in [*model.modules()]:
        for name, child in module.named_children():
            if isinstance(child, SPELLED_OUT):
                setattr(module, name, nn.GELU(approximate="tanh"))
