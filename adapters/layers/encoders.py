"""How the linear layers of a coreference system's encoder compute: nearly all of its arithmetic.

In float32 on a CPU their weights are packed (`pack_weights`), which changes nothing but rounding.
In bfloat16 or int8 a weight has fewer bits, and some answers change: compare the runs of the same
checkpoint. What lies above the encoder stays in float32.
"""

from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.layers.packed import (
    pack_weights,
    packed_product,
    packed_weight,
    packs_bfloat16,
)
from pronominal.adapters.layers.replacing import replace_layers
from pronominal.errors import InputError
from pronominal.names import unknown_name

EncoderDtype = Literal["float32", "bfloat16", "int8"]
"""What the encoder's linear layers compute in."""

_LEVELS = 127
"""Steps of an int8 weight on either side of 0."""

_TINY = torch.finfo(torch.float32).tiny

_SEVEN_BITS = not torch.cpu._is_vnni_supported()
"""Whether states get seven bits: a processor without VNNI adds two products in 16 bits."""


class BFloat16Linear(nn.Module):
    """A linear layer that multiplies in bfloat16, and takes and gives float32.

    The weight is packed where the processor has such products.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().bfloat16()
        self._packed = packs_bfloat16() and weight.device.type == "cpu"
        self.weight: Tensor = packed_weight(weight) if self._packed else weight
        bias = None if layer.bias is None else layer.bias.detach().bfloat16()
        self.register_buffer("bias", bias)

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        product = packed_product if self._packed else nn.functional.linear
        return product(states.bfloat16(), self.weight, self._buffers["bias"]).to(states.dtype)


class Int8Linear(nn.Module):
    """A linear layer that multiplies integers of 8 bits on a CPU, and takes and gives float32.

    Each output has a step of its own for its weights, fixed here, and so has each state at each
    call: one step for all of them would round most of a text away for its largest number.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach()
        steps = (weight.abs().amax(dim=1) / _LEVELS).clamp_min(_TINY)
        zeros = torch.zeros(len(steps), dtype=torch.long)
        small = torch.quantize_per_channel(weight, steps.double(), zeros, 0, torch.qint8)
        self._weight = torch.ops.quantized.linear_prepack(small, None)
        bias = layer.weight.new_zeros(len(steps)) if layer.bias is None else layer.bias.detach()
        self.register_buffer("bias", bias)

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        largest = states.abs().amax(dim=-1, keepdim=True).clamp_min(_TINY)
        product = torch.ops.quantized.linear_dynamic(states / largest, self._weight, _SEVEN_BITS)
        return torch.addcmul(self.get_buffer("bias"), product, largest)


def compute_in(dtype: EncoderDtype, network: nn.Module, encoder: Any) -> Computation:
    """Let an encoder of transformers compute in `dtype`, in place, and say what the network is.

    It cannot be trained afterwards. `InputError` where the dtype is unknown or its device is not
    there for it.

    Args:
        dtype: of the linear layers.
        network: the encoder and what lies above it, on its device.
        encoder: the part of it that changes.
    """
    if dtype not in get_args(EncoderDtype):
        raise unknown_name("dtype", dtype, get_args(EncoderDtype))
    computation = Computation.of(network)
    if dtype == "int8" and encoder.device.type != "cpu":
        cause = f"int8 is for CPUs, and the encoder is on {computation.device}"
        raise InputError(cause, cure="write device = cpu, or dtype = bfloat16")
    if dtype == "float32":
        with silent_transformers():
            pack_weights(encoder)
    else:
        reduced = {"bfloat16": BFloat16Linear, "int8": Int8Linear}[dtype]
        # subclasses do something else with their weights
        replace_layers(encoder, lambda layer: reduced(layer) if type(layer) is nn.Linear else None)
    return computation._replace(dtype=dtype)
