"""One layer of a model in the place of another."""

from collections.abc import Callable
from typing import Any

from torch import nn


def replace_layers(model: Any, replacement: Callable[[nn.Module], nn.Module | None]) -> None:
    """Put what `replacement` returns into the place of each layer; where it returns None, keep."""
    replaced: dict[nn.Module, nn.Module | None] = {}
    for module in [*model.modules()]:
        for name, layer in module.named_children():
            if layer not in replaced:  # a layer may be in several modules
                replaced[layer] = replacement(layer)
            if replaced[layer] is not None:
                setattr(module, name, replaced[layer])
