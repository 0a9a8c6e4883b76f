"""Linear layers of a CPU that multiply whole numbers, by its instructions for those of 8 bits.

Each output has a step of its own for its weights, fixed here, and so has each state at each call:
one step for all of them would round most of a text away for its largest number.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from pronominal.adapters.layers.packed import LINEAR, answers, turned
from pronominal.adapters.layers.replacing import replace_layers
from pronominal.errors import InputError

_TINY = 2**15 * torch.finfo(torch.float32).tiny
"""Below the largest of any states and weights, and so large that levels over it are finite."""

_LEVELS = 127
"""Steps of 8 bits on either side of 0."""

_FINE_LEVELS = _LEVELS * 256
"""Steps of 16 bits on either side of 0, so that either half has 8."""

_CACHED = 128 * 1024
"""How many states are made whole numbers at once, so that they stay in the processor's cache."""

_UNKNOWN = (AttributeError, NotImplementedError, RuntimeError, TypeError)
"""What fails where torch has no such products, or has them in another form."""


class IntegerLinear(nn.Module, ABC):
    """A linear layer that is only asked, never trained, and takes and gives float32.

    Its states are whole numbers of `_type` from `_middle - _levels` to `_middle + _levels`.

    Args:
        layer: a `torch.nn.Linear` or transformers' `Conv1D`, in float32 on the CPU.
        levels: how many steps its weights have on either side of 0.

    Attributes:
        weight: of 8 bits, by which transformers sees that it is to convert nothing.
    """

    _type: torch.dtype
    _levels: int
    _middle: int

    def __init__(self, layer: Any, levels: int) -> None:
        super().__init__()
        weight = turned(layer, layer.weight.detach())
        self._steps = (weight.abs().amax(dim=1) / levels).clamp_min(_TINY)
        bias = weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.detach()
        self.register_buffer("bias", bias)
        self.weight = self._pack((weight / self._steps[:, None]).round().to(torch.int32))

    @abstractmethod
    def _pack(self, whole: Tensor) -> Tensor:
        """Keep the weight in whole steps, [out, in], as `_product` wants it, and return it so."""

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        rows = states.reshape(-1, states.shape[-1])
        whole, largest = self._in_levels(rows)
        product = self._product(whole)
        product = torch.addcmul(self.get_buffer("bias"), product, largest, out=product)
        return product.view(*states.shape[:-1], -1)

    def _in_levels(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the level of each state, [rows, in], and the largest state of a row, [rows, 1]."""
        whole = torch.empty(rows.shape, dtype=self._type)
        largest = rows.new_empty(len(rows), 1)
        size = max(1, _CACHED // rows.shape[1])
        for some in (slice(start, start + size) for start in range(0, len(rows), size)):
            block, most = rows[some], largest[some]
            torch.maximum(block.amax(1, keepdim=True), -block.amin(1, keepdim=True), out=most)
            most.clamp_min_(_TINY)
            # cut off behind the point, which rounds to the nearest
            whole[some].copy_((block * (self._levels / most)).add_(self._middle + 0.5))
        return whole, largest

    @abstractmethod
    def _product(self, whole: Tensor) -> Tensor:
        """Return [rows, out] for levels [rows, in], of a row whose largest state is 1 or -1."""


class Int8Linear(IntegerLinear):
    """A linear layer whose weights have 8 bits, and its states as many as `bits_of_states`."""

    _type = torch.uint8

    def __init__(self, layer: Any) -> None:
        self._middle = 2 ** ((bits_of_states() or 0) - 1)
        self._levels = self._middle - 1
        super().__init__(layer, _LEVELS)

    def _pack(self, whole: Tensor) -> Tensor:
        self._weight = _PackedIntegers(whole)
        return self._weight.packed

    def _product(self, whole: Tensor) -> Tensor:
        return self._weight.product(whole, self._middle, self._steps / self._levels)


class Int16Linear(IntegerLinear):
    """A linear layer whose weights and states have 16 bits, multiplied half by half.

    Of the four products of halves that of both lower ones is left out: it is as small as what
    rounding to 16 bits leaves out. States need 8 of `bits_of_states`.
    """

    _type, _levels, _middle = torch.uint16, _FINE_LEVELS, 128 * 256 + 128

    def __init__(self, layer: Any) -> None:
        super().__init__(layer, _FINE_LEVELS)

    def _pack(self, whole: Tensor) -> Tensor:
        upper = (whole + 128) >> 8
        self._upper, self._lower = _PackedIntegers(upper), _PackedIntegers(whole - 256 * upper)
        return self._upper.packed

    def _product(self, whole: Tensor) -> Tensor:
        # halves are bytes of which 128 is 0
        signed = whole.view(torch.int16)
        upper, lower = (signed >> 8).to(torch.uint8), signed.to(torch.uint8)
        large = self._steps * (256 * 256 / _FINE_LEVELS)
        product = self._lower.product(upper, 128, large / 256)
        product = self._upper.product(lower, 128, large / 256, product)
        return self._upper.product(upper, 128, large, product)


class _PackedIntegers:
    """Weights of 8 bits, [out, in], as the processor wants them.

    Args:
        weights: of any type of whole numbers.

    Attributes:
        packed: the same for torch alone.
    """

    def __init__(self, weights: Tensor) -> None:
        # of weights that are not contiguous, others would be packed
        whole = weights.to(torch.int8).contiguous()
        self.packed: Tensor = torch.ops.onednn.qlinear_prepack(whole, None)
        self._zeros = torch.zeros(len(whole), dtype=torch.int32)

    def product(
        self, states: Tensor, middle: int, scales: Tensor, added_to: Tensor | None = None
    ) -> Tensor:
        """Return [rows, out] in float32 for bytes [rows, in].

        Args:
            states: the bytes.
            middle: that of them which is 0.
            scales: what an output's sum is multiplied with, [out].
            added_to: another product, in whose place their sum comes.
        """
        given = (states, 1.0, middle, self.packed, scales, self._zeros)
        made = (None, 1.0, 0, torch.float32)  # no bias, and nothing rounded
        asked = torch.ops.onednn.qlinear_pointwise
        product: Tensor = (
            asked(*given, *made, "none", [], "")
            if added_to is None
            else asked.binary(*given, added_to, *made, 1.0, 0, "sum", 1.0, "none", [], "")
        )
        return product


@cache
def bits_of_states(added: bool = False) -> int | None:
    """Return of how many bits states may be, so that sums of their products are exact.

    8 where the processor adds products in 32 bits (VNNI, AMX), 7 where it adds two in 16; None
    where torch has no such products.

    Args:
        added: ask for products that are added to others.
    """
    for bits in (8, 7):
        states = torch.full((1, 64), 2**bits - 1, dtype=torch.uint8)
        weight = torch.full((16, 64), _LEVELS)
        try:
            weights, ones = _PackedIntegers(weight), torch.ones(16)
            sums = weights.product(states, 0, ones, torch.zeros(1, 16) if added else None)
        except _UNKNOWN:
            return None
        if bool((sums == 64 * (2**bits - 1) * _LEVELS).all()):
            return bits
    return None


INTEGER_LAYERS: dict[str, Callable[[Any], IntegerLinear]] = {
    "int16": Int16Linear,
    "int8": Int8Linear,
}
"""The layer for each dtype of whole numbers."""


def refuse_no_integers(dtype: str, device: str) -> None:
    """Raise `InputError` where whole numbers of `dtype` cannot be multiplied, or not exactly."""
    if device != "cpu":
        cause = f"{dtype} is for CPUs, and the weights are to be on {device}"
        raise InputError(cause, cure="write device = cpu, or dtype = bfloat16")
    halved = dtype == "int16"
    bits = bits_of_states(added=halved)
    if bits is None or (halved and bits < 8):
        cause = f"this processor, or this release of torch, has no products for {dtype}"
        raise InputError(cause, cure="write dtype = float32")


def multiply_integers(model: Any, dtype: str) -> None:
    """Let every linear layer of a model on the CPU multiply whole numbers, in place.

    It cannot be trained afterwards.

    Raises:
        InputError: the model's own code reads the weights of a layer.
    """

    def smaller(layer: Any) -> nn.Module | None:
        if type(layer) not in LINEAR:
            return None
        made = INTEGER_LAYERS[dtype](layer)
        layer.weight = None  # else it would be in memory twice until all layers are made
        return made

    replace_layers(model, smaller)
    if not answers(model):
        cause = f"{type(model).__name__} reads its weights itself, which cannot be {dtype}"
        raise InputError(cause, cure="write dtype = float32")
