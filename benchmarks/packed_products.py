"""Float32 products with plain and with packed weights, for each limit on the processor's kernels.

``ATEN_CPU_CAPABILITY`` limits torch's own kernels and ``ONEDNN_MAX_CPU_ISA`` those of oneDNN; each
variant is a process of its own. Thousand million operations a second of CPU time on one thread,
plain and packed by turns, the median of five. Prints one JSON object.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import torch

from pronominal.adapters.layers.packed import packed_product, packed_weight

VARIANTS = {
    "as it is": {},
    "oneDNN at AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    "both at AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"},
}
SIZES = ((20, 768, 3072), (64, 768, 3072), (512, 768, 3072), (20, 768, 30522), (64, 768, 30522))
ROUNDS = 5


@torch.inference_mode()
def speeds(rows: int, inner: int, outer: int) -> list[int]:
    """Return what a plain and a packed product do in a second."""
    weight, bias, states = torch.randn(outer, inner), torch.randn(outer), torch.randn(rows, inner)
    packed = packed_weight(weight)
    ways = (
        lambda: torch.nn.functional.linear(states, weight, bias),
        lambda: packed_product(states, packed, bias),
    )
    seconds: list[list[float]] = [[], []]
    for _ in range(ROUNDS + 1):  # the first one is thrown away
        for way, taken in zip(ways, seconds, strict=True):
            begun = time.process_time()
            way()
            taken.append(time.process_time() - begun)
    return [round(2e-9 * rows * inner * outer / statistics.median(taken[1:])) for taken in seconds]


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
