"""How the linear layers of a coreference system's encoder compute: nearly all of its arithmetic.

In float32 on a CPU their weights are packed (`pack_weights`), which changes nothing but rounding.
Of a number bfloat16 and int8 keep 8 bits, and some answers change; int16 keeps 16, and hardly any
do: compare the runs of the same checkpoint. What lies above the encoder stays in float32, but see
`compute_head_in`.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args

from torch import Tensor, nn

from pronominal.adapters.checkpoints.computation import Computation
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.layers.integers import (
    INTEGER_LAYERS,
    Int16Linear,
    refuse_inexact,
)
from pronominal.adapters.layers.packed import (
    pack_layers,
    pack_weights,
    packed_product,
    packed_weight,
    packs_bfloat16,
)
from pronominal.adapters.layers.replacing import replace_linear, turned
from pronominal.names import unknown_name

EncoderDtype = Literal["float32", "int16", "bfloat16", "int8"]
"""What the encoder's linear layers compute in."""


class BFloat16Linear(nn.Module):
    """A linear layer that multiplies in bfloat16, and takes and gives float32.

    The weight is packed where the processor has such products.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        weight = turned(layer, layer.weight.detach()).bfloat16()
        self._packed = packs_bfloat16() and weight.device.type == "cpu"
        self.weight: Tensor = packed_weight(weight) if self._packed else weight
        bias = None if layer.bias is None else layer.bias.detach().bfloat16()
        self.register_buffer("bias", bias)

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        product = packed_product if self._packed else nn.functional.linear
        return product(states.bfloat16(), self.weight, self._buffers["bias"]).to(states.dtype)


_REDUCED: dict[str, Callable[[Any], nn.Module]] = {"bfloat16": BFloat16Linear, **INTEGER_LAYERS}


def compute_in(dtype: EncoderDtype, network: nn.Module, encoder: Any) -> Computation:
    """Let an encoder of transformers compute in `dtype`, in place, and say what the network is.

    It cannot be trained afterwards. `InputError` where the dtype is unknown, or the device or the
    processor is not for it.

    Args:
        dtype: of the linear layers.
        network: the encoder and what lies above it, on its device.
        encoder: the part of it that changes.
    """
    if dtype not in get_args(EncoderDtype):
        raise unknown_name("dtype", dtype, get_args(EncoderDtype))
    computation = Computation.of(network)
    if dtype in INTEGER_LAYERS:
        refuse_inexact(dtype, computation.device)
    if dtype == "float32":
        with silent_transformers():
            pack_weights(encoder)
    else:
        replace_linear(encoder, _REDUCED[dtype])
    return computation._replace(dtype=dtype)


def compute_head_in(dtype: EncoderDtype, head: nn.Module, encoder: nn.Module | None = None) -> None:
    """Let large layers above an encoder compute as it does in int16, and else in float32, packed.

    Args:
        dtype: of the encoder, as given to `compute_in` before.
        head: what the layers are in.
        encoder: the part of it that is none of the head's.
    """
    if dtype == "int16":
        replace_linear(head, Int16Linear)
    else:
        pack_layers(head, besides=encoder)
