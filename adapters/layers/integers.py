"""Linear layers of a CPU that multiply whole numbers, by its instructions for those of 8 bits.

Each output has a step of its own for its weights, fixed here, and so has each state at each call:
one step for all of them would round most of a text away for its largest number.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from pronominal.adapters.layers.packed import NOT_THERE, answers
from pronominal.adapters.layers.replacing import replace_linear, turned
from pronominal.errors import InputError

_TINY = 2**15 * torch.finfo(torch.float32).tiny
"""What the largest state of a row, and the step of weights, are at least."""

_LEVELS = 127
"""Steps of 8 bits on either side of 0."""

_FINE_LEVELS = _LEVELS * 256
"""Steps of 16 bits on either side of 0, so that either half has 8."""

_AT_ONCE = 128 * 1024
"""How many numbers are made whole at once, so that they stay in the processor's cache."""


class IntegerLinear(nn.Module, ABC):
    """A linear layer that is only asked, never trained, and takes and gives float32.

    Args:
        layer: a `torch.nn.Linear` or transformers' `Conv1D`, in float32 on the CPU, of at most
            65,536 inputs, whose sums are whole numbers of 32 bits.

    Attributes:
        weight: of 8 bits, by which transformers sees that it is to convert nothing.
    """

    _type: torch.dtype
    """Of the states, whole numbers from `_middle - _levels` to `_middle + _levels`."""
    _levels: int
    _middle: int
    _bytes: int
    """How many a weight has, which lies as far on either side of 0 as a state."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        weight = turned(layer, layer.weight.detach())
        self._steps = (weight.abs().amax(dim=1) / self._levels).clamp_min(_TINY)
        bias = weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.detach()
        self.register_buffer("bias", bias)
        parts = [torch.empty(weight.shape, dtype=torch.int8) for _ in range(self._bytes)]
        for some in _blocks(weight):
            whole = (weight[some] / self._steps[some, None]).round_().to(torch.int32)
            for part, of_weight in zip(parts, self._parts(whole), strict=True):
                part[some] = of_weight
        self._weights = [*map(_PackedIntegers, parts)]
        self.weight = self._weights[0].packed

    @abstractmethod
    def _parts(self, whole: Tensor) -> Sequence[Tensor]:
        """Return the parts of whole weights that `_product` multiplies, each of 8 bits."""

    def forward(self, states: Tensor) -> Tensor:
        """Return [..., out] for states [..., in]."""
        rows = states.reshape(-1, states.shape[-1])
        whole, largest = self._in_levels(rows)
        product = self._product(whole)
        product = torch.addcmul(self.get_buffer("bias"), product, largest, out=product)
        return product.view(*states.shape[:-1], product.shape[1])

    def _in_levels(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the level of each state, [rows, in], and the largest state of a row, [rows, 1]."""
        whole = torch.empty(rows.shape, dtype=self._type)
        largest = rows.new_empty(len(rows), 1)
        for some in _blocks(rows):
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
    """A linear layer whose weights and states have 8 bits."""

    _type, _levels, _middle, _bytes = torch.uint8, _LEVELS, 128, 1

    def _parts(self, whole: Tensor) -> Sequence[Tensor]:
        return (whole,)

    def _product(self, whole: Tensor) -> Tensor:
        return self._weights[0].product(whole, self._steps / _LEVELS)


class Int16Linear(IntegerLinear):
    """A linear layer whose weights and states have 16 bits, multiplied half by half.

    Of the four products of halves that of both lower ones is left out: it is as small as what
    rounding to 16 bits leaves out.
    """

    _type, _levels, _middle, _bytes = torch.uint16, _FINE_LEVELS, 128 * 256 + 128, 2

    def _parts(self, whole: Tensor) -> Sequence[Tensor]:
        upper = (whole + 128) >> 8
        return upper, whole - 256 * upper

    def _product(self, whole: Tensor) -> Tensor:
        signed = whole.view(torch.int16)
        upper, lower = (signed >> 8).to(torch.uint8), signed.to(torch.uint8)
        weight_upper, weight_lower = self._weights
        large = self._steps * (256 * 256 / _FINE_LEVELS)
        product = weight_lower.product(upper, large / 256)
        product = weight_upper.product(lower, large / 256, product)
        return weight_upper.product(upper, large, product)


