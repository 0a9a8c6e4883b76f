"""Products of plain and packed float32 weights and of whole numbers, by the processor's kernels.

``ATEN_CPU_CAPABILITY`` limits torch's own kernels and ``ONEDNN_MAX_CPU_ISA`` those of oneDNN; each
variant is a process of its own. Thousand million operations a second of CPU time on one thread,
by turns, the median of five; layers of whole numbers count for what float32 would have to do, with
all that they do to their states. Prints one JSON object.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from pronominal.adapters.layers.integers import INTEGER_LAYERS, sums_are_exact
from pronominal.adapters.layers.packed import packed_product, packed_weight

VARIANTS = {
    "as it is": {},
    "oneDNN at VNNI": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"},
    "oneDNN at AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    "both at AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},
}
SIZES = (
    *((20, 768, 3072), (64, 768, 3072), (512, 768, 3072), (20, 768, 30522), (64, 768, 30522)),
    *((128, 1024, 1024), (860, 1024, 4096), (860, 4096, 1024)),
)
ROUNDS = 5


def dynamically_quantised(layer: Any) -> Callable[[Any], Any]:
    """Return what torch itself has for weights of 8 bits, with a step for each output."""
    weight = layer.weight.detach()
    steps, zeros = weight.abs().amax(dim=1) / 127, torch.zeros(len(weight), dtype=torch.long)
    whole = torch.quantize_per_channel(weight, steps.double(), zeros, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(whole, layer.bias)
    return lambda states: torch.ops.quantized.linear_dynamic(states, packed, False)


@torch.inference_mode()
def speeds(rows: int, inner: int, outer: int) -> dict[str, int]:
    """Return what each kind of product does in a second."""
    layer, states = torch.nn.Linear(inner, outer), torch.randn(rows, inner)
    packed = packed_weight(layer.weight)
    ways: dict[str, Any] = {
        "plain": layer,
        "packed": lambda states: packed_product(states, packed, layer.bias),
        **{d: kind(layer) for d, kind in INTEGER_LAYERS.items() if sums_are_exact()},
        "torch's int8": dynamically_quantised(layer),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS + 1):  # the first one is thrown away
        for name, way in ways.items():
            begun = time.process_time()
            way(states)
            seconds[name].append(time.process_time() - begun)
    asked = 2e-9 * rows * inner * outer
    return {name: round(asked / statistics.median(taken[1:])) for name, taken in seconds.items()}


def main() -> None:
    if sys.argv[1:] == ["here"]:
        torch.set_num_threads(1)
        names = ("x".join(map(str, size)) for size in SIZES)
        print(json.dumps(dict(zip(names, (speeds(*size) for size in SIZES), strict=True))))
        return
    found: dict[str, Any] = {}
    for name, limits in VARIANTS.items():
        command = [sys.executable, __file__, "here"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ | limits)
        found[name] = json.loads(done.stdout)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
