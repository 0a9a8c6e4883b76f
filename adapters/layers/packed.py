"""Weights that are packed once, as the processor's matrix product wants them.

Otherwise they are laid out anew at every product. oneDNN's products of packed weights take a third
less time than those of plain weights, and less than half for the head of a whole vocabulary. They
add up in another order: scores differ by rounding alone.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from pronominal.adapters.layers.replacing import replace_layers

_PRIVATE = ("_reorder_linear_weight", "_linear_pointwise")
"""Functions of torch that are not documented, so that a release may lack them."""

_UNREADABLE = (AttributeError, NotImplementedError, RuntimeError, TypeError)
"""What a model fails with that reads packed weights itself."""


class PackedLinear(nn.Module):
    """A linear layer that is only asked, never trained.

    Args:
        layer: a `torch.nn.Linear` or transformers' `Conv1D`, in float32 on the CPU; it loses its
            weight, so that no weight is in memory twice.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self._layer = [layer]  # in a list it is no submodule
        weight = _turned(layer, layer.weight.detach())
        self.weight: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
        self.bias = layer.bias
        layer.weight = None

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            states, self.weight, self.bias, "none", [], ""
        )
        return product

    def unpacked(self) -> Any:
        """Return the layer with its weight."""
        (layer,) = self._layer
        weight = _turned(layer, self.weight.to_dense()).contiguous()
        layer.weight = nn.Parameter(weight, requires_grad=False)
        return layer


def pack_weights(model: Any) -> None:
    """Pack the weights of every linear layer of a model, in place, if it is on the CPU in float32.

    It cannot be trained afterwards. Models whose own code reads the weights of a layer stay as they
    are, and so do all where torch lacks the private functions that this takes.
    """
    there = torch.backends.mkldnn.is_available() and all(  # type: ignore[no-untyped-call]
        hasattr(torch.ops.mkldnn, name) for name in _PRIVATE
    )
    if there and model.device.type == "cpu":
        replace_layers(model, lambda layer: PackedLinear(layer) if _packable(layer) else None)
        if not _answers(model):
            replace_layers(
                model, lambda layer: layer.unpacked() if type(layer) is PackedLinear else None
            )


def _packable(layer: nn.Module) -> bool:
    # subclasses do something else with their weights
    return type(layer) in (nn.Linear, Conv1D) and layer.weight.dtype == torch.float32


def _turned(layer: Any, weight: Tensor) -> Tensor:
    """Return [out, in] for the weight of a layer as it stores it, or the other way round."""
    return weight.t() if type(layer) is Conv1D else weight


def _answers(model: Any) -> bool:
    """Say whether a model can be asked."""
    tokens = torch.zeros((1, 2), dtype=torch.long)
    inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = tokens
    try:
        with torch.inference_mode():
            model(**inputs)
    except _UNREADABLE:
        return False
    return True