class _PackedIntegers:
    """Weights of 8 bits, [out, in], as the processor wants them.

    Args:
        weights: contiguous; of others torch packs something else.

    Attributes:
        packed: the same for torch alone.
    """

    def __init__(self, weights: Tensor) -> None:
        self.packed: Tensor = torch.ops.onednn.qlinear_prepack(weights, None)
        self._zeros = torch.zeros(len(weights), dtype=torch.int32)

    def product(self, states: Tensor, scales: Tensor, added_to: Tensor | None = None) -> Tensor:
        """Return [rows, out] in float32 for bytes [rows, in], of which 128 is 0.

        Args:
            states: the bytes.
            scales: what an output's sum is multiplied with, [out].
            added_to: another product, in whose place their sum comes.
        """
        # step and zero of the states; packed weights, their steps and zeros
        asked = (states, 1.0, 128, self.packed, scales, self._zeros)
        # no bias; step, zero and type of the outputs
        given = (None, 1.0, 0, torch.float32)
        no_activation: tuple[Any, ...] = ("none", [], "")
        multiply = torch.ops.onednn.qlinear_pointwise
        if added_to is None:
            product: Tensor = multiply(*asked, *given, *no_activation)
        else:
            added = (1.0, 0, "sum", 1.0)  # step and zero of the other product
            product = multiply.binary(*asked, added_to, *given, *added, *no_activation)
        return product


@cache
def sums_are_exact() -> bool:
    """Say whether torch has these products, and the processor adds them in 32 bits (VNNI, AMX).

    Others add two of them in 16 bits, where the largest ones do not fit.
    """
    states, weights = torch.full((1, 64), 255, dtype=torch.uint8), torch.full((16, 64), _LEVELS)
    try:
        packed = _PackedIntegers(weights.to(torch.int8))
        sums = packed.product(states, torch.ones(16), torch.zeros(1, 16))
    except NOT_THERE:
        return False
    return bool((sums == 64 * 127 * _LEVELS).all())


INTEGER_LAYERS: dict[str, Callable[[Any], IntegerLinear]] = {
    "int16": Int16Linear,
    "int8": Int8Linear,
}
"""The layer for each dtype of whole numbers."""


def refuse_inexact(dtype: str, device: str) -> None:
    """Raise `InputError` where whole numbers of `dtype` cannot be multiplied, or not exactly."""
    if device != "cpu":
        cause = f"{dtype} is for CPUs, and the weights are to be on {device}"
        raise InputError(cause, cure="write device = cpu, or dtype = bfloat16")
    if not sums_are_exact():
        cause = (
            f"{dtype} takes a processor with VNNI or AMX and a torch that uses it, for elsewhere "
            "answers would be others"
        )
        raise InputError(cause, cure="write dtype = bfloat16 or float32")


def multiply_integers(model: Any, dtype: str, name: str) -> None:
    """Let every linear layer of a model on the CPU multiply whole numbers, in place.

    It cannot be trained afterwards.

    Args:
        model: of transformers, in float32.
        dtype: a key of `INTEGER_LAYERS`.
        name: of its checkpoint, for messages.

    Raises:
        InputError: the model's own code reads the weights of a layer.
    """
    replace_linear(model, INTEGER_LAYERS[dtype])
    if not answers(model):
        cause = f"{type(model).__name__} reads its weights itself, which cannot be {dtype}"
        raise InputError(cause, cure="write dtype = float32", file=name)


def _blocks(rows: Tensor) -> Iterator[slice]:
    """Yield which rows are made whole at once."""
    size = max(1, _AT_ONCE // max(1, rows.shape[1]))
    return (slice(start, start + size) for start in range(0, len(rows), size))
