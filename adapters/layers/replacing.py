"""One layer of a model in the place of another."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

LINEAR = (nn.Linear, Conv1D)
"""The layers that are linear; subclasses do something else with their weights."""


def replace_layers(model: Any, replacement: Callable[[nn.Module], nn.Module | None]) -> None:
    """Put what `replacement` returns into the place of each layer; where it returns None, keep."""
    replaced: dict[nn.Module, nn.Module | None] = {}
    for module in [*model.modules()]:
        # a layer may be in several modules, or in one under several names
        for name, layer in [*module._modules.items()]:
            if layer is None:
                continue
            if layer not in replaced:
                replaced[layer] = replacement(layer)
            if replaced[layer] is not None:
                setattr(module, name, replaced[layer])


def replace_linear(model: Any, kind: Callable[[Any], nn.Module]) -> None:
    """Put a layer of another kind into the place of each linear one, which loses its weight."""

    def of_that_kind(layer: Any) -> nn.Module | None:
        if type(layer) not in LINEAR:
            return None
        made = kind(layer)
        layer.weight = None  # else it would be in memory twice until all layers are made
        return made

    replace_layers(model, of_that_kind)


def turned(layer: Any, weight: Tensor) -> Tensor:
    """Return [out, in] for the weight of a layer as it stores it, or the other way round."""
    return weight.t() if type(layer) is Conv1D else weight
