"""Weights that are packed once, as the processor's matrix product wants them.

Otherwise they are laid out anew at every product. oneDNN's products of packed weights take a third
less time than those of plain weights, and less than half for the head of a whole vocabulary. They
add up in another order: scores differ by rounding alone.
"""

from typing import Any

import torch
from torch import Tensor, nn

from pronominal.adapters.layers.replacing import LINEAR, replace_layers, turned

_PRIVATE = ("_reorder_linear_weight", "_linear_pointwise")
"""Functions of torch that are not documented, so that a release may lack them."""

NOT_THERE = (AttributeError, NotImplementedError, RuntimeError, TypeError)
"""What fails where a release of torch lacks a function, or a model reads packed weights itself."""


class PackedLinear(nn.Module):
    """A linear layer that is only asked, never trained.

    Args:
        layer: a `torch.nn.Linear` or transformers' `Conv1D`, in float32 on the CPU; it loses its
            weight, so that no weight is in memory twice.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self._layer = [layer]  # in a list it is no submodule
        weight = turned(layer, layer.weight.detach())
        self.weight = packed_weight(weight)
        self.bias = layer.bias
        layer.weight = None

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        return packed_product(states, self.weight, self.bias)

    def unpacked(self) -> Any:
        """Return the layer with its weight."""
        (layer,) = self._layer
        weight = turned(layer, self.weight.to_dense()).contiguous()
        layer.weight = nn.Parameter(weight, requires_grad=False)
        return layer


def packed_weight(weight: Tensor) -> Tensor:
    """Return a weight [out, in] on the CPU as `packed_product` wants it."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    return packed


def packed_product(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return [..., out] for states [..., in] and a packed weight, in the weight's dtype."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return product


def packs_bfloat16() -> bool:
    """Say whether the processor has products of bfloat16, and torch packs weights for them."""
    return packs_weights() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def packs_weights() -> bool:
    """Say whether the processor gains by packed weights, and torch packs them."""
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    # without AVX2, oneDNN's products are slower than the plain ones
    there = there and torch.backends.cpu.get_cpu_capability() != "DEFAULT"
    return there and all(hasattr(torch.ops.mkldnn, name) for name in _PRIVATE)


def pack_weights(model: Any) -> None:
    """Pack the weights of every linear layer of a model, in place, if it is on the CPU in float32.

    It cannot be trained afterwards. Models whose own code reads the weights of a layer stay as they
    are, and so do all on a processor without AVX2, and where torch lacks the private functions that
    this takes.
    """
    pack_layers(model)
    packed = any(type(layer) is PackedLinear for layer in model.modules())
    if packed and not answers(model):
        replace_layers(
            model, lambda layer: layer.unpacked() if type(layer) is PackedLinear else None
        )


def pack_layers(network: nn.Module, besides: nn.Module | None = None) -> None:
    """Pack the weights of the same layers where no code is known to read them.

    Args:
        network: the layers are in, each of which is packed in place.
        besides: the part of it whose layers stay as they are.
    """
    kept = set() if besides is None else {*besides.modules()}
    if packs_weights():
        replace_layers(
            network,
            lambda layer: PackedLinear(layer) if layer not in kept and _packable(layer) else None,
        )


def _packable(layer: nn.Module) -> bool:
    if type(layer) not in LINEAR:
        return False
    return layer.weight.dtype == torch.float32 and layer.weight.device.type == "cpu"


def answers(model: Any) -> bool:
    """Say whether a model can be asked."""
    tokens = torch.zeros((1, 2), dtype=torch.long)
    inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = tokens
    try:
        with torch.inference_mode():
            model(**inputs)
    except NOT_THERE:
        return False
    return True
