"""What the processor can do: the share of it that a kernel does, and the bits it computes in."""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from pronominal.adapters.layers.encoders import EncoderDtype
from pronominal.adapters.layers.integers import sums_are_exact
from pronominal.adapters.layers.packed import packed_product, packed_weight

SIDE, ROUNDS = 2048, 5

FEWER_BITS: list[EncoderDtype] = ["bfloat16"]
"""What an encoder computes in besides float32; whole numbers are refused where they are inexact."""
if sums_are_exact():
    FEWER_BITS += ["int16", "int8"]


def share_of_peak(call: Callable[[], object], seconds: float) -> float:
    """Return the share of the operations that `peak` would do in the CPU seconds of a call.

    Additions and multiplications of matrix products count, those of packed weights too, and
    nothing else of what a call does.
    """
    packed = torch.ops.mkldnn._linear_pointwise
    counter = FlopCounterMode(display=False, custom_mapping={packed: _of_packed})
    with counter:
        call()
    return round(counter.get_total_flops() / seconds / peak(), 2)


@torch.inference_mode()
def peak() -> float:
    """Return the operations in a CPU second of a large product of packed weights."""
    weight, states = packed_weight(torch.randn(SIDE, SIDE)), torch.randn(SIDE, SIDE)
    taken = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        packed_product(states, weight, None)
        taken.append(time.process_time() - begun)
    return 2 * SIDE**3 / statistics.median(taken)


def _of_packed(states: Any, weight: Any, *_: Any, out_shape: Any = None) -> int:
    return 2 * math.prod(states) * weight[0]
